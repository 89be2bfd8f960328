import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { openFileStorage } from '../../knowledge/storage/open-file-storage.ts';
import type { Clock } from '../../platform/clock.ts';
import { createLogger } from '../../platform/logging.ts';
import type { CallRecord } from '../../store/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { testFolder } from '../../test/support/folders.ts';
import { decodeOgg, encodeOgg } from '../../test/support/ogg.ts';
import { tone } from '../../test/support/tones.ts';
import { processIdentity } from './process-identity.ts';
import { Recordings } from './recordings.ts';

const org = 'acme';
const id = 'call_019aa1f2-b3c4-7d5e-8f90-a1b2c3d4e5f6';
const ref = { org, id, jobId: 'AJ_x' };

let tenSeconds: Buffer;
beforeAll(async () => {
  const left = tone({ frequency: 500, seconds: 10, sampleRate: 48_000 });
  tenSeconds = await encodeOgg({ left, right: left });
});

let folder: string;
beforeEach(() => void (folder = testFolder()));

/** The calls and the storage, as recordings see them. */
interface World {
  /** Called instead of an answer of the database. */
  silent?: () => void;
  status: CallRecord['status'] | undefined;
  readonly added: { readonly durationMs: number; readonly bytes: number }[];
  /** True if the call was deleted. */
  deleted?: boolean;
  laterMs: number;
}

const spool = () => join(folder, 'spool');
const files = () => join(folder, 'files');
const storedKeys = () => openFileStorage({ url: `file://${files()}` }).list('recordings/', { limit: 10 });
const spooled = async () => readdir(spool());

/** Builds a clock. Files have the system's time, as this has at its beginning. No time passes, unless the test brings a clock. */
const clockOf = (world: World, beginning = Date.now()): Clock => ({
  now: () => beginning + world.laterMs,
  monotonic: () => 0,
  after: () => ({ cancel: () => undefined }),
});

function recordingsOf(world: World, clock: Clock = clockOf(world)): Recordings {
  return new Recordings({
    storage: openFileStorage({ url: `file://${files()}` }),
    calls: {
      get: async () =>
        world.status === undefined
          ? undefined
          : ({ status: world.status, recording: world.added.length > 0 ? { key: 'k', bytes: 1, durationMs: 1 } : null } as CallRecord),
    },
    deletions: { has: async () => world.deleted === true },
    lifecycle: {
      addRecording: async ({ durationMs, bytes }) => {
        if (world.silent !== undefined) {
          world.silent();
          await new Promise(() => undefined);
        }
        if (world.status === undefined) return false;
        world.added.push({ durationMs, bytes });
        return true;
      },
    },
    clock,
    logger: createLogger({ role: 'voice', level: 'silent' }),
    spool: spool(),
    timeoutMs: 2_000,
  });
}

const aWorld = (status: World['status'] = 'ended'): World => ({ status, added: [], laterMs: 0 });

/** Records as a recorder does. */
async function record(recordings: Recordings, { begin = true }: { readonly begin?: boolean } = {}) {
  const recording = await recordings.open(ref);
  recording.started();
  await writeFile(recording.file, tenSeconds);
  if (begin) recording.begin();
  return recording;
}

/** Records in a process that is gone. */
async function abandon(recordings: Recordings): Promise<void> {
  await record(recordings);
  const gone = spawn(process.execPath, ['-e', 'setInterval(() => 0, 60000)']);
  const identity = await processIdentity(gone.pid!);
  gone.kill('SIGKILL');
  await once(gone, 'exit');
  const [name = ''] = await spooled();
  const facts = join(spool(), name, 'call.json');
  const known = JSON.parse(await readFile(facts, 'utf8')) as object;
  await writeFile(facts, JSON.stringify({ ...known, process: identity }));
}

describe('a recording that a job saves', () => {
  it('is in the storage as long as the call was, and no longer in the spool', async () => {
    const world = aWorld('ongoing');
    const clock = new FakeClock();
    const recordings = recordingsOf(world, clock);
    const recording = await record(recordings);
    clock.tick(1_200);
    recording.end();
    clock.tick(300);
    recording.end();
    expect(await recording.save()).toBe('saved');
    const [{ durationMs, bytes } = { durationMs: 0, bytes: 0 }] = world.added;
    expect(durationMs).toBe(1_200);
    const stored = await readFile(join(files(), `recordings/${org}/${id}.ogg`));
    expect(stored.length).toBe(bytes);
    expect((await decodeOgg(stored)).seconds).toBeCloseTo(durationMs / 1000, 2);
    expect(await spooled()).toEqual([]);
  });

  it('is none without media, without a recorder, and without sound', async () => {
    const world = aWorld();
    const recordings = recordingsOf(world);
    expect(await (await record(recordings, { begin: false })).save()).toBe('none');
    const neverStarted = await recordings.open(ref);
    neverStarted.begin();
    expect(await neverStarted.save()).toBe('none');
    const atOnce = await record(recordings);
    atOnce.end();
    await writeFile(join(spool(), (await spooled())[0]!, 'audio.ogg'), '');
    expect(await atOnce.save()).toBe('none');
    expect(world.added).toEqual([]);
    expect(await spooled()).toEqual([]);
  });

  it('leaves nothing in the storage when the call was deleted meanwhile', async () => {
    const world = aWorld('ongoing');
    const recording = await record(recordingsOf(world));
    world.status = undefined;
    expect(await recording.save()).toBe('none');
    expect([await spooled(), await storedKeys()]).toEqual([[], []]);
  });

  it('stays in the spool while the storage is away, and is found there once its job is gone', async () => {
    const world = aWorld();
    const recordings = recordingsOf(world);
    await writeFile(files(), 'in the way');
    expect(await (await record(recordings)).save()).toBe('kept');
    expect(await recordings.recover()).toBe(0);
    expect(await spooled()).toHaveLength(1);
  });
});

it('holds no call up for long', async () => {
  const { promise: isAsked, resolve: silent } = Promise.withResolvers<void>();
  const clock = new FakeClock();
  const saved = (await record(recordingsOf({ ...aWorld(), silent }, clock))).save();
  await isAsked;
  clock.tick(2_000);
  expect(await saved).toBe('kept');
  expect(await spooled()).toHaveLength(1);
});

describe('what is left of jobs that are gone', () => {
  it('is saved once the call is over', async () => {
    const world = aWorld('ongoing');
    const recordings = recordingsOf(world);
    await abandon(recordings);
    expect(await recordings.recover()).toBe(0);
    expect(recordings.waiting).toBe(1);
    world.status = 'error';
    expect(await recordings.recover()).toBe(1);
    expect(recordings.waiting).toBe(0);
    expect(world.added[0]?.durationMs).toBeCloseTo(10_000, -2);
    expect(await spooled()).toEqual([]);
  });

  it('is left alone while its job lives', async () => {
    const world = aWorld();
    const recordings = recordingsOf(world);
    await record(recordings);
    expect(await recordings.recover()).toBe(0);
    expect(await spooled()).toHaveLength(1);
  });

  it('is saved once its job is over, also while the process serves other calls', async () => {
    const world = aWorld();
    const recordings = recordingsOf(world);
    const recording = await record(recordings);
    recording.leave();
    expect(await recordings.recover()).toBe(1);
    expect(await spooled()).toEqual([]);
    // A recording that is saved leaves nothing behind.
    recording.leave();
    expect(await spooled()).toEqual([]);
  });

  it('waits where the storage takes none, and comes when it does', async () => {
    const world = aWorld();
    const recordings = recordingsOf(world);
    await abandon(recordings);
    await writeFile(files(), 'in the way');
    await expect(recordings.recover()).rejects.toThrow(/recordings/);
    expect([recordings.waiting, (await spooled()).length]).toEqual([1, 1]);
    await rm(files());
    expect(await recordings.recover()).toBe(1);
    expect(recordings.waiting).toBe(0);
  });

  it('is taken away where the call has its recording', async () => {
    const world = aWorld();
    const recordings = recordingsOf(world);
    await abandon(recordings);
    world.added.push({ durationMs: 1, bytes: 1 });
    expect(await recordings.recover()).toBe(0);
    expect(world.added).toHaveLength(1);
    expect(await spooled()).toEqual([]);
  });

  it('is deleted with what is in the storage when the call was deleted', async () => {
    const recordings = recordingsOf({ ...aWorld(), status: undefined, deleted: true });
    await abandon(recordings);
    await mkdir(join(files(), 'recordings', org), { recursive: true });
    await writeFile(join(files(), `recordings/${org}/${id}.ogg`), 'of an upload whose job was killed');
    expect(await recordings.recover()).toBe(0);
    expect([recordings.waiting, await spooled(), await storedKeys()]).toEqual([0, [], []]);
  });

  it('is kept for a week when the call is unknown', async () => {
    const world = aWorld(undefined);
    world.status = undefined;
    const recordings = recordingsOf(world);
    await abandon(recordings);
    world.laterMs = 6 * 24 * 3_600_000;
    await recordings.recover();
    expect(await spooled()).toHaveLength(1);
    world.laterMs = 8 * 24 * 3_600_000;
    await recordings.recover();
    expect(await spooled()).toEqual([]);
  });
});
