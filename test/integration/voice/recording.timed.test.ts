/** Recordings of real calls: both voices in their places, as long as the call, and there whatever dies. */
import { once } from 'node:events';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

import { dispose } from '@livekit/rtc-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { CallLifecycle } from '../../../voice/calls/lifecycle.ts';
import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { CallRecord } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFolder } from '../../support/folders.ts';
import { Servers, startEndpoint, type TestEndpoint } from '../../support/http-servers.ts';
import { decodeOgg, type DecodedStereo } from '../../support/ogg.ts';
import { frequencyOf, heardTones, loudness, secondsOfTones } from '../../support/tones.ts';
import { openStage, type VoiceStage, type StagedCall } from './stage.ts';

let stage: VoiceStage;
const folder = suiteFolder();
/** Where reports of sessions would go. */
let elsewhere: TestEndpoint;
const servers = new Servers();
beforeAll(async () => {
  elsewhere = await startEndpoint(servers, (response) => response.end());
  await mkdir(join(folder, 'tmp'));
  stage = await openStage({
    // One of two calls at once is killed with its process.
    PARLEY_VOICE_IDLE_PROCESSES: '2',
    TMPDIR: join(folder, 'tmp'),
    PARLEY_VOICE_SPOOL: join(folder, 'spool'),
    STORAGE_URL: `file://${folder}/files`,
    LIVEKIT_OBSERVABILITY_URL: elsewhere.url,
  });
});
afterAll(async () => {
  await stage.close();
  await dispose();
  await servers.stop();
});

const welcome = 'Good morning.';
const answer = 'It costs nine hundred.';
const spooled = async () => (await readdir(join(folder, 'spool')).catch(() => [])).filter((name) => name.startsWith('call_'));

async function fileOf(call: CallRecord): Promise<Buffer> {
  const storage = openFileStorage({ url: `file://${folder}/files` });
  return buffer(await storage.read(call.recording!.key));
}

const soundOf = async (call: CallRecord): Promise<DecodedStereo> => decodeOgg(await fileOf(call));

/** Of what was encoded (RFC 7845, 5.1); it is always decoded to 48 kHz. */
async function rateOf(call: CallRecord): Promise<number> {
  const file = await fileOf(call);
  return file.readUInt32LE(file.indexOf('OpusHead') + 12);
}

const secondsOf = ({ startedAt, endedAt }: CallRecord): number => (endedAt!.getTime() - startedAt!.getTime()) / 1000;

const heard = (samples: Int16Array) => heardTones(samples, 48_000);

const secondsOfText = (text: string): number => (text.length * 40) / 1000;

async function aCallWith(spec: Readonly<Record<string, unknown>> = { welcomeMessage: welcome }): Promise<StagedCall> {
  const call = await stage.call({ spec });
  call.provider.chat(() => answer);
  return call;
}

/** Of its job; the facts of a recording are next to it from the start. */
async function pidOf(call: StagedCall): Promise<number> {
  return eventually(async () => {
    const facts = JSON.parse((await call.spooled('call.json')).toString()) as { readonly process: string };
    return Number.parseInt(facts.process, 10);
  });
}

async function afterLeaving(call: StagedCall): Promise<{ readonly record: CallRecord; readonly sound: DecodedStereo }> {
  await call.caller.leave();
  const record = await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
  // Once the call is over its recording can be read.
  expect(record.recording, stage.role.output().slice(-3000)).not.toBeNull();
  expect(Math.abs(record.recording!.durationMs / 1000 - secondsOf(record))).toBeLessThan(1);
  const sound = await soundOf(record);
  expect(sound.seconds).toBeCloseTo(record.recording!.durationMs / 1000, 2);
  return { record, sound };
}

describe('the recording of a call', () => {
  it('has the user left and the agent right, each when it was heard', async () => {
    const call = await aCallWith();
    await call.join();
    await call.caller.hears(welcome);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await call.caller.speak(1_000);
    await eventually(() => expect(call.caller.heardFor(answer)).toBeGreaterThanOrEqual(secondsOfText(answer) * 1_000 - 100));
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

    const agent = heard(sound.right);
    const tones = (text: string) => agent.filter(({ frequency }) => frequency === frequencyOf(text));
    // A moment of a tone, between two holes, can be taken for one next to it.
    for (const text of [welcome, answer]) expect(Math.abs(secondsOfTones(tones(text)) - secondsOfText(text))).toBeLessThan(0.15);
    // The distance between what was said in the call is the distance in the file.
    const [welcomed, spokenAt, answered] = said.map((message) => message.spokenAt.getTime() / 1000) as [number, number, number];
    expect(Math.abs(tones(answer)[0]!.at - tones(welcome)[0]!.at - (answered - welcomed))).toBeLessThan(0.5);
    const user = heard(sound.left);
    const spoken = [user[0]!.at, user.at(-1)!.at] as const;
    expect(user.length / 10).toBeCloseTo(1, 0);
    expect(Math.abs(spoken[0] - tones(welcome)[0]!.at - (spokenAt - welcomed))).toBeLessThan(0.7);
    // The other side is silent.
    expect(user.every(({ at }) => at >= spoken[0] && at <= spoken[1])).toBe(true);
    expect(loudness(sound.right.subarray(spoken[0] * 48_000 + 9_600, spoken[1] * 48_000))).toBeLessThan(0.01);
    expect(await spooled()).toEqual([]);
  });

  it('is as long as the call where the user says nothing, or begins late', async () => {
    const silent = await aCallWith({});
    await silent.join();
    const late = await aCallWith();
    await late.join({ microphone: false });
    await late.caller.hears(welcome);
    await late.caller.publish();
    await late.caller.speak(600);
    const { sound, record } = await afterLeaving(late);
    const [welcomed] = await late.messages();
    // It begins when the call does, not when the user could be heard.
    expect(Math.abs(heard(sound.right)[0]!.at - (welcomed!.spokenAt.getTime() - record.startedAt!.getTime()) / 1000)).toBeLessThan(1);
    expect(heard(sound.left)[0]!.at).toBeGreaterThan(heard(sound.right)[0]!.at);
    const quiet = (await afterLeaving(silent)).sound;
    // That it is as long as the call was has been looked at.
    expect(quiet.seconds).toBeGreaterThan(2);
    expect([...heard(quiet.left), ...heard(quiet.right)]).toEqual([]);
  });
});

describe('a call that is not recorded', () => {
  it.each(['agent', 'organisation'] as const)('because its %s has switched that off leaves no file', async (by) => {
    await stage.store.organizations.setCallRetention(stage.org, { recordingEnabled: by !== 'organisation' });
    const call = await aCallWith({ welcomeMessage: welcome, ...(by === 'agent' && { recording: { enabled: false } }) });
    await stage.store.organizations.setCallRetention(stage.org, { recordingEnabled: true });
    await call.join();
    await call.caller.hears(welcome);
    await call.becomes({ status: 'ongoing' });
    expect(await spooled()).toEqual([]);
    // Nor where the agent server would record by itself.
    expect((await readdir(folder, { recursive: true })).filter((name) => name.endsWith('audio.ogg'))).toEqual([]);
    // Who leaves before a message is over has heard less of it.
    await eventually(async () => expect(await call.messages()).toHaveLength(1));
    await call.caller.leave();
    expect((await call.becomes({ status: 'ended' })).recording).toBeNull();
    expect(await spooled()).toEqual([]);
  });
});

/** As the stale-call sweeper does it, without its delays. */
const reap = ({ id }: StagedCall) =>
  new CallLifecycle({ calls: stage.store.calls.calls, clock: systemClock }).end({
    org: stage.org,
    id,
    reason: 'native_platform_internal_error',
  });

const recorded = (call: StagedCall) =>
  eventually(async () => {
    const record = await call.record();
    expect(record.recording, stage.role.output().slice(-3000)).not.toBeNull();
    return record;
  });

async function inTheMiddle(): Promise<StagedCall> {
  const call = await aCallWith();
  await call.join();
  await call.caller.hears(welcome);
  await call.becomes({ status: 'ongoing' });
  // What has not been encoded by then is lost with the process; what was before the call began is cut off.
  await eventually(async () => {
    const { from, recordingFrom } = JSON.parse((await call.spooled('call.json')).toString()) as Readonly<Record<string, number>>;
    const { seconds } = await decodeOgg(await call.spooled('audio.ogg'));
    expect(seconds - (from! - recordingFrom!) / 1_000).toBeGreaterThan(2.4);
  });
  return call;
}

describe('what was recorded until then', () => {
  it('is saved when a job is killed, and when the storage was away, by the role that it belonged to', async () => {
    const [killed, ended] = await Promise.all([inTheMiddle(), inTheMiddle()]);
    await rm(join(folder, 'files'), { recursive: true });
    await writeFile(join(folder, 'files'), 'in the way');
    process.kill(await pidOf(killed), 'SIGKILL');
    await reap(killed);
    await ended.caller.leave();
    // The call is over all the same.
    expect((await ended.becomes({ status: 'ended', finishReason: 'user_ended_call' })).recording).toBeNull();
    expect(await spooled()).toHaveLength(2);
    await rm(join(folder, 'files'));

    const late = await recorded(ended);
    expect(Math.abs(late.recording!.durationMs / 1000 - secondsOf(late))).toBeLessThan(1);
    const sound = await soundOf(await recorded(killed));
    expect(sound.seconds).toBeGreaterThan(2.4);
    // A tenth of a second in which a tone has just begun may look like another tone.
    expect(heard(sound.right).filter(({ frequency }) => frequency === frequencyOf(welcome)).length).toBeGreaterThan(2);
    expect(await spooled()).toEqual([]);
  });

  it('is saved when everything is killed, by the next start', async () => {
    const call = await inTheMiddle();
    const pid = await pidOf(call);
    stage.role.process.kill('SIGKILL');
    process.kill(pid, 'SIGKILL');
    await once(stage.role.process, 'exit');
    await reap(call);
    stage.role = await stage.startRole();
    expect((await soundOf(await recorded(call))).seconds).toBeGreaterThan(2.4);
    expect(await spooled()).toEqual([]);
  });
});
