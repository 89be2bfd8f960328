/** What a parser process costs: for each file a new one, or one that stays, next to another checkout's. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { type ParsedExtension, ParserPool } from '../../../knowledge/parsing/index.ts';
import { childrenOf, residentBytesOf } from '../../support/child-processes.ts';
import { makeDocx, makeXlsx, sheetXml, wordParagraph } from '../../support/documents/make-office.ts';
import { makePdf } from '../../support/documents/make-pdf.ts';
import { read } from '../../support/documents/read.ts';
import { forEachOf } from '../harness/rounds.ts';
import { median } from '../harness/stats.ts';
import { duration, figure, megabytes, type Table } from '../harness/table.ts';
import { type FlagsMeasured, PARSER_FLAGS } from './parser-flags.ts';
import type { KnowledgePart } from './part.ts';
import { createTexts } from './texts.ts';

interface Measured {
  /** From start to the last one's end, one at a time, in milliseconds. */
  readonly oneByOneMs: number;
  /** The same, eight at a time. */
  readonly togetherMs: number;
  /** Processor time of this process and all of its children, in milliseconds for each file. */
  readonly processorMs: number;
  /** Of the processes that are there at the end. */
  readonly residentBytes: number;
}

interface Contender {
  readonly name: string;
  readonly open: () => Pool;
  readonly files: number;
}

type Pool = Pick<ParserPool, 'parse' | 'close'>;
type Files = Readonly<Record<'txt' | 'md' | 'html' | 'docx' | 'xlsx' | 'pdf', Buffer>>;

const TICK_MS = 10;

/** Its own, and that of children that have ended. @see proc_pid_stat(5) */
function processorMs(): number {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) * TICK_MS;
}

/** About a KB of text in each format. */
function files(): Files {
  const texts = createTexts(7);
  const paragraphs = Array.from({ length: 4 }, () => texts.passage(40));
  return {
    txt: Buffer.from(paragraphs.join('\n\n')),
    md: Buffer.from(`# Title\n\n${paragraphs.join('\n\n')}\n\n- one\n- two\n`),
    html: Buffer.from(
      `<html><title>Title</title><body><article><h1>Title</h1>${paragraphs.map((text) => `<p>${text}</p>`).join('')}</article></body></html>`,
    ),
    docx: makeDocx({ body: paragraphs.map((text) => wordParagraph(text)).join('') }),
    xlsx: makeXlsx({
      sheet: {
        content: sheetXml(paragraphs.map((text, at) => `<row r="${at + 1}"><c r="A${at + 1}" t="str"><v>${text}</v></c></row>`).join('')),
      },
    }),
    pdf: makePdf([paragraphs.map((text, at) => ({ text: text.slice(0, 90), y: 700 - at * 20 }))]),
  };
}

async function measure({ open, files: count }: Contender, extension: ParsedExtension, content: Buffer): Promise<Measured> {
  const before = processorMs();
  const pool = open();
  const list = Array.from({ length: count }, (_, at) => at);
  try {
    await read(pool as ParserPool, { content, extension });
    const startedAt = performance.now();
    for (const _ of list) await read(pool as ParserPool, { content, extension });
    const oneByOneMs = performance.now() - startedAt;
    await forEachOf(list, 8, async () => void (await read(pool as ParserPool, { content, extension })));
    const togetherMs = performance.now() - startedAt - oneByOneMs;
    const residentBytes = childrenOf(process.pid).reduce((sum, pid) => sum + residentBytesOf(pid), 0);
    await pool.close();
    return { oneByOneMs, togetherMs, processorMs: (processorMs() - before) / (2 * count + 1), residentBytes };
  } finally {
    await pool.close();
  }
}

/** How long until a file that was cancelled while it was read leaves its place to another, and how long that one takes. */
async function cancellation(entry: string | undefined): Promise<{ readonly freedMs: number; readonly nextMs: number }> {
  const pool = new ParserPool({ size: 1, ...(entry !== undefined && { entry }) });
  try {
    const slow = '[^a]'.repeat(100).concat('\n').repeat(450);
    await read(pool, { content: 'text', extension: 'txt' });
    const stop = new AbortController();
    const reading = read(pool, { content: slow, extension: 'md', signal: stop.signal }).catch(() => performance.now());
    await new Promise((done) => setTimeout(done, 300));
    const stoppedAt = performance.now();
    stop.abort(new Error('cancelled'));
    const next = read(pool, { content: 'text', extension: 'txt' });
    const freedMs = ((await reading) as number) - stoppedAt;
    await next;
    return { freedMs, nextMs: performance.now() - stoppedAt };
  } finally {
    await pool.close();
  }
}

/** What freezing the language's objects, and a small young generation, do to a text of 40 KB. */
function flags(rounds: number): { readonly figures: unknown; readonly table: Table } {
  const contenders = [[], ['--frozen-intrinsics'], ['--max-semi-space-size=4']];
  const results = contenders.map((flag) => ({
    name: flag[0] ?? 'no flag',
    measured: Array.from(
      { length: rounds },
      () =>
        JSON.parse(
          execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', ...flag, PARSER_FLAGS], { encoding: 'utf8' }),
        ) as FlagsMeasured,
    ),
  }));
  return {
    figures: results,
    table: {
      title: 'Markdown of 40 KB, six times in one process',
      columns: ['', 'processor time each', 'memory', 'comparison of the language'],
      rows: results.map(({ name, measured }) => [
        name,
        duration(median(measured.flatMap(({ processorMs: each }) => each))),
        megabytes(median(measured.map(({ residentBytes }) => residentBytes))),
        duration(median(measured.map(({ compareMs }) => compareMs))),
      ]),
    },
  };
}

export const parsing: KnowledgePart = async ({ scale, against, progress }) => {
  const built = fileURLToPath(new URL('../../../dist/parser-process.mjs', import.meta.url));
  const { few, many } = { few: Math.ceil(scale.smallFiles / 10), many: 5 * scale.smallFiles };
  const groups = [{ name: 'from sources', entry: undefined }, ...(existsSync(built) ? [{ name: 'as built', entry: built }] : [])];
  const other =
    against === undefined
      ? undefined
      : ((await import(pathToFileURL(resolve(against, 'knowledge/parsing/index.ts')).href)) as {
          ParserPool: new (options: { size: number }) => Pool;
        });
  const figures: Record<string, unknown> = {};
  const tables: Table[] = [];
  for (const { name: group, entry } of groups) {
    const options = { size: 1, ...(entry !== undefined && { entry }) };
    const contenders: readonly Contender[] = [
      ...(other === undefined || entry !== undefined
        ? []
        : [{ name: `checkout ${against}`, open: () => new other.ParserPool({ size: 1 }), files: few }]),
      { name: 'a process for each file', open: () => new ParserPool({ ...options, recycle: { documents: 1 } }), files: few },
      { name: 'processes that stay', open: () => new ParserPool(options), files: many },
    ];
    const rows: string[][] = [];
    for (const [extension, content] of Object.entries(files()) as [keyof Files, Buffer][]) {
      for (const contender of contenders) {
        const rounds: Measured[] = [];
        for (let round = 0; round < Math.min(3, scale.rounds); round += 1) {
          progress(`${group}: .${extension}, ${contender.name}, round ${round}`);
          rounds.push(await measure(contender, extension, content));
        }
        figures[`${group}, ${extension}, ${contender.name}`] = rounds;
        const rate = (ms: (one: Measured) => number): string => figure((contender.files / median(rounds.map(ms))) * 1000);
        rows.push([
          `.${extension}, ${contender.name}`,
          rate(({ oneByOneMs }) => oneByOneMs),
          rate(({ togetherMs }) => togetherMs),
          duration(median(rounds.map((one) => one.processorMs))),
          megabytes(median(rounds.map(({ residentBytes }) => residentBytes))),
        ]);
      }
    }
    const cancelled = [];
    for (let round = 0; round < scale.rounds; round += 1) cancelled.push(await cancellation(entry));
    figures[`${group}, cancelled`] = cancelled;
    tables.push({
      title: `Files of 1 KB through one parser process, ${group}`,
      columns: ['', 'files/s, one by one', 'files/s, eight at a time', 'processor time each', 'memory'],
      rows,
      notes: [
        'Processor time is that of all processes, starts included. Memory is that of the parser processes at the end, one that waits for the next file included.',
        `A file that is cancelled while it is read frees its place after ${duration(median(cancelled.map(({ freedMs }) => freedMs)))}; the next file, which needs a new process, ends ${duration(median(cancelled.map(({ nextMs }) => nextMs)))} after the cancellation.`,
      ],
    });
  }
  progress('flags of Node.js');
  const measured = flags(scale.rounds);
  return { figures: { ...figures, flags: measured.figures }, tables: [...tables, measured.table] };
};
