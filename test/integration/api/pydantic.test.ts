/** Our validator against the real pydantic and FastAPI: the recorded cases are still what they answer, and random ones are answered alike. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ask, type Recorded } from '../../support/pydantic-models.ts';
import { findPython, pythonWith, withoutPython } from '../../support/python.ts';
import { run } from '../../support/run.ts';

const folder = new URL('../../../api/validation/testdata/', import.meta.url);
const recording = JSON.parse(readFileSync(new URL('pydantic.json', folder), 'utf8')) as {
  readonly versions: { readonly pydantic: string; readonly fastapi: string };
  readonly cases: readonly Recorded[];
};
const { pydantic, fastapi } = recording.versions;
const python = await findPython();

type Case = Pick<Recorded, 'schema' | 'body' | 'query'>;

async function realAnswers(cases: readonly Case[]): Promise<readonly Recorded[]> {
  const interpreter = await pythonWith(python ?? '', {
    name: 'pydantic',
    version: `${pydantic}-fastapi-${fastapi}`,
    requirements: [`pydantic==${pydantic}`, `fastapi==${fastapi}`, 'httpx'],
  });
  const { code, stdout, stderr } = await run(interpreter, [fileURLToPath(new URL('record.py', folder)), '--answer'], {
    input: JSON.stringify(cases),
    timeoutMs: 200_000,
  });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as readonly Recorded[];
}

const fields = 'text short one url integer number above flag sound single names some headers keys free child children either unknown'.split(
  ' ',
);
/** What falls near the bounds and conversions of the models, beside what is just any JSON. */
const value = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    1,
    -1,
    5,
    6,
    0.5,
    1.5,
    1.0000001,
    2,
    1e15,
    'true',
    'Yes',
    'off',
    '0',
    '5',
    ' 5',
    '-0',
    '1e3',
    '1_000',
  ),
  fc.constantFrom<unknown>('', 'a', 'ab', 'abcde', '😀😀', 'http://x', 'https://', 'cafe', 'none', 'simple', 'é', '\u0000', 'inf', 'NaN'),
  fc.integer({ min: -10, max: 10 }),
  fc.double({ min: -3, max: 3, noNaN: true }),
  fc.constantFrom<unknown>(2 ** 53, 2 ** 63 - 1024, -(2 ** 63), 2 ** 63, 5e18, 3e20, 1e21, -1e300),
  fc.integer({ min: -10, max: 10 }).map(String),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.array(fc.oneof(fc.string({ maxLength: 4 }), fc.integer(), fc.constant(null)), { maxLength: 4 }),
  fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), fc.oneof(fc.string({ maxLength: 3 }), fc.integer()), { maxKeys: 4 }),
  fc.record(
    { name: fc.oneof(fc.string({ maxLength: 5 }), fc.integer()), count: fc.oneof(fc.integer(), fc.string({ maxLength: 2 })) },
    { requiredKeys: [] },
  ),
  fc.array(fc.record({ name: fc.string({ maxLength: 4 }), count: fc.integer() }, { requiredKeys: [] }), { maxLength: 3 }),
  fc.jsonValue({ maxDepth: 2 }),
);
const body = fc.oneof(
  { weight: 8, arbitrary: fc.dictionary(fc.constantFrom(...fields), value, { maxKeys: 6 }).map((object) => JSON.stringify(object)) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }).map((json) => JSON.stringify(json)) },
);
const required = fc.record({ a: value, b: value, c: value, d: value }, { requiredKeys: [] }).map((object) => JSON.stringify(object));
const query = fc
  .tuple(
    fc.constantFrom('', '0', '1', '100', '101', '5.0', '1e1', 'x', '%205', '-1', '٣'),
    fc.constantFrom('', 'true', 'TRUE', '2', 'on', 'x'),
  )
  .map(([size, dry]) => `page_size=${size}&dry_run=${dry}`);
const anyCase: fc.Arbitrary<Case> = fc.oneof(
  fc.record({ schema: fc.constant('model' as const), body }),
  fc.record({ schema: fc.constant('required' as const), body: required }),
  fc.record({ schema: fc.constant('everything' as const), body: required, query }),
  // Broken somewhere: cut off, or with a character that doesn't belong there.
  fc.record({
    schema: fc.constant('json' as const),
    body: fc.tuple(body, fc.nat(), fc.constantFrom('', ',', '}', '"', '\\', 'x', '\n')).map(([text, at, extra]) => {
      const characters = Array.from(text);
      return `${characters.slice(0, at % (characters.length + 1)).join('')}${extra}`;
    }),
  }),
);

describe.skipIf(python === undefined)(`pydantic ${pydantic} (${withoutPython})`, () => {
  it('answers the recorded cases as it was recorded', async () => {
    const asked = recording.cases.map(({ schema, body: text, query: search }) => ({
      schema,
      body: text,
      ...(search !== undefined && { query: search }),
    }));
    expect(await realAnswers(asked)).toEqual(recording.cases);
  });

  it('answers 2,000 random requests as our validator does', async () => {
    const cases = fc.sample(anyCase, { numRuns: 2_000 });
    const differences = (await realAnswers(cases)).flatMap((real) => {
      const ours = ask(real);
      const theirs = real.detail === undefined ? { value: real.value } : { detail: real.detail };
      return isEqual(ours, theirs) ? [] : [{ schema: real.schema, body: real.body, query: real.query, ours, theirs }];
    });
    expect(differences).toEqual([]);
  });
});

/** As JSON, in which -0 is 0. */
function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(sorted);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
