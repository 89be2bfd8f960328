/** Kills a job process with several calls: they end, each with what was recorded of it, and no other call notices. */
import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';

import { dispose } from '@livekit/rtc-node';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLogger } from '../../../platform/logging.ts';
import { CallLifecycle } from '../../../calls/lifecycle.ts';
import { createRooms } from '../../../calls/rooms.ts';
import { StaleCallSweeper } from '../../../calls/stale-call-sweeper.ts';
import { eventually } from '../../support/eventually.ts';
import { query } from '../../support/sql.ts';
import { suiteFolder } from '../../support/folders.ts';
import { decodeOgg } from '../../support/ogg.ts';
import { frequencyOf, heardTones } from '../../support/tones.ts';
import { openStage, type StagedRole, type VoiceStage, type StagedCall } from './stage.ts';

const CALLS_OF_PROCESS = 3;
const welcome = 'Good morning, this is the front desk: how may I help?';

const folder = suiteFolder();
let stage: VoiceStage;

beforeAll(async () => {
  stage = await openStage({
    STORAGE_URL: `file://${folder}/files`,
    // No second process is started for a role that may have no more calls than one takes.
    PARLEY_VOICE_CALLS: String(CALLS_OF_PROCESS),
    PARLEY_VOICE_CALLS_PER_PROCESS: String(CALLS_OF_PROCESS),
    PARLEY_VOICE_IDLE_PROCESSES: '1',
  });
});
afterAll(async () => {
  await stage.close();
  await dispose();
});

function jobProcesses({ process }: StagedRole): readonly number[] {
  const { pid } = process;
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

async function talking(): Promise<StagedCall> {
  const call = await stage.joined({ spec: { welcomeMessage: welcome } });
  await call.caller.hears(welcome);
  await call.becomes({ status: 'ongoing' });
  return call;
}

/** Counts the tenths of a second of a recording in which the welcome message is heard. */
async function toneIn(file: Uint8Array): Promise<number> {
  const { right } = await decodeOgg(file);
  return heardTones(right, 48_000).filter(({ frequency }) => frequency === frequencyOf(welcome)).length;
}

async function toneOf(call: StagedCall): Promise<number> {
  const { recording } = await call.becomes({ recording: expect.anything() });
  return toneIn(await buffer(await openFileStorage({ url: `file://${folder}/files` }).read(recording!.key)));
}

it('ends its calls, with their recordings, and leaves the others alone', async () => {
  const killed = await Promise.all(Array.from({ length: CALLS_OF_PROCESS }, talking));
  const [full, spare] = [stage.role, await stage.startRole()];
  const other = await talking();
  // Sound that the process has not written by then is lost with it.
  for (const call of killed) await eventually(async () => expect(await toneIn(await call.spooled('audio.ogg'))).toBeGreaterThan(2), 1_000);
  const [pid, ...more] = jobProcesses(full);
  expect(more).toEqual([]);

  process.kill(pid!, 'SIGKILL');
  // Nothing seems to have been heard of the calls for half a minute.
  const ids = killed.map(({ id }) => id);
  await query(stage.env['DATABASE_URL']!, "UPDATE parley.calls SET job_seen_at = now() - interval '30 seconds' WHERE id = ANY($1)", [ids]);
  const { calls } = stage.store.calls;
  const logger = createLogger({ role: 'worker', level: 'silent' });
  const lifecycle = new CallLifecycle({ calls, clock: systemClock });
  const common = { store: stage.store.calls, clock: systemClock, random: Math.random, logger, registry: new Registry() };
  const sweeper = new StaleCallSweeper({ ...common, lifecycle, rooms: createRooms(stage.server) });
  await eventually(async () => expect(await sweeper.once()).toBe(CALLS_OF_PROCESS));

  for (const call of killed) {
    await call.becomes({ status: 'error', finishReason: 'native_platform_internal_error' });
    expect(await toneOf(call)).toBeGreaterThan(2);
  }

  await other.says('hello');
  await other.caller.hears('I heard: hello');
  await other.caller.leave();
  await other.becomes({ status: 'ended', finishReason: 'user_ended_call' });
  expect(await toneOf(other)).toBeGreaterThan(2);
  expect(spare.process.exitCode).toBeNull();
  // There is room again where they were.
  const next = await talking();
  await next.caller.leave();
  await eventually(() => next.becomes({ status: 'ended' }));
});
