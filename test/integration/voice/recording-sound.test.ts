/** A recording of real sound has both voices in their places; voice/recording tests it to the sample, `recording.test.ts` what dies. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import type { CallRecord } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFolder } from '../../support/folders.ts';
import { Servers, startEndpoint } from '../../support/http-servers.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { frequencyOf, loudness, secondsOfTones } from '../../support/tones.ts';
import { ANSWER, heardIn, openRecordingStage, WELCOME } from './recording-stage.ts';

afterAll(dispose);
const folder = suiteFolder();
const servers = new Servers();
afterAll(() => servers.stop());
/** Receives the reports of sessions, if there were any. */
const elsewhere = suiteFixture(() => startEndpoint(servers, (response) => response.end()));
const stage = suiteFixture(() => openRecordingStage(folder, { LIVEKIT_OBSERVABILITY_URL: elsewhere.url }));

/** Reads the rate of what was encoded (RFC 7845, 5.1); it is always decoded to 48 kHz. */
async function rateOf(call: CallRecord): Promise<number> {
  const file = await stage.fileOf(call);
  return file.readUInt32LE(file.indexOf('OpusHead') + 12);
}

const secondsOfText = (text: string): number => (text.length * 40) / 1000;

describe('the recording of a call', () => {
  it('has the user left and the agent right, each when it was heard', async () => {
    const call = await stage.recordedCall();
    await call.join();
    await call.caller.hears(WELCOME);
    await eventually(async () => expect(await call.messages()).toHaveLength(1));
    await call.says('what does it cost', 1_000);
    await call.caller.hears(ANSWER);
    await eventually(async () => expect((await call.messages()).map(({ role }) => role)).toEqual(['agent', 'user', 'agent']));
    await call.caller.leave();
    const record = await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
    // The recording can be read once the call is over.
    expect(record.recording, stage.role.output().slice(-3000)).not.toBeNull();
    const sound = await stage.soundOf(record);
    expect(sound.seconds).toBeCloseTo(record.recording!.durationMs / 1000, 2);
    // The recording has as much of each voice as there is: neither is resampled to more.
    expect(new Set(call.provider.requests('transcriptions').map(({ sampleRate }) => sampleRate))).toEqual(new Set([16_000]));
    expect(await rateOf(record)).toBe(24_000);
    // No event is emitted, also when the job has finished.
    await eventually(() => expect(call.lines()).toContainEqual(expect.objectContaining({ msg: 'the call is over' })));
    expect(elsewhere.requests).toEqual([]);

    const agent = heardIn(sound.right);
    const tones = (text: string) => agent.filter(({ frequency }) => frequency === frequencyOf(text));
    // The recording has what was played, so it has no holes, however the caller heard it.
    for (const text of [WELCOME, ANSWER]) expect(Math.abs(secondsOfTones(tones(text)) - secondsOfText(text))).toBeLessThan(0.15);
    const user = heardIn(sound.left);
    const [from, until] = [user[0]!.at, user.at(-1)!.at];
    // The voices come one after the other, each on its own side.
    expect([tones(WELCOME).at(-1)!.at, from, until, tones(ANSWER)[0]!.at]).toEqual(
      [tones(WELCOME).at(-1)!.at, from, until, tones(ANSWER)[0]!.at].toSorted((a, b) => a - b),
    );
    expect(loudness(sound.right.subarray(from * 48_000 + 9_600, until * 48_000))).toBeLessThan(0.01);
    expect(await stage.spooled()).toEqual([]);
  });
});
