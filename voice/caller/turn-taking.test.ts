import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { TurnTaking } from './turn-taking.ts';

const never = new AbortController().signal;

function watched(promise: Promise<boolean>): { readonly value: () => boolean | undefined } {
  let value: boolean | undefined;
  void promise.then((reached) => (value = reached));
  return { value: () => value };
}

it('gives the user a turn once the agent has listened for a moment', async () => {
  const clock = new FakeClock();
  const turns = new TurnTaking(clock);
  const turn = watched(turns.usersTurn(60_000, never));
  turns.reported('speaking');
  await clock.advance(5_000);
  turns.welcomed();
  turns.reported('listening');
  await clock.advance(500);
  // A tool's first message is over; the answer comes.
  turns.reported('thinking');
  await clock.advance(1_000);
  expect(turn.value()).toBeUndefined();
  turns.reported('listening');
  await clock.advance(699);
  expect(turn.value()).toBeUndefined();
  await clock.advance(1);
  expect(turn.value()).toBe(true);
});

it('gives the user no turn before the welcome message is over, however long the agent seems to listen', async () => {
  const clock = new FakeClock();
  const turns = new TurnTaking(clock);
  const turn = watched(turns.usersTurn(60_000, never));
  turns.arrived();
  turns.reported('listening');
  await clock.advance(9_000);
  turns.reported('speaking');
  turns.welcomed();
  await clock.advance(9_000);
  expect(turn.value()).toBeUndefined();
  turns.reported('listening');
  await clock.advance(700);
  expect(turn.value()).toBe(true);
});

it('gives the user a turn where the agent says nothing of a welcome message', async () => {
  const clock = new FakeClock();
  const turns = new TurnTaking(clock);
  const turn = watched(turns.usersTurn(60_000, never));
  await clock.advance(10_000);
  expect(turn.value()).toBeUndefined();
  turns.arrived();
  await clock.advance(9_999);
  expect(turn.value()).toBeUndefined();
  await clock.advance(1);
  expect(turn.value()).toBe(true);
});

it('an answer begins with a thought', async () => {
  const clock = new FakeClock();
  const turns = new TurnTaking(clock);
  turns.reported('listening');
  const answering = watched(turns.answering(30_000, never));
  await clock.advance(10_000);
  turns.reported('thinking');
  await clock.advance(0);
  expect(answering.value()).toBe(true);
});

it('waits no longer than its timeout, nor after the end', async () => {
  const clock = new FakeClock();
  const turns = new TurnTaking(clock);
  turns.reported('speaking');
  const tooLong = watched(turns.usersTurn(1_000, never));
  const over = new AbortController();
  const ended = watched(turns.usersTurn(60_000, over.signal));
  await clock.advance(1_000);
  expect(tooLong.value()).toBe(false);
  over.abort();
  await clock.advance(0);
  expect(ended.value()).toBe(false);
  expect(await turns.answering(1_000, over.signal)).toBe(false);
});
