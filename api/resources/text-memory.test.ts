import { describe, expect, it } from 'vitest';

import { TextMemory } from './text-memory.ts';

describe('TextMemory', () => {
  it('forgets what was used longest ago once it is full', () => {
    const memory = new TextMemory(10);
    memory.set('a', '1234');
    memory.set('b', '1234');
    expect(memory.get('a')).toBe('1234');
    expect([memory.hasRoomFor(2), memory.hasRoomFor(3)]).toEqual([true, false]);
    memory.set('c', '1234');
    expect([memory.get('a'), memory.get('b'), memory.get('c')]).toEqual(['1234', undefined, '1234']);
  });

  it('counts a text that is replaced once, and keeps none that is too long by itself', () => {
    const memory = new TextMemory(10);
    memory.set('a', '12345678');
    memory.set('a', '12');
    expect(memory.hasRoomFor(8)).toBe(true);
    memory.set('b', '12345678901');
    expect([memory.get('a'), memory.get('b'), memory.hasRoomFor(10)]).toEqual([undefined, undefined, true]);
  });
});
