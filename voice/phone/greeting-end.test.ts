import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { tone } from '../../test/support/tones.ts';
import { GreetingEnd } from './greeting-end.ts';

const WINDOW = 512;
const BEEP = tone({ frequency: 1_000, seconds: 0.4, sampleRate: 16_000 });

function mailbox() {
  const clock = new FakeClock();
  const greeting = new GreetingEnd(clock);
  let over = false;
  return {
    clock,
    greeting,
    isOver: () => over,
    speaks: () => greeting.hear({ type: 'speaks', since: clock.now() }),
    pauses: () => greeting.hear({ type: 'pauses', spokenMs: 100 }),
    beeps: async () => {
      for (let at = 0; at + WINDOW <= BEEP.length; at += WINDOW) greeting.hearSound(BEEP.subarray(at, at + WINDOW));
      greeting.hearSound(new Int16Array(WINDOW));
      await clock.advance(0);
    },
    waits: async () => {
      void greeting.over().then(() => (over = true));
      await clock.advance(0);
    },
  };
}

it('is at the end of the tone', async () => {
  const { waits, beeps, isOver } = mailbox();
  await waits();
  expect(isOver()).toBe(false);
  await beeps();
  expect(isOver()).toBe(true);
});

it('was before, where the tone was the last sound by the time it is asked', async () => {
  const { speaks, pauses, beeps, waits, isOver } = mailbox();
  speaks();
  pauses();
  await beeps();
  await waits();
  expect(isOver()).toBe(true);
});

it('is not at a tone with words after it, which make the silence begin anew', async () => {
  const { clock, beeps, speaks, pauses, waits, isOver } = mailbox();
  await beeps();
  speaks();
  await waits();
  await clock.advance(10_000);
  expect(isOver()).toBe(false);
  pauses();
  await clock.advance(2_499);
  expect(isOver()).toBe(false);
  await clock.advance(1);
  expect(isOver()).toBe(true);
});

it('is at a tone that detection takes for a voice', async () => {
  const { speaks, beeps, waits, isOver } = mailbox();
  speaks();
  await waits();
  await beeps();
  expect(isOver()).toBe(true);
});

it('is after half a minute, whatever sounds', async () => {
  const { clock, speaks, waits, isOver } = mailbox();
  speaks();
  await waits();
  await clock.advance(29_999);
  expect(isOver()).toBe(false);
  await clock.advance(1);
  expect(isOver()).toBe(true);
});

it('never comes once nobody waits any more', async () => {
  const { clock, greeting, waits, beeps, isOver } = mailbox();
  await waits();
  greeting.stop();
  await beeps();
  await clock.advance(60_000);
  expect(isOver()).toBe(false);
});
