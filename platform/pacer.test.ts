import { Readable } from 'node:stream';

import { expect, it } from 'vitest';

import { countTurns } from '../test/support/count-turns.ts';
import { FakeClock } from '../test/support/fake-clock.ts';
import { nextTurn, paced, Pacer } from './pacer.ts';

it('has a loop pause once a slice of two milliseconds is used up, and not before', async () => {
  const clock = new FakeClock();
  const pacer = new Pacer(clock);
  clock.tick(2);
  expect(pacer.due).toBe(false);
  clock.tick(1);
  expect(pacer.due).toBe(true);
  await pacer.pause();
  expect(pacer.due).toBe(false);
});

it('lets what waits for the event loop run while it pauses', async () => {
  let ran = false;
  setImmediate(() => (ran = true));
  await new Pacer(new FakeClock()).pause();
  expect(ran).toBe(true);
});

it('lets one of the loops that pause go on each time the event loop goes round', async () => {
  let waiting = 20;
  const turns = await countTurns(() => Promise.all(Array.from({ length: waiting }, () => nextTurn().then(() => (waiting -= 1)))));
  expect(waiting).toBe(0);
  expect(turns).toBeGreaterThanOrEqual(19);
});

it('hands over every item of a source that never waits, and lets the event loop go round in between', async () => {
  const items = Array.from({ length: 100 }, (_, index) => index);
  let handed: readonly number[] = [];
  const turns = await countTurns(async () => (handed = await Readable.from(paced(items)).toArray()));
  expect(handed).toEqual(items);
  expect(turns).toBeGreaterThanOrEqual(100);
});
