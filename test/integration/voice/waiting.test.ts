/** Callers who came while no voice role was there to take their call. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, expect, it } from 'vitest';

import { createRooms } from '../../../voice/calls/rooms.ts';
import { dispatchMetadata, roomOf } from '../../../voice/calls/names.ts';
import { eventually } from '../../support/eventually.ts';
import { startProviderServer } from '../../support/provider-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openPhoneStage, ownNumber } from './phone-stage.ts';
import { redispatcherOf } from './stage.ts';

afterAll(dispose);
const stage = suiteFixture(() => openPhoneStage({}, { redispatches: false }));

const rooms = () => createRooms(stage.server);
const redispatcher = () => redispatcherOf(stage);

/** Starts the role again. An agent that was called for would come before that of a later call. */
async function takesCalls(): Promise<void> {
  stage.role = await stage.startRole();
  const later = await stage.joined();
  await later.becomes({ status: 'ongoing' });
  await later.caller.leave();
}

it('are given an agent as soon as one is there, and no more than one', async () => {
  await stage.role.stop();
  const call = await stage.call();
  await call.join();
  await takesCalls();
  expect(await call.record()).toMatchObject({ status: 'registered', jobId: null });
  const called = await Promise.all([redispatcher().once(), redispatcher().once()]);
  expect(called.reduce((sum, one) => sum + one)).toBe(1);
  await call.becomes({ status: 'ongoing' });
  expect(await redispatcher().once()).toBe(0);
  await call.caller.leave();
  await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
});

it('are given one by phone, too, for as long as they wait', async () => {
  const { org, store, gateway } = stage;
  const provider = await startProviderServer();
  const { revision } = await stage.agent({ spec: { welcomeMessage: 'Harbour Bikes.' } }, provider);
  await store.agentReleases.serve({ org, agentUid: 'uid-receptionist', revision });
  await stage.role.stop();
  const gone = await gateway.comesIn({ from: '+15550198', to: ownNumber });
  const caller = await gateway.comesIn({ from: '+15550199', to: ownNumber });
  await gone.leave();
  await takesCalls();
  expect(await store.calls.withoutCall([gone.roomName, caller.roomName])).toHaveLength(2);
  expect(await redispatcher().once()).toBe(1);
  expect(await redispatcher().once()).toBe(0);
  await caller.hears('Harbour Bikes.');
  expect(await store.calls.withoutCall([gone.roomName, caller.roomName])).toEqual([gone.roomName]);
  await caller.leave();
  await provider.close();
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
