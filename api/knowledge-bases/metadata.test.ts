import { describe, expect, it } from 'vitest';

import { readMetadata } from './metadata.ts';

const text = (value: string, truncated = false) => readMetadata({ text: value, truncated });
const typeOf = (result: ReturnType<typeof readMetadata>): unknown => (result.ok ? 'ok' : [result.issue.type, result.issue.loc.join('.')]);

describe('the metadata of an upload', () => {
  it.each(['{}', '{"a": 1}', ' {"a": "x", "b": 1.5, "c": true, "part-no.2_x": "ক"} ', '{"__proto__": "x"}'])('%s is read', (sent) => {
    const result = text(sent);
    expect(result.ok && JSON.stringify(result.metadata)).toBe(JSON.stringify(JSON.parse(sent)));
  });

  it('is none where the field is empty, and may come as JSON by its own type', () => {
    expect(text('')).toEqual({ ok: true, metadata: {} });
    expect(text(' \n')).toEqual({ ok: true, metadata: {} });
    expect(readMetadata({ json: { a: 1 } })).toEqual({ ok: true, metadata: { a: 1 } });
    expect(typeOf(readMetadata({ json: [1] }))).toEqual(['dict_type', 'body.metadata']);
  });

  it.each([
    ['{', 'json_invalid'],
    ["{'a': 1}", 'json_invalid'],
    ['a=1', 'json_invalid'],
    ['[]', 'dict_type'],
    ['null', 'dict_type'],
    ['"x"', 'dict_type'],
    ['{"a": null}', 'value_error'],
    ['{"a": {"b": 1}}', 'value_error'],
    ['{"a": [1]}', 'value_error'],
    ['{"a": 1e999}', 'value_error'],
    ['{"a": "\\u0000"}', 'value_error'],
    ['{"a\\u0000": 1}', 'value_error'],
    ['{"a": "\\ud800"}', 'value_error'],
    ['{"\\ud800": 1}', 'value_error'],
    // Filters use this name for the document's own id.
    ['{"document_id": "x"}', 'value_error'],
    // No filter could name these.
    ['{"": 1}', 'value_error'],
    ['{"two words": 1}', 'value_error'],
    ['{"বিভাগ": 1}', 'value_error'],
    ['{"a\\u0022 or 1": 1}', 'value_error'],
    [`{"${'a'.repeat(65)}": 1}`, 'value_error'],
  ])('%s is refused', (sent, type) => {
    expect(typeOf(text(sent))).toEqual([type, 'body.metadata']);
  });

  it('has 256 fields at most, as many as the index keeps', () => {
    const fields = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, n]));
    expect(typeOf(text(JSON.stringify(fields(256))))).toBe('ok');
    const many = fields(257);
    for (const refused of [text(JSON.stringify(many)), readMetadata({ json: many })])
      expect(refused).toMatchObject({
        ok: false,
        issue: { type: 'value_error', msg: 'Value error, metadata may have 256 fields, not 257' },
      });
  });

  it('has 8 KiB at most, in bytes', () => {
    const sized = (bytes: number): string => `{"a":"${'é'.repeat((bytes - 8) / 2)}"}`;
    expect(Buffer.byteLength(sized(8192))).toBe(8192);
    expect(typeOf(text(sized(8192)))).toBe('ok');
    expect(typeOf(text(sized(8194)))).toEqual(['value_error', 'body.metadata']);
    expect(typeOf(text('{}', true))).toEqual(['value_error', 'body.metadata']);
  });
});
