import { expect, it } from 'vitest';

import { Hints } from './hints.ts';

it('notifies each channel, and joins calls during a notification into one more', async () => {
  const sent: string[] = [];
  const waiting: (() => void)[] = [];
  const hints = new Hints((channel) => {
    sent.push(channel);
    return new Promise((resolve) => waiting.push(resolve));
  });
  hints.notify('a');
  hints.notify('a');
  hints.notify('b');
  hints.notify('a');
  expect(sent).toEqual(['a', 'b']);
  waiting.splice(0).forEach((done) => done());
  await expect.poll(() => sent).toEqual(['a', 'b', 'a']);
  waiting.splice(0).forEach((done) => done());
  await hints.drained();
  hints.notify('a');
  expect(sent).toEqual(['a', 'b', 'a', 'a']);
  waiting.splice(0).forEach((done) => done());
  await hints.drained();
});

it('goes on after a hint that failed', async () => {
  let calls = 0;
  const hints = new Hints(async () => {
    calls += 1;
    if (calls === 1) throw new Error('no connection');
  });
  hints.notify('a');
  await hints.drained();
  hints.notify('a');
  await hints.drained();
  expect(calls).toBe(2);
});
