import { expect, it } from 'vitest';

import { microTime, timestamp } from './timestamps.ts';

const MS = Date.UTC(2026, 10, 27, 1, 2, 3, 999);

it('writes times as the API server takes them', () => {
  expect(timestamp(MS)).toBe('2026-11-27T01:02:03Z');
  expect(timestamp(new Date(MS))).toBe('2026-11-27T01:02:03Z');
  expect(microTime(MS)).toBe('2026-11-27T01:02:03.999000Z');
});
