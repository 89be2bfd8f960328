/** Callers who came while no voice role was there to take their call. */
import { setTimeout as delay } from 'node:timers/promises';

import { dispose } from '@livekit/rtc-node';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { createRooms } from '../../../voice/calls/rooms.ts';
import { roomOf } from '../../../voice/calls/names.ts';
import { eventually } from '../../support/eventually.ts';
import { openStage, redispatcherOf, type Stage } from './stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({}, { redispatches: false });
});
afterAll(async () => {
  await stage.close();
  await dispose();
});

const rooms = () => createRooms(stage.server);
const redispatcher = () => redispatcherOf(stage);

it('are given an agent as soon as one is there, and no more than one', async () => {
  await stage.role.stop();
  const call = await stage.call();
  await call.join();
  stage.role = await stage.startRole();
  // Longer than an agent that was called for takes to come.
  await delay(5_000);
  expect(await call.record()).toMatchObject({ status: 'registered', jobId: null });
  const called = await Promise.all([redispatcher().once(), redispatcher().once()]);
  expect(called.reduce((sum, one) => sum + one)).toBe(1);
  await call.becomes({ status: 'ongoing' });
  expect(await redispatcher().once()).toBe(0);
  await call.caller.leave();
  await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
});

it('leave a late job nothing to do: the first job keeps the call', async () => {
  const call = await stage.joined();
  await call.becomes({ status: 'ongoing' });
  await rooms().callAgent(roomOf(call.id), call.id);
  await eventually(() => expect(call.lines().filter(({ msg }) => msg === 'the call is over')).toHaveLength(1));
  await delay(1_000);
  expect(call.caller.room.isConnected).toBe(true);
  await call.caller.speak(700);
  await call.caller.hears('I heard: hello');
  await call.caller.leave();
  await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
});
