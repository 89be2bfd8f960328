/** A job process with eight calls is killed: they end in time, each with what was recorded of it, and no other call notices. */
import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';

import { dispose } from '@livekit/rtc-node';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLogger } from '../../../platform/logging.ts';
import { CallLifecycle } from '../../../voice/calls/lifecycle.ts';
import { createRooms } from '../../../voice/calls/rooms.ts';
import { StaleCallSweeper } from '../../../voice/calls/stale-call-sweeper.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFolder } from '../../support/folders.ts';
import { decodeOgg } from '../../support/ogg.ts';
import { frequencyOf, heardTones } from '../../support/tones.ts';
import { openStage, type StagedRole, type VoiceStage, type StagedCall } from './stage.ts';

const CALLS_OF_PROCESS = 8;
/** The promise of docs/calls: a silent job is noticed after 30 s, and looked for every five. */
const TERMINAL_WITHIN_MS = 45_000;
/** Two seconds, for it has holes: ten calls begin at once. */
const welcome = 'Good morning, this is the front desk: how may I help?';

const folder = suiteFolder();
let stage: VoiceStage;
const sweeping = new AbortController();

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
  sweeping.abort();
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

/** In how many tenths of a second of a recording the welcome message is heard. */
async function toneIn(file: Uint8Array): Promise<number> {
  const { right } = await decodeOgg(file);
  return heardTones(right, 48_000).filter(({ frequency }) => frequency === frequencyOf(welcome)).length;
}

async function toneOf(call: StagedCall): Promise<number> {
  const { recording } = await call.becomes({ recording: expect.anything() });
  return toneIn(await buffer(await openFileStorage({ url: `file://${folder}/files` }).read(recording!.key)));
}

it('ends its eight calls within 45 s, with their recordings, and leaves the others alone', async () => {
  const killed = await Promise.all(Array.from({ length: CALLS_OF_PROCESS }, talking));
  const [full, other] = [stage.role, await stage.startRole()];
  const others = await Promise.all([talking(), talking()]);
  // What it has not written by then is lost with the process.
  for (const call of killed) await eventually(async () => expect(await toneIn(await call.spooled('audio.ogg'))).toBeGreaterThan(2), 1_000);
  const [pid, ...more] = jobProcesses(full);
  expect(more).toEqual([]);

  // As a worker runs it.
  const { calls } = stage.store.calls;
  const logger = createLogger({ role: 'worker', level: 'silent' });
  const lifecycle = new CallLifecycle({ calls, clock: systemClock });
  const common = { store: stage.store.calls, clock: systemClock, random: Math.random, logger, registry: new Registry() };
  void new StaleCallSweeper({ ...common, lifecycle, rooms: createRooms(stage.server) }).run(sweeping.signal);
  const killedAt = Date.now();
  process.kill(pid!, 'SIGKILL');

  const ended = await Promise.all(killed.map((call) => call.becomes({ status: 'error', finishReason: 'native_platform_internal_error' })));
  for (const { endedAt } of ended) expect(endedAt!.getTime() - killedAt).toBeLessThan(TERMINAL_WITHIN_MS);
  for (const call of killed) expect(await toneOf(call)).toBeGreaterThan(2);

  await Promise.all(
    others.map(async (call) => {
      await call.caller.speak(700);
      await call.caller.hears('I heard: hello');
      await call.caller.leave();
      await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
      expect(await toneOf(call)).toBeGreaterThan(2);
    }),
  );
  expect(other.process.exitCode).toBeNull();
  // Where the eight were there is room again.
  const next = await talking();
  await next.caller.leave();
  await eventually(() => next.becomes({ status: 'ended' }));
});
