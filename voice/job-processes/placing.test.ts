import { expect, it } from 'vitest';

import { isWorn, choosePlace, placesIn, processesToStart, startsNow, type ProcessState } from './placing.ts';

const limits = { callsPerProcess: 8, idleProcesses: 2, memoryBytes: 1_000, maxServed: 500 };
const ready: ProcessState = { phase: 'ready', responsive: true, calls: 0, served: 0, rssBytes: 0 };
const starting: ProcessState = { ...ready, phase: 'starting' };
const serving = (calls: number): ProcessState => ({ ...ready, calls });
const withCalls = (...counts: readonly number[]): readonly ProcessState[] => counts.map((calls) => serving(calls));

it('a call goes to the ready process with the fewest calls, and to none that is full, silent or retiring', () => {
  const [busy, quiet] = withCalls(3, 2);
  expect(choosePlace([busy!, quiet!], limits)).toBe(quiet);
  expect(choosePlace(withCalls(8, 8), limits)).toBeUndefined();
  expect(choosePlace([{ ...ready, responsive: false }], limits)).toBeUndefined();
  expect(choosePlace([{ ...ready, phase: 'retiring' }], limits)).toBeUndefined();
  expect(choosePlace([starting], limits)).toBeUndefined();
});

it('a process is worn after many calls, or when it has grown', () => {
  expect(isWorn({ ...ready, served: 499, rssBytes: 1_000 }, limits)).toBe(false);
  expect(isWorn({ ...ready, served: 500 }, limits)).toBe(true);
  expect(isWorn({ ...ready, rssBytes: 1_001 }, limits)).toBe(true);
});

it.each([
  ['at first, those that are kept idle', [], {}, 2],
  ['none where enough have a free place', [7, 1], {}, 0],
  ['one for each that has become full', [8, 7], {}, 1],
  ['no more than could still be used', [8, 2], { capacity: 6 }, 0],
  ['one more where all that may come would not fit', [8, 2], { capacity: 7 }, 1],
  ['for all that wait', [8, 8], { waiting: 20, capacity: 0 }, 3],
  ['for as many as came lately', [4, 4], { arrivals: 17 }, 2],
  ['but for no more than may come', [4, 4], { arrivals: 17, capacity: 9 }, 1],
] as const)('%s: %j, %j', (_, calls, change, expected) => {
  expect(processesToStart(withCalls(...calls), limits, { waiting: 0, arrivals: 0, capacity: 40, ...change })).toBe(expected);
});

it('a process that is starting counts; one that retires does not', () => {
  const wanted = { waiting: 0, arrivals: 0, capacity: 40 };
  expect(processesToStart([starting, ready], limits, wanted)).toBe(0);
  expect(processesToStart([{ ...ready, phase: 'retiring' }, ready], limits, wanted)).toBe(1);
});

it.each([
  ['one of those that are kept idle', 3, [ready], {}, 1],
  ['none of them while another starts', 3, [ready, starting], {}, 0],
  ['none of them while calls begin on all processors', 3, [ready], { beginning: 2 }, 0],
  ['one where a processor is left', 3, [ready], { beginning: 1 }, 1],
  ['all that the waiting calls need', 5, [serving(8)], { waiting: 17, beginning: 8 }, 3],
  ['less those that start already', 5, [serving(8), starting], { waiting: 17 }, 2],
  [
    'one for them where the places are in a process that does not answer',
    5,
    [{ ...ready, responsive: false }],
    { waiting: 2, beginning: 8 },
    1,
  ],
  ['none where the waiting calls find places', 3, [serving(8), starting], { waiting: 8 }, 0],
  ['none where none is to be started', 0, [ready], {}, 0],
] as const)('starts %s: %i of %j, %j', (_, toStart, processes, change, expected) => {
  expect(startsNow(toStart, processes, limits, { waiting: 0, beginning: 0, cores: 2, ...change })).toBe(expected);
});

it('with one call in each process, as many are ready as are kept idle', () => {
  const alone = { ...limits, callsPerProcess: 1 };
  expect(processesToStart(withCalls(1, 1, 0), alone, { waiting: 0, arrivals: 0, capacity: 10 })).toBe(1);
});

it('places are those of processes that can take a call at once', () => {
  expect(placesIn([...withCalls(3, 8), starting, { ...ready, responsive: false }], limits)).toBe(5);
});
