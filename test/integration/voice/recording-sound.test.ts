/** Recordings of real calls: both voices in their places, and as long as the call. What dies is in `recording.test.ts`. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import type { CallRecord } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFolder } from '../../support/folders.ts';
import { Servers, startEndpoint } from '../../support/http-servers.ts';
import type { DecodedStereo } from '../../support/ogg.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { frequencyOf, loudness, secondsOfTones } from '../../support/tones.ts';
import { ANSWER, heardIn, openRecordingStage, WELCOME } from './recording-stage.ts';
import type { StagedCall } from './stage.ts';

afterAll(dispose);
const folder = suiteFolder();
const servers = new Servers();
afterAll(() => servers.stop());
/** Where reports of sessions would go. */
const elsewhere = suiteFixture(() => startEndpoint(servers, (response) => response.end()));
const stage = suiteFixture(() => openRecordingStage(folder, { LIVEKIT_OBSERVABILITY_URL: elsewhere.url }));

/** Of what was encoded (RFC 7845, 5.1); it is always decoded to 48 kHz. */
async function rateOf(call: CallRecord): Promise<number> {
  const file = await stage.fileOf(call);
  return file.readUInt32LE(file.indexOf('OpusHead') + 12);
}

const secondsOf = ({ startedAt, endedAt }: CallRecord): number => (endedAt!.getTime() - startedAt!.getTime()) / 1000;

const secondsOfText = (text: string): number => (text.length * 40) / 1000;

async function afterLeaving(call: StagedCall): Promise<{ readonly record: CallRecord; readonly sound: DecodedStereo }> {
  await call.caller.leave();
  const record = await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
  // Once the call is over its recording can be read.
  expect(record.recording, stage.role.output().slice(-3000)).not.toBeNull();
  expect(Math.abs(record.recording!.durationMs / 1000 - secondsOf(record))).toBeLessThan(1);
  const sound = await stage.soundOf(record);
  expect(sound.seconds).toBeCloseTo(record.recording!.durationMs / 1000, 2);
  return { record, sound };
}

describe('the recording of a call', () => {
  it('has the user left and the agent right, each when it was heard', async () => {
    const call = await stage.recordedCall();
    await call.join();
    await call.caller.hears(WELCOME);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await call.caller.speak(1_000);
    await eventually(() => expect(call.caller.heardFor(ANSWER)).toBeGreaterThanOrEqual(secondsOfText(ANSWER) * 1_000 - 100));
    const said = await eventually(async () => {
      const messages = await call.messages();
      expect(messages.map(({ role }) => role)).toEqual(['agent', 'user', 'agent']);
      return messages;
    });
    const { sound, record } = await afterLeaving(call);
    // As much of each voice as there is: neither is resampled to more.
    expect(call.provider.requests('transcriptions').map(({ sampleRate }) => sampleRate)).toEqual([16_000]);
    expect(await rateOf(record)).toBe(24_000);
    // No event is emitted, also when the job has finished.
    await eventually(() => expect(call.lines()).toContainEqual(expect.objectContaining({ msg: 'the call is over' })));
    expect(elsewhere.requests).toEqual([]);

    const agent = heardIn(sound.right);
    const tones = (text: string) => agent.filter(({ frequency }) => frequency === frequencyOf(text));
    // A moment of a tone, between two holes, can be taken for one next to it.
    for (const text of [WELCOME, ANSWER]) expect(Math.abs(secondsOfTones(tones(text)) - secondsOfText(text))).toBeLessThan(0.15);
    // The distance between what was said in the call is the distance in the file.
    const [welcomed, spokenAt, answered] = said.map((message) => message.spokenAt.getTime() / 1000) as [number, number, number];
    expect(Math.abs(tones(ANSWER)[0]!.at - tones(WELCOME)[0]!.at - (answered - welcomed))).toBeLessThan(0.5);
    const user = heardIn(sound.left);
    const spoken = [user[0]!.at, user.at(-1)!.at] as const;
    expect(user.length / 10).toBeCloseTo(1, 0);
    expect(Math.abs(spoken[0] - tones(WELCOME)[0]!.at - (spokenAt - welcomed))).toBeLessThan(0.7);
    // The other side is silent.
    expect(user.every(({ at }) => at >= spoken[0] && at <= spoken[1])).toBe(true);
    expect(loudness(sound.right.subarray(spoken[0] * 48_000 + 9_600, spoken[1] * 48_000))).toBeLessThan(0.01);
    expect(await stage.spooled()).toEqual([]);
  });

  it('is as long as the call where the user says nothing, or begins late', async () => {
    const silent = await stage.recordedCall({});
    await silent.join();
    const late = await stage.recordedCall();
    await late.join({ microphone: false });
    await late.caller.hears(WELCOME);
    await late.caller.publish();
    await late.caller.speak(600);
    const { sound, record } = await afterLeaving(late);
    const [welcomed] = await late.messages();
    // It begins when the call does, not when the user could be heard.
    expect(Math.abs(heardIn(sound.right)[0]!.at - (welcomed!.spokenAt.getTime() - record.startedAt!.getTime()) / 1000)).toBeLessThan(1);
    expect(heardIn(sound.left)[0]!.at).toBeGreaterThan(heardIn(sound.right)[0]!.at);
    const quiet = (await afterLeaving(silent)).sound;
    // That it is as long as the call was has been looked at.
    expect(quiet.seconds).toBeGreaterThan(2);
    expect([...heardIn(quiet.left), ...heardIn(quiet.right)]).toEqual([]);
  });
});
