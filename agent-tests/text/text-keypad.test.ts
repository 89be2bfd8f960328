import { expect, it } from 'vitest';

import { TextKeypad } from './text-keypad.ts';

const signal = new AbortController().signal;
const wanted = { count: 32, withinMs: 1, signal };

it('gives an entry to the tool that waits, and what follows to the conversation', async () => {
  const keypad = new TextKeypad();
  const collected = keypad.collect(wanted);
  await keypad.waiting;
  expect(keypad.enter('42#7#')).toEqual(['7']);
  expect([await collected, keypad.isWaiting]).toEqual(['42', false]);
});

it('completes an entry when it has as many keys as are wanted', async () => {
  const keypad = new TextKeypad();
  const collected = keypad.collect({ ...wanted, count: 2 });
  expect(keypad.enter('1234')).toEqual(['34']);
  expect(await collected).toBe('12');
});

it('ends an entry without #, where no more keys come', async () => {
  const keypad = new TextKeypad();
  expect([keypad.enter('1'), keypad.enter('#'), keypad.enter('1#2')]).toEqual([['1'], [], ['1', '2']]);
});

it('gives the next entries to tools that wait side by side, in their order', async () => {
  const keypad = new TextKeypad();
  const collected = [keypad.collect({ ...wanted, count: 2 }), keypad.collect(wanted)];
  expect([keypad.enter('12'), keypad.isWaiting, keypad.enter('345#6')]).toEqual([[], true, ['6']]);
  expect([await Promise.all(collected), keypad.isWaiting]).toEqual([['12', '345'], false]);
});

it('gives nothing when the user speaks instead, or the call is over', async () => {
  const keypad = new TextKeypad();
  const collected = [keypad.collect(wanted), keypad.collect(wanted)];
  keypad.giveUp();
  expect([await Promise.all(collected), keypad.isWaiting]).toEqual([['', ''], false]);
  expect(await keypad.collect({ ...wanted, signal: AbortSignal.abort() })).toBe('');
});
