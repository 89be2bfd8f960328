/** Tests recordings that are not to be made, and those of jobs and roles that die. */
import { once } from 'node:events';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import { systemClock } from '../../../platform/clock.ts';
import { CallLifecycle } from '../../../calls/lifecycle.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFolder } from '../../support/folders.ts';
import { decodeOgg } from '../../support/ogg.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { frequencyOf } from '../../support/tones.ts';
import { heardIn, openRecordingStage, WELCOME } from './recording-stage.ts';
import type { StagedCall } from './stage.ts';

afterAll(dispose);
const folder = suiteFolder();
const stage = suiteFixture(() => openRecordingStage(folder));

/** Returns the process of the call's job; the facts of a recording are next to it from the start. */
async function pidOf(call: StagedCall): Promise<number> {
  return eventually(async () => {
    const facts = JSON.parse((await call.spooled('call.json')).toString()) as { readonly process: string };
    return Number.parseInt(facts.process, 10);
  });
}

describe('a call that is not recorded', () => {
  it.each(['agent', 'organisation'] as const)('because its %s has switched that off leaves no file', async (by) => {
    await stage.store.organizations.setCallRetention(stage.org, { recordingEnabled: by !== 'organisation' });
    const call = await stage.recordedCall({ welcomeMessage: WELCOME, ...(by === 'agent' && { recording: { mode: 'Never' } }) });
    await stage.store.organizations.setCallRetention(stage.org, { recordingEnabled: true });
    await call.join();
    await call.caller.hears(WELCOME);
    await call.becomes({ status: 'ongoing' });
    expect(await stage.spooled()).toEqual([]);
    // The agent server records nothing by itself, either.
    expect((await readdir(folder, { recursive: true })).filter((name) => name.endsWith('audio.ogg'))).toEqual([]);
    // A caller who leaves before a message is over has heard less of it.
    await eventually(async () => expect(await call.messages()).toHaveLength(1));
    await call.caller.leave();
    expect((await call.becomes({ status: 'ended' })).recording).toBeNull();
    expect(await stage.spooled()).toEqual([]);
  });
});

/** Reaps a call as the stale-call sweeper does, without its delays. */
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
  const call = await stage.recordedCall();
  await call.join();
  await call.caller.hears(WELCOME);
  await call.becomes({ status: 'ongoing' });
  // Sound that has not been encoded by then is lost with the process; sound from before the call began is cut off.
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
    await rm(join(folder, 'files'), { recursive: true, force: true });
    await writeFile(join(folder, 'files'), 'in the way');
    process.kill(await pidOf(killed), 'SIGKILL');
    await reap(killed);
    await ended.caller.leave();
    // The call is over all the same.
    expect((await ended.becomes({ status: 'ended', finishReason: 'user_ended_call' })).recording).toBeNull();
    expect(await stage.spooled()).toHaveLength(2);
    await rm(join(folder, 'files'));

    const late = await recorded(ended);
    expect((await stage.soundOf(late)).seconds).toBeGreaterThan(0);
    const sound = await stage.soundOf(await recorded(killed));
    expect(sound.seconds).toBeGreaterThan(2.4);
    expect(heardIn(sound.right).map(({ frequency }) => frequency)).toContain(frequencyOf(WELCOME));
    expect(await stage.spooled()).toEqual([]);
  });

  it('is saved when everything is killed, by the next start', async () => {
    const call = await inTheMiddle();
    const pid = await pidOf(call);
    stage.role.process.kill('SIGKILL');
    process.kill(pid, 'SIGKILL');
    await once(stage.role.process, 'exit');
    await reap(call);
    stage.role = await stage.startRole();
    expect((await stage.soundOf(await recorded(call))).seconds).toBeGreaterThan(2.4);
    expect(await stage.spooled()).toEqual([]);
  });
});
