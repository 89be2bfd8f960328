import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { EndpointQueues } from './endpoint-queues.ts';

function create(admitted: (uid: string) => number = () => 8, mostHeld = 1_000) {
  const clock = new FakeClock();
  return { clock, queues: new EndpointQueues({ clock, perEndpoint: 8, mostHeld, admitted }) };
}

const asked = (queues: EndpointQueues, most = 256) => [...queues.toClaim(most).rooms];

it('asks for endpoints that may have due rows, as many as they have room for', () => {
  const { queues } = create();
  queues.markHot('a');
  for (let held = 0; held < 3; held += 1) expect(queues.reserve('a')).toBe(true);
  queues.markHot('b');
  expect(asked(queues)).toEqual([
    ['a', 5],
    ['b', 8],
  ]);
});

it('asks for nothing while more than the most is held: what was fetched met what was promised meanwhile', () => {
  const { queues } = create(undefined, 8);
  for (let held = 0; held < 8; held += 1) queues.hold('a');
  for (let held = 0; held < 3; held += 1) queues.hold('b');
  queues.markHot('a');
  queues.markHot('c');
  expect(queues.toClaim(256)).toEqual({ rooms: new Map(), waitMs: undefined });
  for (let released = 0; released < 6; released += 1) queues.release('a');
  expect(asked(queues)).toEqual([['c', 1]]);
});

it('asks for few rows only after a moment', () => {
  const { queues, clock } = create();
  for (let held = 0; held < 6; held += 1) queues.hold('a');
  queues.markHot('a');
  queues.fetched('a', { asked: 1, got: 0 });
  queues.markHot('a');
  expect(queues.toClaim(256)).toEqual({ rooms: new Map(), waitMs: 10 });
  clock.tick(10);
  expect(asked(queues)).toEqual([['a', 2]]);
});

it('lets an endpoint have more as long as it empties its queue faster than rows come, and no longer', () => {
  const { queues } = create();
  queues.markHot('a');
  expect(queues.room('a')).toBe(8);
  // It doesn't take what it gets: it hangs.
  for (let times = 0; times < 9; times += 1) queues.fetched('a', { asked: 8, got: 8 });
  expect(queues.room('a')).toBe(8);
  for (let times = 0; times < 9; times += 1) {
    for (let taken = 0; taken < 32; taken += 1) queues.took('a');
    queues.fetched('a', { asked: 8, got: 8 });
  }
  expect(queues.room('a')).toBe(64);
  queues.narrow('a');
  expect(queues.room('a')).toBe(8);
  queues.fetched('a', { asked: 8, got: 7 });
  expect(queues.room('a')).toBe(8);
});

it('gives every endpoint its turn when not all can be asked for at once', () => {
  const { queues } = create();
  const uids = ['a', 'b', 'c', 'd', 'e'];
  for (const uid of uids) queues.markHot(uid);
  const turns: string[] = [];
  for (let round = 0; round < 5; round += 1) {
    for (const [uid, count] of asked(queues, 16)) {
      turns.push(uid);
      queues.fetched(uid, { asked: count, got: count - 1 });
      queues.markHot(uid);
    }
  }
  expect(turns.join('')).toBe('abcdeabcde');
});

it('has room for no more than the breaker lets through', () => {
  const { queues } = create((uid) => (uid === 'half' ? 2 : uid === 'open' ? 0 : 8));
  expect([queues.room('half'), queues.room('open'), queues.room('fine')]).toEqual([2, 0, 8]);
  const tests = Array.from({ length: 9 }, () => queues.reserve('open', { pastBreaker: true }));
  expect(tests.filter(Boolean)).toHaveLength(8);
});

it('keeps room for those who answer, and for new ones, while many hang', () => {
  const { queues } = create(() => 8, 256);
  queues.hold('answers');
  queues.took('answers');
  for (let index = 0; index < 100; index += 1) while (queues.reserve(`hangs-${index}`));
  expect(queues.room('answers')).toBe(7);
  expect(queues.held).toBeLessThan(256);
});

it('throws when a delivery that is not held is released', () => {
  expect(() => create().queues.release('a')).toThrow(RangeError);
});
