import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { ask, type Recorded } from '../../test/support/pydantic-models.ts';
import { ValidationError } from '../http/api-error.ts';
import { MAX_ISSUES } from './issue.ts';

const recording = JSON.parse(readFileSync(new URL('testdata/pydantic.json', import.meta.url), 'utf8')) as { cases: readonly Recorded[] };

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

  it('reading ends with the hundredth failure', () => {
    const headers = Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [n, 1]));
    expect(ask({ schema: 'model', body: JSON.stringify({ headers }) }).detail).toHaveLength(MAX_ISSUES);
    const children = Array.from({ length: 200_000 }, () => ({ name: 1, count: 'x' }));
    expect(ask({ schema: 'model', body: JSON.stringify({ children, text: 1, one: 2 }) }).detail).toHaveLength(MAX_ISSUES);
  });

  it('what was sent is repeated in part only', () => {
    const long = 'x'.repeat(500_000);
    const sent = { tool_name: { [long]: [long, long], list: Array.from({ length: 50_000 }, () => '\\') } };
    const { detail = [] } = ask({ schema: 'tagged', body: JSON.stringify(sent) });
    expect(detail.map(({ msg }) => msg.length < 4000)).toEqual([true]);
    const named = ask({ schema: 'model', body: JSON.stringify({ keys: { [`${long}A`]: 1 } }) });
    expect(JSON.stringify(new ValidationError(named.detail ?? []).issues).length).toBeLessThan(4000);
  });

  it('values nested deeper than anything meant are refused, wherever they stand', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expect(ask({ schema: 'model', body: `{"free": {"a": ${deep}}}` }).detail?.map(({ loc }) => loc)).toEqual([['body', 'free', 'a']]);
    expect(ask({ schema: 'model', body: deep.slice(0, -1) }).detail?.map(({ type }) => type)).toEqual(['json_invalid']);
    expect(ask({ schema: 'model', body: '{"free": {"a": 1e999}}' }).detail?.map(({ type }) => type)).toEqual(['finite_number']);
    expect(ask({ schema: 'model', body: '{"free": {"a": "\\ud800"}}' }).detail?.map(({ type }) => type)).toEqual(['string_unicode']);
  });
});

describe.each(['model', 'required', 'json', 'everything', 'tagged', 'strict'] as const)('%s: the recorded answers of FastAPI', (schema) => {
  const cases = recording.cases.filter((recorded) => recorded.schema === schema);

  it.each(cases.map((recorded) => [`${recorded.query ?? ''} ${recorded.body.slice(0, 80)}`, recorded] as const))('%s', (_, recorded) => {
    const { detail, value } = recorded;
    expect(ask(recorded)).toEqual(detail === undefined ? { value } : { detail });
  });
});
