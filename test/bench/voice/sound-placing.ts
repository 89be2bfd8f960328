/** What it costs to put the sound of a call in its place, before it is encoded: the recorder of calls, and LiveKit's with our patches. */
import { Writable } from 'node:stream';

import { initializeLogger } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';

import { RecorderIO } from '../../../node_modules/@livekit/agents/dist/voice/recorder_io/recorder_io.js';
import { recordWith, type RecorderItem } from '../../../voice/livekit-patches/recorder.ts';
import { CallRecorder } from '../../../voice/recording/call-recorder.ts';
import { RECORDING_RATE } from '../../../voice/recording/encoder/rate.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { interleave } from '../harness/rounds.ts';
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

/** @returns processor time of both, as a share of a core for each call */
export async function placingCosts(rounds: number): Promise<readonly (readonly [recorder: string, share: number])[]> {
  const sounds = [...soundsOf(0, USER), ...soundsOf(1, AGENT).filter(({ atMs }) => atMs % (2 * TURN_MS) < TURN_MS)].toSorted(
    (one, other) => one.atMs - other.atMs,
  );
  initializeLogger({ pretty: false, level: 'silent' });
  recordWith({ rate: RECORDING_RATE, open: nowhere });
  const contenders = {
    'the recorder of calls': () => cpuOf(() => record(sounds)),
    "LiveKit's": () => cpuOf(() => recordWithLiveKit(sounds)),
  };
  const results = await interleave({ rounds, contenders });
  return Object.entries(results).map(([name, runs]) => [name, median(runs) / 1_000 / SECONDS] as const);
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

/** Its type hides what a session's sound goes through. */
interface OpenRecorder {
  inRecord: { close(): Promise<void> };
  outRecord: { _sealOpenSegment(): void; readonly hasPendingData: boolean };
  readonly recordingStartedAt: number;
  readonly chan: { write(item: RecorderItem): Promise<void> };
  start(path: string): Promise<void>;
  close(): Promise<void>;
}

/** As often as it writes. */
const FLUSH_MS = 2_500;

async function recordWithLiveKit(sounds: readonly HeardSound[]): Promise<void> {
  const recorder = new RecorderIO({ agentSession: {} as never }) as unknown as OpenRecorder;
  recorder.inRecord = { close: async () => undefined };
  recorder.outRecord = { _sealOpenSegment: () => undefined, hasPendingData: false };
  await recorder.start('/tmp/none.ogg');
  const { recordingStartedAt: beganAt, chan } = recorder;
  let flushedMs = 0;
  for (const { channel, atMs, samples, sampleRate } of sounds) {
    if (atMs - flushedMs >= FLUSH_MS) {
      await chan.write({ kind: 'flush', until: beganAt + atMs });
      flushedMs = atMs;
    }
    const frame = new AudioFrame(samples, sampleRate, 1, samples.length);
    await chan.write({ kind: 'captured', channel, startedAt: beganAt + atMs, frame });
  }
  await recorder.close();
}
