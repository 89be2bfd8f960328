/** Callers by phone come while no voice role is there. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, expect, it } from 'vitest';

import { startProviderServer } from '../../support/provider-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openPhoneStage, ownNumber } from './phone-stage.ts';
import { redispatcherOf } from './stage.ts';

afterAll(dispose);
const stage = suiteFixture(() => openPhoneStage({}, { redispatches: false }));

it('are given one by phone, too, for as long as they wait', async () => {
  const { org, store, gateway } = stage;
  const provider = await startProviderServer();
  const { revision } = await stage.agent({ spec: { welcomeMessage: 'Harbour Bikes.' } }, provider);
  await store.agentReleases.serve({ org, agentName: 'receptionist', revision });
  await stage.role.stop();
  const [gone, caller] = await Promise.all([
    gateway.comesIn({ from: '+15550198', to: ownNumber }),
    gateway.comesIn({ from: '+15550199', to: ownNumber }),
  ]);
  await gone.leave();
  stage.role = await stage.startRole();
  // An agent that was called for would come before that of a later call.
  const later = await stage.joined();
  await later.becomes({ status: 'ongoing' });
  expect(await store.calls.withoutCall([gone.roomName, caller.roomName])).toHaveLength(2);
  expect(await redispatcherOf(stage).once()).toBe(1);
  expect(await redispatcherOf(stage).once()).toBe(0);
  await caller.hears('Harbour Bikes.');
  expect(await store.calls.withoutCall([gone.roomName, caller.roomName])).toEqual([gone.roomName]);
  await caller.leave();
  await later.caller.leave();
  await provider.close();
});
