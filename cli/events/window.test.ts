import { expect, it } from 'vitest';

import { uuidv7At } from '../../platform/uuid.ts';
import { EventWindow } from './window.ts';

const start = Date.parse('2026-01-31T12:00:00Z');
const at = (ms: number): string => uuidv7At(start + ms);

it('shows each event once, also one whose commit came late', () => {
  const window = new EventWindow(start);
  expect(at(0) > window.from()).toBe(true);
  const [slow, quick] = [at(100), at(5_000)];
  expect(window.isNew(quick)).toBe(true);
  expect(slow > window.from()).toBe(true);
  expect([window.isNew(slow), window.isNew(quick), window.isNew(slow)]).toEqual([true, false, false]);
});

it('looks back no further than it has to, and never before its beginning', () => {
  const window = new EventWindow(start);
  const first = window.from();
  expect(at(-1) < first).toBe(true);
  const old = at(1_000);
  window.isNew(old);
  expect(window.from()).toBe(first);
  window.isNew(at(60_000));
  expect(old < window.from()).toBe(true);
  expect(at(50_000) > window.from()).toBe(true);
});
