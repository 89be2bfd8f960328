/** What it costs to put the sound of a call in its place, before it is encoded. */
import { Writable } from 'node:stream';

import { CallRecorder } from '../../../voice/recording/call-recorder.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { median } from '../harness/stats.ts';

const SECONDS = 120;
/** As the sound comes in a call: of the user from the room, of the agent from its voice. */
const USER = { sampleRate: 16_000, frameMs: 32 } as const;
const AGENT = { sampleRate: 24_000, frameMs: 100 } as const;
/** The agent speaks and is silent in turn. */
const TURN_MS = 5_000;

interface HeardSound {
  readonly channel: 0 | 1;
  /** From the beginning. */
  readonly atMs: number;
  readonly samples: Int16Array<ArrayBuffer>;
  readonly sampleRate: number;
}

/** @returns processor time, as a share of a core for each call */
export async function placingCost(rounds: number): Promise<number> {
  const sounds = [...soundsOf(0, USER), ...soundsOf(1, AGENT).filter(({ atMs }) => atMs % (2 * TURN_MS) < TURN_MS)].toSorted(
    (one, other) => one.atMs - other.atMs,
  );
  const runs: number[] = [];
  // The first finds nothing warm.
  for (let round = 0; round <= rounds; round += 1) runs.push(await cpuOf(() => record(sounds)));
  return median(runs.slice(1)) / 1_000 / SECONDS;
}

function soundsOf(
  channel: 0 | 1,
  { sampleRate, frameMs }: { readonly sampleRate: number; readonly frameMs: number },
): readonly HeardSound[] {
  const length = (sampleRate * frameMs) / 1_000;
  return Array.from({ length: Math.floor((SECONDS * 1_000) / frameMs) }, (_, index) => ({
    channel,
    atMs: index * frameMs,
    samples: Int16Array.from({ length }, (_sample, at) => 8_000 * Math.sin((index * length + at) / 20)),
    sampleRate,
  }));
}

const nowhere = (): Writable => new Writable({ write: (_pcm, _encoding, done) => done() });

async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

async function record(sounds: readonly HeardSound[]): Promise<void> {
  const clock = new FakeClock();
  const beganAt = clock.now();
  const recorder = new CallRecorder({ file: '', encoder: { open: nowhere }, clock, onStart: () => undefined });
  for (const { channel, atMs, samples, sampleRate } of sounds) {
    clock.tick(beganAt + atMs - clock.now());
    if (channel === 0) recorder.user({ samples, sampleRate }, beganAt + atMs);
    else recorder.agent({ samples, sampleRate }, beganAt + atMs);
  }
  await recorder.close();
}
