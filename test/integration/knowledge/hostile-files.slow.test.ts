/** Files made to exhaust their reader must each end as a failure with its code, in time, and take no more memory than allowed. */
import { deflateSync } from 'node:zlib';

import { afterAll, describe, expect, it } from 'vitest';

import type { IngestionFailureCode } from '../../../knowledge/ingestion-failure.ts';
import type { ParsedExtension } from '../../../knowledge/parsing/index.ts';
import { makeDocx, makeXlsx, sheetXml, wordNamespace } from '../../support/documents/make-office.ts';
import { makePdf, makePdfOf } from '../../support/documents/make-pdf.ts';
import { deflateRepeated } from '../../support/documents/make-zip.ts';
import { childrenOf, residentBytesOf } from '../../support/child-processes.ts';
import { HONEST_FILES } from '../../support/documents/honest-files.ts';
import { QUICK_HOSTILE_FILES } from '../../support/documents/hostile-files.ts';
import { failureCode, outcomeOf, parserPool, read, texts } from '../../support/documents/read.ts';

// The clock leaves a slow machine the time to end a file by its size or memory.
const pool = parserPool({ size: 1, limits: { baseMs: 900_000 } });
afterAll(() => pool.close());

const sheetOpening = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>';
const onePage = [
  '<< /Type /Catalog /Pages 2 0 R >>',
  '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
  '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>',
];

/** Puts zlib's two bytes before raw deflate data; the checksum behind it is not read. */
function zlibRepeated(part: Buffer, times: number): Buffer {
  return Buffer.concat([Buffer.from('789c', 'hex'), deflateRepeated({ part, times }), Buffer.alloc(4)]);
}

type Case = readonly [what: string, extension: ParsedExtension, content: () => Buffer | string, code: IngestionFailureCode];

const cases: readonly Case[] = [
  [
    'a sheet that unpacks to 30 GB and says 5 KB',
    'xlsx',
    () =>
      makeXlsx({
        sheet: {
          packed: deflateRepeated({
            head: sheetOpening,
            part: Buffer.from('<row><c t="str"><v>aaaaaaaaaa</v></c></row>'.repeat(25_000)),
            times: 30_000,
          }),
          declared: 5000,
        },
      }),
    'too_large',
  ],
  [
    'a sheet whose 900,000 cells share one long text: 30 GB of it',
    'xlsx',
    () => {
      const row = '<c t="s"><v>0</v></c>'.repeat(100);
      const rows = Array.from({ length: 9000 }, (_, at) => `<row r="${at + 1}">${row}</row>`).join('');
      return makeXlsx({ sharedStrings: `<si><t>${'a'.repeat(32_000)}</t></si>`, sheet: { content: sheetXml(rows) } });
    },
    'too_large',
  ],
  [
    'a sheet of 1,100,000 cells',
    'xlsx',
    () => makeXlsx({ sheet: { content: sheetXml(`<row>${'<c><v>1</v></c>'.repeat(100)}</row>`.repeat(11_000)) } }),
    'too_large',
  ],
  [
    'a document that unpacks to 7 GB',
    'docx',
    () =>
      makeDocx({
        main: {
          name: 'word/document.xml',
          packed: deflateRepeated({
            head: `<w:document ${wordNamespace}><w:body>`,
            part: Buffer.from('<w:p/>'.repeat(100_000)),
            times: 12_000,
          }),
          declared: 1000,
        },
      }),
    'too_large',
  ],
  [
    'a document of 2,000,000 paragraphs',
    'docx',
    () => makeDocx({ body: Array.from({ length: 2_000_000 }, (_, at) => `<w:p><w:r><w:t>p${at}</w:t></w:r></w:p>`).join('') }),
    'too_large',
  ],
  [
    'a page of 10 GB',
    'pdf',
    () => makePdfOf([...onePage, { entries: '/Filter /FlateDecode', content: zlibRepeated(Buffer.alloc(1_000_000, ' '), 10_000) }]),
    'parse_memory',
  ],
  [
    'a page of 10 GB, packed twice',
    'pdf',
    () =>
      makePdfOf([
        ...onePage,
        {
          entries: '/Filter [/FlateDecode /FlateDecode]',
          content: deflateSync(zlibRepeated(Buffer.alloc(1_000_000, 'BT (a) Tj ET '), 10_000)),
        },
      ]),
    'parse_memory',
  ],
  ['50,000 pages', 'pdf', () => makePdf(Array.from({ length: 50_000 }, (_, at) => [{ text: `page ${at}`, y: 700 }])), 'too_large'],
  [
    'a tree of pages that loops through two nodes',
    'pdf',
    () =>
      makePdfOf([
        onePage[0] ?? '',
        '<< /Type /Pages /Count 5000 /Kids [3 0 R] >>',
        '<< /Type /Pages /Count 5000 /Kids [2 0 R] /Parent 2 0 R >>',
      ]),
    'corrupt_file',
  ],
  ['23 MB of text', 'txt', () => 'a line of text\n'.repeat(1_600_000), 'too_large'],
  ['2,000,000 paragraphs of text', 'txt', () => 'a\n\n'.repeat(2_000_000), 'too_large'],
];

describe('files made to exhaust their reader', () => {
  it.each(cases)('%s', async (_, extension, make, code) => {
    const content = make();
    const honest = HONEST_FILES.find((file) => file.extension === extension);
    if (honest === undefined) throw new Error(`there is no honest .${extension}`);
    // The process has read a file before, so a crash in it alone is no verdict.
    const before = await outcomeOf(pool, honest);
    expect(before).toContain('"blocks":[');
    const watch = watchChildren();
    // Others wait in the queue of the same process meanwhile.
    const [failure, ...behind] = await Promise.all([
      failureCode(pool, { content, extension }),
      outcomeOf(pool, honest),
      outcomeOf(pool, honest),
    ]);
    expect(failure).toBe(code);
    // The limit is 1.5 GB; how far a process gets beyond it before the next look is the machine's.
    expect(watch.stop()).toBeLessThan(4_500_000_000);
    expect(behind).toEqual([before, before]);
    expect(await outcomeOf(pool, honest)).toBe(before);
    expect(texts((await read(pool, { content: 'the next one', extension: 'txt' })).blocks)).toEqual(['the next one']);
  });
});

/** Measures the most memory that any child of this process has held at once; nothing where there is no /proc. */
function watchChildren(): { stop(): number } {
  let most = 0;
  const timer = setInterval(() => {
    for (const pid of childrenOf(process.pid)) most = Math.max(most, residentBytesOf(pid, 'VmHWM'));
  }, 200);
  return {
    stop: () => {
      clearInterval(timer);
      return most;
    },
  };
}

describe('small ones', () => {
  it.each(QUICK_HOSTILE_FILES)('%s in .%s', async (_, extension, content, code) => {
    expect(await failureCode(pool, { content, extension })).toBe(code);
  });
});
