import { describe, expect, it } from 'vitest';

import type { ToolCallRecord } from '../result.ts';
import { neverCalledCheck, toolCheck } from './tool-calls.ts';

const place = { path: 'p', kind: 'tool' };
const call = (name: string, args: Record<string, unknown> = {}): ToolCallRecord => ({
  name,
  arguments: args,
  result: null,
  atMs: 0,
  durationMs: 0,
});
const calls = [
  call('find', { id: '42', days: 2, query: 'opening hours, please', near: { city: 'Bonn' } }),
  call('find', { id: '43' }),
  call('book'),
];

describe('an expected call', () => {
  it.each([
    [{ name: 'find' }],
    [{ name: 'find', times: 2 }],
    [{ name: 'find', times: 1, arguments: { id: '43' } }],
    [{ name: 'find', times: 0, arguments: { id: '44' } }],
    [{ name: 'find', arguments: { days: 2, query: { contains: 'Opening Hours' } } }],
    [{ name: 'find', arguments: { query: { matches: '^opening' }, near: { equals: { city: 'Bonn' } } } }],
    [{ name: 'find', arguments: { days: { matches: '^2$' } } }],
  ])('%j was made', (wanted) => {
    expect(toolCheck(wanted, calls, place).verdict).toBe('passed');
  });

  it.each([
    [{ name: 'find', times: 1 }],
    [{ name: 'cancel' }],
    [{ name: 'find', arguments: { days: '2' } }],
    [{ name: 'find', arguments: { gone: { contains: 'x' } } }],
    [{ name: 'find', arguments: { near: { equals: { city: 'Köln' } } } }],
  ])('%j was not made', (wanted) => {
    expect(toolCheck(wanted, calls, place).verdict).toBe('failed');
  });

  it('is an error where a pattern takes too long, however many calls fit', () => {
    let reads = 0;
    const slow = {
      get id() {
        reads += 1;
        return `${'a'.repeat(60)}!`;
      },
    };
    const wanted = { name: 'book', times: 1, arguments: { id: { matches: '^(a+)+$' } } };
    expect(toolCheck(wanted, [call('book', { id: 'aa' }), ...Array.from({ length: 20 }, () => call('book', slow))], place)).toMatchObject({
      verdict: 'error',
      reason: expect.stringContaining('took more than 2 s'),
    });
    // Each call is shown, and one of them is searched.
    expect(reads).toBe(21);
  });

  it('is reported with the calls that were made', () => {
    expect(toolCheck({ name: 'book', times: 2 }, [call('book', { day: 'Friday' })], place)).toEqual({
      ...place,
      verdict: 'failed',
      expected: '2 calls of book',
      actual: 'book({"day":"Friday"})',
    });
    expect(toolCheck({ name: 'book' }, [], place).actual).toBe('no tool was called');
  });
});

it('a function that is never to be called is not', () => {
  expect(neverCalledCheck('cancel', calls, 'p').verdict).toBe('passed');
  expect(neverCalledCheck('book', calls, 'p').verdict).toBe('failed');
});
