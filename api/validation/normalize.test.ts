import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { inAnyCase, keepingEmpty, normalize, trimmed } from './normalize.ts';

const item = z.object({ method: inAnyCase(z.enum(['GET', 'POST'])).nullish(), note: z.string().min(1).nullish() });
const schema = z.object({
  name: z.string(),
  note: z.string().regex(/^x/).nullish(),
  count: z.int().nullish(),
  flag: z.boolean().nullish(),
  kind: z.enum(['a']).nullish(),
  trunk: trimmed(keepingEmpty(z.string())).nullish(),
  title: trimmed(z.string().min(1)).optional(),
  label: trimmed(z.string()).nullish(),
  list: z.array(item).nullish(),
  map: z.record(z.string(), item).nullish(),
  free: z.record(z.string(), z.unknown()).nullish(),
});

const normalized = (input: unknown): unknown => {
  normalize(schema, input);
  return input;
};

describe('a body', () => {
  it('has null where an empty text leaves something unset', () => {
    expect(
      normalized({ name: '', note: '', count: '', flag: '', kind: '', trunk: '', list: [{ note: '' }], map: { a: { note: '' } } }),
    ).toEqual({
      name: '',
      note: null,
      count: null,
      flag: null,
      kind: null,
      trunk: '',
      list: [{ note: null }],
      map: { a: { note: null } },
    });
  });

  it('keeps empty texts where a list or an object belongs, and in free values', () => {
    expect(normalized({ list: '', free: { a: '' } })).toEqual({ list: '', free: { a: '' } });
    expect(normalized({ free: '' })).toEqual({ free: '' });
  });

  it('has names without the spaces around them, and none where there is nothing else', () => {
    expect(normalized({ title: '  A name ', label: ' x\t', trunk: ' ', name: ' kept ' })).toEqual({
      title: 'A name',
      label: 'x',
      trunk: '',
      name: ' kept ',
    });
    expect(normalized({ title: ' ', label: ' ' })).toEqual({ title: '', label: null });
  });

  it('has choices of any case in upper case', () => {
    expect(normalized({ list: [{ method: 'post' }, { method: 'Get' }, { method: 5 }, null, 'x'] })).toEqual({
      list: [{ method: 'POST' }, { method: 'GET' }, { method: 5 }, null, 'x'],
    });
  });
});
