/** Joins a call as `parley call` does, with a real media server, and the test as the agent. */
import { dispose } from '@livekit/rtc-node';
import { AccessToken } from 'livekit-server-sdk';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';

import { OutgoingAudio } from '../../../voice/caller/outgoing-audio.ts';
import { joinCall, type RoomCall } from '../../../voice/caller/room-call.ts';
import { userIdentityOf } from '../../../calls/names.ts';
import { eventually } from '../../support/eventually.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { ownMediaServer } from '../../support/own-media-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { joinAsAgent, type PretendedAgent } from './pretended-agent.ts';

afterAll(dispose);
const server = suiteFixture(ownMediaServer);

beforeAll(async () => {
  await server.start({ roomsByJoining: true });
});

interface Joined {
  readonly agent: PretendedAgent;
  readonly call: RoomCall;
  readonly audio: OutgoingAudio;
  readonly clock: FakeClock;
}

export async function joined(id: string): Promise<Joined> {
  const { url, apiKey, apiSecret } = server.address;
  const agent = await joinAsAgent(server.address, id);
  const token = new AccessToken(apiKey, apiSecret, { identity: userIdentityOf(id) });
  token.addGrant({ room: id, roomJoin: true });
  const clock = new FakeClock();
  const audio = new OutgoingAudio();
  const nothing = (): undefined => undefined;
  const events = { onAgent: nothing, onVoice: nothing, onAgentState: nothing, onWelcomed: nothing, onLine: nothing, openSpeaker: nothing };
  const call = await joinCall({ id, url, token: await token.toJwt() }, audio, events, clock);
  onTestFinished(async () => {
    await call.hangUp();
    await audio.close();
  });
  await eventually(() => expect(agent.user()).toBeDefined());
  return { agent, call, audio, clock };
}
