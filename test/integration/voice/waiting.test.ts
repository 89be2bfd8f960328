/** Callers come while no voice role is there to take their call. Those by phone are in `waiting-phone.test.ts`. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, expect, it } from 'vitest';

import { createRooms } from '../../../calls/rooms.ts';
import { dispatchMetadata, roomOf } from '../../../calls/names.ts';
import { eventually } from '../../support/eventually.ts';
import { ownMediaServer } from '../../support/own-media-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage, redispatcherOf } from './stage.ts';

afterAll(dispose);
// The media server is the suite's own: callers by phone of other suites would wait for an agent, too.
const livekit = suiteFixture(ownMediaServer);
const stage = suiteFixture(async () => {
  await livekit.start();
  return openStage({}, { server: livekit.address, redispatches: false });
});

const rooms = () => createRooms(stage.server);
const redispatcher = () => redispatcherOf(stage);

it('are given an agent as soon as one is there, and no more than one', async () => {
  await stage.role.stop();
  const call = await stage.call();
  const room = await call.open();
  stage.role = await stage.startRole();
  // An agent that was called for would come before that of a later call.
  const later = await stage.joined();
  await later.becomes({ status: 'ongoing' });
  expect(await call.record()).toMatchObject({ status: 'registered', jobId: null });
  await call.caller.join({ ...room, microphone: false });
  const called = await eventually(async () => {
    const [one, other] = await Promise.all([redispatcher().once(), redispatcher().once()]);
    expect(one + other).toBeGreaterThan(0);
    return one + other;
  });
  expect(called).toBe(1);
  await call.caller.publish();
  await call.becomes({ status: 'ongoing' });
  expect(await redispatcher().once()).toBe(0);
  await call.caller.leave();
  await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
});

it('leave a late job nothing to do: the first job keeps the call', async () => {
  const call = await stage.joined();
  await call.becomes({ status: 'ongoing' });
  await rooms().callAgent(roomOf(call.id), dispatchMetadata(call.id));
  const lines = (text: string) => call.lines().filter(({ msg }) => msg === text);
  await eventually(() => expect(lines('another job serves the call')).toHaveLength(1));
  await call.says('hello');
  await call.caller.hears('I heard: hello');
  await call.caller.leave();
  await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
  await eventually(() => expect(lines('the call is over')).toHaveLength(1));
});
