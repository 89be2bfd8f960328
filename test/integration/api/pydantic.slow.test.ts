/** Compares our validator with the real pydantic and FastAPI: they still answer the recorded cases so, and random ones alike. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ask, type Recorded } from '../../support/pydantic-models.ts';
import { routeBodies, value } from '../../support/request-bodies.ts';
import { testPython } from '../../support/programs.ts';
import { run } from '../../support/run.ts';

const folder = new URL('../../../api/validation/testdata/', import.meta.url);
const recording = JSON.parse(readFileSync(new URL('pydantic.json', folder), 'utf8')) as {
  readonly versions: { readonly pydantic: string; readonly fastapi: string };
  readonly cases: readonly Recorded[];
};
const { pydantic, fastapi } = recording.versions;

type Case = Pick<Recorded, 'schema' | 'body' | 'query'>;

async function realAnswers(cases: readonly Case[]): Promise<readonly Recorded[]> {
  const interpreter = await testPython({
    name: 'pydantic',
    requirements: [`pydantic==${pydantic}`, `fastapi==${fastapi}`, 'httpx'],
  });
  const { code, stdout, stderr } = await run(interpreter, [fileURLToPath(new URL('record.py', folder)), '--answer'], {
    input: JSON.stringify(cases),
  });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as readonly Recorded[];
}

const fields = 'text short one url integer number above flag sound single names some headers keys free child children either unknown'.split(
  ' ',
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
  // The body is broken somewhere: cut off, or with a character that doesn't belong there.
  fc.record({
    schema: fc.constant('json' as const),
    body: fc.tuple(body, fc.nat(), fc.constantFrom('', ',', '}', '"', '\\', 'x', '\n')).map(([text, at, extra]) => {
      const characters = Array.from(text);
      return `${characters.slice(0, at % (characters.length + 1)).join('')}${extra}`;
    }),
  }),
);

const schemas = Object.keys(routeBodies) as (keyof typeof routeBodies)[];
const randomBodies = (schema: keyof typeof routeBodies, count: number): readonly Case[] =>
  fc.sample(routeBodies[schema] as fc.Arbitrary<unknown>, { numRuns: count }).map((object) => ({ schema, body: JSON.stringify(object) }));

/** Sorts a model's own fields, whose order is that of their declaration and does not matter. */
const inAnyOrder = ({ detail, value: read }: Pick<Recorded, 'detail' | 'value'>): unknown =>
  detail === undefined ? { value: read } : { detail: detail.map((issue) => JSON.stringify(sorted(issue))).toSorted() };

describe(`pydantic ${pydantic}`, () => {
  it('answers the recorded cases as it was recorded', async () => {
    const asked = recording.cases.map(({ schema, body: text, query: search }) => ({
      schema,
      body: text,
      ...(search !== undefined && { query: search }),
    }));
    expect(await realAnswers(asked)).toEqual(recording.cases);
  });

  it('answers 600 random requests as our validator does', async () => {
    const cases = fc.sample(anyCase, { numRuns: 600 });
    const differences = (await realAnswers(cases)).flatMap((real) => {
      const ours = ask(real);
      const theirs = real.detail === undefined ? { value: real.value } : { detail: real.detail };
      return isEqual(ours, theirs) ? [] : [{ schema: real.schema, body: real.body, query: real.query, ours, theirs }];
    });
    expect(differences).toEqual([]);
  });

  it('answers 750 random requests for tools, phone numbers and knowledge bases as the routes do', async () => {
    const differences = (await realAnswers(schemas.flatMap((schema) => randomBodies(schema, 50)))).flatMap((real) => {
      const [ours, theirs] = [inAnyOrder(ask(real)), inAnyOrder(real)];
      return isEqual(ours, theirs) ? [] : [{ schema: real.schema, body: real.body, ours, theirs }];
    });
    expect(differences).toEqual([]);
    // The rarest schema has one sound body in twenty-five.
    for (const schema of schemas)
      expect(new Set(randomBodies(schema, 500).map((each) => ask(each).detail === undefined)).size, schema).toBe(2);
  });
});

/** Compares as JSON, in which -0 is 0. */
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
