import { expect, it } from 'vitest';

import { Hints } from './hints.ts';

it('tells each channel, and what comes in between together', async () => {
  const told: string[] = [];
  const waiting: (() => void)[] = [];
  const hints = new Hints((channel) => {
    told.push(channel);
    return new Promise((resolve) => waiting.push(resolve));
  });
  hints.tell('a');
  hints.tell('a');
  hints.tell('b');
  hints.tell('a');
  expect(told).toEqual(['a', 'b']);
  waiting.splice(0).forEach((done) => done());
  await expect.poll(() => told).toEqual(['a', 'b', 'a']);
  waiting.splice(0).forEach((done) => done());
  await hints.told();
  hints.tell('a');
  expect(told).toEqual(['a', 'b', 'a', 'a']);
  waiting.splice(0).forEach((done) => done());
  await hints.told();
});

it('goes on after a hint that failed', async () => {
  let calls = 0;
  const hints = new Hints(async () => {
    calls += 1;
    if (calls === 1) throw new Error('no connection');
  });
  hints.tell('a');
  await hints.told();
  hints.tell('a');
  await hints.told();
  expect(calls).toBe(2);
});
