import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { Lanes } from './lanes.ts';

function create(admitted: (uid: string) => number = () => 8, mostHeld = 1_000) {
  const clock = new FakeClock();
  return { clock, lanes: new Lanes({ clock, perEndpoint: 8, mostHeld, admitted }) };
}

const asked = (lanes: Lanes, most = 256) => [...lanes.toFetch(most).rooms];

it('asks for endpoints that may have due rows, as many as they have room for', () => {
  const { lanes } = create();
  lanes.markHot('a');
  for (let held = 0; held < 3; held += 1) expect(lanes.reserve('a')).toBe(true);
  lanes.markHot('b');
  expect(asked(lanes)).toEqual([
    ['a', 5],
    ['b', 8],
  ]);
});

it('asks for nothing while more than the most is held: what was fetched met what was promised meanwhile', () => {
  const { lanes } = create(undefined, 8);
  for (let held = 0; held < 8; held += 1) lanes.hold('a');
  for (let held = 0; held < 3; held += 1) lanes.hold('b');
  lanes.markHot('a');
  lanes.markHot('c');
  expect(lanes.toFetch(256)).toEqual({ rooms: new Map(), waitMs: undefined });
  for (let released = 0; released < 6; released += 1) lanes.release('a');
  expect(asked(lanes)).toEqual([['c', 1]]);
});

it('asks for few rows only after a moment', () => {
  const { lanes, clock } = create();
  for (let held = 0; held < 6; held += 1) lanes.hold('a');
  lanes.markHot('a');
  lanes.fetched('a', { asked: 1, got: 0 });
  lanes.markHot('a');
  expect(lanes.toFetch(256)).toEqual({ rooms: new Map(), waitMs: 10 });
  clock.tick(10);
  expect(asked(lanes)).toEqual([['a', 2]]);
});

it('lets an endpoint have more as long as it empties its queue faster than rows come, and no longer', () => {
  const { lanes } = create();
  lanes.markHot('a');
  expect(lanes.room('a')).toBe(8);
  // What it gets it doesn't take: it hangs.
  for (let times = 0; times < 9; times += 1) lanes.fetched('a', { asked: 8, got: 8 });
  expect(lanes.room('a')).toBe(8);
  for (let times = 0; times < 9; times += 1) {
    for (let taken = 0; taken < 32; taken += 1) lanes.took('a');
    lanes.fetched('a', { asked: 8, got: 8 });
  }
  expect(lanes.room('a')).toBe(64);
  lanes.narrow('a');
  expect(lanes.room('a')).toBe(8);
  lanes.fetched('a', { asked: 8, got: 7 });
  expect(lanes.room('a')).toBe(8);
});

it('gives every endpoint its turn when not all can be asked for at once', () => {
  const { lanes } = create();
  const uids = ['a', 'b', 'c', 'd', 'e'];
  for (const uid of uids) lanes.markHot(uid);
  const turns: string[] = [];
  for (let round = 0; round < 5; round += 1) {
    for (const [uid, count] of asked(lanes, 16)) {
      turns.push(uid);
      lanes.fetched(uid, { asked: count, got: count - 1 });
      lanes.markHot(uid);
    }
  }
  expect(turns.join('')).toBe('abcdeabcde');
});

it('has room for no more than the breaker lets through', () => {
  const { lanes } = create((uid) => (uid === 'half' ? 2 : uid === 'open' ? 0 : 8));
  expect([lanes.room('half'), lanes.room('open'), lanes.room('fine')]).toEqual([2, 0, 8]);
  const tests = Array.from({ length: 9 }, () => lanes.reserve('open', { pastBreaker: true }));
  expect(tests.filter(Boolean)).toHaveLength(8);
});

it('keeps room for those who answer, and for new ones, while many hang', () => {
  const { lanes } = create(() => 8, 256);
  lanes.hold('answers');
  lanes.took('answers');
  for (let index = 0; index < 100; index += 1) while (lanes.reserve(`hangs-${index}`));
  expect(lanes.room('answers')).toBe(7);
  expect(lanes.held).toBeLessThan(256);
});

it('says so when something is let go of that nobody holds', () => {
  expect(() => create().lanes.release('a')).toThrow(RangeError);
});
