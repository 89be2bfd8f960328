import { describe, expect, it } from 'vitest';

import { changesBetween } from './changes.ts';

describe('changes between two states of an object', () => {
  it('are named field by field, lists as a whole', () => {
    const before = { name: 'A', llm: { model: 'm', tools: [1, 2], top: null }, gone: true, state: { ready: true } };
    const after = { name: 'B', llm: { model: 'm', tools: [1], top: { x: 1 } }, made: 5, state: { ready: false } };
    expect(changesBetween(before, after)).toEqual([
      { field: 'name', from: 'A', to: 'B' },
      { field: 'llm.tools', from: [1, 2], to: [1] },
      { field: 'llm.top', from: null, to: { x: 1 } },
      { field: 'gone', from: true },
      { field: 'made', to: 5 },
    ]);
    expect(changesBetween(before, { ...before, state: {} })).toEqual([]);
  });

  it('show the beginning of long values', () => {
    const [change] = changesBetween({ prompt: 'x'.repeat(9_000) }, { prompt: 'short' });
    expect(change).toEqual({ field: 'prompt', from: `${'x'.repeat(500)}… (9000 characters)`, to: 'short' });
  });
});
