/** When `parley call` publishes its microphone, and what is heard of it: with a real media server, and the test as the agent. */
import { AudioStream, dispose } from '@livekit/rtc-node';
import { AccessToken } from 'livekit-server-sdk';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';

import { OutgoingAudio } from '../../../voice/caller/outgoing-audio.ts';
import { joinCall, type RoomCall } from '../../../voice/caller/room-call.ts';
import { AGENT_HEARD_WITHIN_MS } from '../../../voice/calls/microphone.ts';
import { CALLER_RATE } from '../../../voice/caller/caller-rate.ts';
import { userIdentityOf } from '../../../voice/calls/names.ts';
import { eventually } from '../../support/eventually.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { ownMediaServer } from '../../support/own-media-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { loudness, tone } from '../../support/tones.ts';
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

async function joined(id: string): Promise<Joined> {
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

it('publishes the microphone once it hears the agent, and not before', async () => {
  const { agent, call, clock } = await joined('heard');
  await clock.advance(AGENT_HEARD_WITHIN_MS - 1_000);
  expect(agent.microphone()).toBeUndefined();
  await agent.publishVoice();
  await call.audible;
  await eventually(() => expect(agent.microphone()).toBeDefined());
});

it('publishes it although no agent is heard, after a while', async () => {
  const { agent, call, clock } = await joined('unheard');
  await clock.advance(AGENT_HEARD_WITHIN_MS);
  await call.audible;
  await eventually(() => expect(agent.microphone()).toBeDefined());
});

it('waits no longer than the call', async () => {
  const { call, clock } = await joined('short');
  await call.hangUp();
  await call.audible;
  expect(clock.timers).toBe(0);
});

it('speaks without a hole while its process is busy, and is silent before and after', async () => {
  const { agent, call, audio } = await joined('busy');
  await agent.publishVoice();
  await call.audible;
  await eventually(() => expect(agent.microphone()?.track).toBeDefined());
  const windows: boolean[] = [];
  const hears = async (): Promise<void> => {
    const sound = new AudioStream(agent.microphone()!.track!, { sampleRate: CALLER_RATE, numChannels: 1, frameSizeMs: 100 });
    for await (const { data } of sound) windows.push(loudness(data) > 0.02);
  };
  void hears();
  await eventually(() => expect(windows.length).toBeGreaterThan(3));
  expect(windows).not.toContain(true);

  const said = audio.say({ samples: tone({ frequency: 440, seconds: 3, sampleRate: 24_000 }), sampleRate: 24_000 });
  await eventually(() => expect(windows).toContain(true));
  for (const until = performance.now() + 1_500; performance.now() < until;);
  await said;
  await eventually(() => expect(windows.slice(-3)).toEqual([false, false, false]));
  const heard = windows.slice(windows.indexOf(true), windows.lastIndexOf(true) + 1);
  // What is lost on the way is made up for, and more softly.
  expect(heard.filter((loud) => !loud).length).toBeLessThan(5);
  expect(heard.length).toBeGreaterThan(25);
});
