/** Reads what docs/operations/logs.md says of the lines that are written once for each thing that happens. */
import { readFile } from 'node:fs/promises';

import { expect } from 'vitest';

const page = new URL('../../docs/operations/logs.md', import.meta.url);
/** Every line of every role has these fields. */
const common = new Set(['level', 'time', 'role', 'msg']);
/** Every line within a span has these fields. */
const withTraces = ['traceId', 'spanId'];

interface Fields {
  readonly always: readonly string[];
  readonly sometimes: readonly string[];
}

/** Returns the fields by `msg`. */
export async function documentedLines(): Promise<ReadonlyMap<string, Fields>> {
  const [, ...sections] = (await readFile(page, 'utf8')).split(/^## /m);
  return new Map(
    sections.map((section) => {
      const [heading = ''] = section.split('\n', 1);
      const always = namesIn(/^Always: [^|]*/m.exec(section)?.[0] ?? '');
      const rows = [...section.matchAll(/^\| (`\w+`[^|]*) \| ([^|]*)\|/gm)].map(([, names = '', when = '']) => ({
        names,
        when: when.trim(),
      }));
      const fields = (wanted: (when: string) => boolean) => rows.filter(({ when }) => wanted(when)).flatMap(({ names }) => namesIn(names));
      return [
        heading.replaceAll('`', ''),
        { always: [...always, ...fields((when) => when === '')], sometimes: [...fields((when) => when !== ''), ...withTraces] },
      ];
    }),
  );
}

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
}

/** Fails for a line with a field that the page doesn't have, or without one that it says is always there. */
export async function expectDocumented(line: Readonly<Record<string, unknown>>): Promise<void> {
  const { always = [], sometimes = [] } = (await documentedLines()).get(String(line['msg'])) ?? {};
  expect(always, `docs/operations/logs.md says nothing of ${String(line['msg'])}`).not.toEqual([]);
  const present = Object.keys(line).filter((field) => !common.has(field));
  expect({
    msg: line['msg'],
    missing: always.filter((field) => !present.includes(field)),
    undocumented: present.filter((field) => !always.includes(field) && !sometimes.includes(field)),
  }).toEqual({ msg: line['msg'], missing: [], undocumented: [] });
}
