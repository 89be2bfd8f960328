import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import type { ValidationIssue } from './issue.ts';
import { validateRequest } from './request.ts';

interface Recorded {
  readonly schema: 'model' | 'required' | 'json' | 'everything';
  readonly body: string;
  readonly query?: string;
  readonly detail?: readonly ValidationIssue[];
  readonly value?: unknown;
}

const recording = JSON.parse(readFileSync(new URL('testdata/pydantic.json', import.meta.url), 'utf8')) as { cases: readonly Recorded[] };

const child = z.object({ name: z.string().min(1).max(3), count: z.int() });
const model = z.object({
  text: z.string().nullish(),
  short: z.string().min(2).max(4).nullish(),
  one: z.string().min(1).max(1).nullish(),
  url: z
    .string()
    .regex(/^https?:\/\/.+/)
    .nullish(),
  integer: z.int().min(0).max(5).nullish(),
  number: z.number().min(0).max(1.5).nullish(),
  above: z.number().gt(0.5).lt(2).nullish(),
  flag: z.boolean().nullish(),
  sound: z.enum(['office', 'cafe', 'none']).nullish(),
  single: z.literal('simple').nullish(),
  names: z.array(z.string().max(3)).max(2).nullish(),
  some: z.array(z.int()).min(1).nullish(),
  headers: z.record(z.string(), z.string()).meta({ maxProperties: 2 }).nullish(),
  keys: z.record(z.string().regex(/^[a-z]+$/), z.string()).nullish(),
  free: z.record(z.string(), z.unknown()).nullish(),
  child: child.nullish(),
  children: z.array(child).nullish(),
  either: z.union([z.int(), z.string()]).nullish(),
});
const required = z.object({ a: z.string(), b: z.int(), c: child });
const query = z.object({ page_size: z.int().min(1).max(100).default(20), dry_run: z.boolean().default(false) });

function ask({ schema, body, query: search }: Recorded): Pick<Recorded, 'detail' | 'value'> {
  const result = validateRequest(
    { body: schema === 'model' ? model : required, ...(schema === 'everything' && { query }) },
    { body: new TextEncoder().encode(body), query: Object.fromEntries(new URLSearchParams(search)) },
  );
  return result.ok ? { value: result.value.body } : { detail: result.issues };
}

describe('texts that are meant to take long', () => {
  it.each([
    ['number', '1'.repeat(500_000) + 'x'],
    ['number', '1_'.repeat(250_000)],
    ['integer', `${' '.repeat(500_000)}5x`],
    ['integer', `5${' '.repeat(500_000)}x`],
    ['flag', 'y'.repeat(500_000)],
    ['url', 'http'.repeat(100_000)],
  ])('%s: are refused like short ones', (field, value) => {
    expect(ask({ schema: 'model', body: JSON.stringify({ [field]: value }) }).detail).toHaveLength(1);
  });

  it('values nested deeper than anything meant are refused, wherever they stand', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expect(ask({ schema: 'model', body: `{"free": {"a": ${deep}}}` }).detail?.map(({ loc }) => loc)).toEqual([['body', 'free', 'a']]);
    expect(ask({ schema: 'model', body: deep.slice(0, -1) }).detail?.map(({ type }) => type)).toEqual(['json_invalid']);
    expect(ask({ schema: 'model', body: '{"free": {"a": 1e999}}' }).detail?.map(({ type }) => type)).toEqual(['finite_number']);
    expect(ask({ schema: 'model', body: '{"free": {"a": "\\ud800"}}' }).detail?.map(({ type }) => type)).toEqual(['string_unicode']);
  });
});

describe.each(['model', 'required', 'json', 'everything'] as const)('%s: the recorded answers of FastAPI', (schema) => {
  const cases = recording.cases.filter((recorded) => recorded.schema === schema);

  it.each(cases.map((recorded) => [`${recorded.query ?? ''} ${recorded.body.slice(0, 80)}`, recorded] as const))('%s', (_, recorded) => {
    const { detail, value } = recorded;
    expect(ask(recorded)).toEqual(detail === undefined ? { value } : { detail });
  });
});
