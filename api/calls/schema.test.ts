import { describe, expect, it } from 'vitest';

import { validate } from '../validation/validate.ts';
import { webCallCreate } from './schema.ts';

describe('what a call brings', () => {
  const read = (body: object) => validate(webCallCreate, { ai_agent_id: 'a', ...body }, ['body']);
  const issuesOf = (body: object) => {
    const result = read(body);
    return result.ok ? [] : result.issues.map(({ type, loc }) => [type, loc.join('.')]);
  };

  it('is bounded', () => {
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));
    expect(issuesOf({ metadata: keys(50), native_llm_dynamic_data: keys(500) })).toEqual([]);
    expect(issuesOf({ metadata: keys(51) })).toEqual([['too_long', 'body.metadata']]);
    expect(issuesOf({ metadata: { a: 'x'.repeat(16 * 1024 - 8) } })).toEqual([]);
    expect(issuesOf({ metadata: { a: 'x'.repeat(16 * 1024 - 7) } })).toEqual([['value_error', 'body.metadata']]);
    expect(issuesOf({ native_llm_dynamic_data: { a: 'é'.repeat(16 * 1024) } })).toEqual([['value_error', 'body.native_llm_dynamic_data']]);
  });

  it('is what Postgres can keep', () => {
    for (const metadata of [{ a: 'x\u0000' }, { 'a\u0000': 1 }, { a: [{ b: ['\u0000'] }] }])
      expect(issuesOf({ metadata })).toEqual([['value_error', 'body.metadata']]);
  });

  it('may be absent or null', () => {
    expect(issuesOf({})).toEqual([]);
    expect(issuesOf({ metadata: null, native_llm_dynamic_data: null, override_ai_agent_id: null })).toEqual([]);
    expect(issuesOf({ metadata: [], native_llm_dynamic_data: 'x' })).toEqual([
      ['dict_type', 'body.metadata'],
      ['dict_type', 'body.native_llm_dynamic_data'],
    ]);
  });
});
