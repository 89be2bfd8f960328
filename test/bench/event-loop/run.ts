/** How long the event loop is held by what a tenant sends or asks for, done at once and done as the facade and the operator do it. */
import { Ajv2020 } from 'ajv/dist/2020.js';

import { jsonParts } from '../../../api/http/large-answers.ts';
import { jsonSchemaFault, prepareJsonSchemas } from '../../../crds/json-schema.ts';
import { runParts } from '../harness/run-parts.ts';
import { median } from '../harness/stats.ts';
import { duration, times, type Table } from '../harness/table.ts';

interface Comparison {
  readonly what: string;
  /** Processor time in milliseconds. */
  readonly atOnceMs: number;
  /** The longest piece, in milliseconds of processor time. */
  readonly servedMs: number;
}

const rounds = 5;

/** Near the 1,000 subschemas that are accepted. @param title makes it one that was not judged before */
const schemas: Readonly<Record<string, (title: string) => Readonly<Record<string, unknown>>>> = {
  '990 alternatives `{type: string}`': (title) => ({ title, oneOf: many(990, () => ({ type: 'string' })) }),
  '990 alternatives `{const: n}`': (title) => ({ title, anyOf: many(990, (index) => ({ const: index })) }),
  '990 patterns of names': (title) => ({
    title,
    patternProperties: Object.fromEntries(many(990, (index) => [`^a+${index}$`, true])),
  }),
  'a chain of 900 references': (title) => ({
    title,
    $ref: '#/$defs/d0',
    $defs: Object.fromEntries(many(900, (at) => [`d${at}`, at === 899 ? {} : { $ref: `#/$defs/d${at + 1}` }])),
  }),
};

/** Takes seconds; needs no server. */
export async function runEventLoop({ out }: { readonly out?: string }): Promise<void> {
  await runParts({
    benchmark: 'event-loop',
    parts: ['event-loop'],
    run: async () => {
      prepareJsonSchemas();
      const judged = Object.entries(schemas).map(([what, make]) => compareSchema(what, make));
      const listed = [await compareList(100, 760_000)];
      return {
        figures: { judged, listed },
        tables: [
          table('A JSON Schema at a write', ['schema', 'compiled by Ajv', 'judged', 'ratio'], judged),
          table('The answer to a list', ['list', 'JSON.stringify', 'longest piece', 'ratio'], listed),
        ],
      };
    },
    scale: { rounds },
    out,
  });
}

function compareSchema(what: string, make: (title: string) => Readonly<Record<string, unknown>>): Comparison {
  const [compiled, judged]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const schema = make(`round ${round}`);
    compiled.push(processorMs(() => new Ajv2020({ strict: false, logger: false }).compile(schema)));
    judged.push(processorMs(() => jsonSchemaFault(schema)));
  }
  return { what, atOnceMs: median(compiled), servedMs: median(judged) };
}

async function compareList(length: number, characters: number): Promise<Comparison> {
  const answer = { data: many(length, (index) => ({ id: index, system_prompt: 'x'.repeat(characters) })), next_page_token: null };
  const [atOnce, pieces]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    atOnce.push(processorMs(() => JSON.stringify(answer)));
    let longest = 0;
    let before = process.threadCpuUsage();
    // One item at a time is the least that a piece can be; up to 10 ms of them go out before others get their turn.
    for await (const _ of jsonParts(answer)) {
      longest = Math.max(longest, since(before));
      before = process.threadCpuUsage();
    }
    pieces.push(longest);
  }
  return { what: `${length} agents of ${characters / 1000} kB`, atOnceMs: median(atOnce), servedMs: median(pieces) };
}

function processorMs(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  return since(before);
}

function since(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

const many = <T>(length: number, item: (index: number) => T): T[] => Array.from({ length }, (_, index) => item(index));

function table(title: string, columns: readonly string[], comparisons: readonly Comparison[]): Table {
  return {
    title,
    columns,
    rows: comparisons.map(({ what, atOnceMs, servedMs }) => [what, duration(atOnceMs), duration(servedMs), times(atOnceMs / servedMs)]),
    notes: [`Processor time, the median of ${rounds} rounds.`],
  };
}
