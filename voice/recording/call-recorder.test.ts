import { Writable } from 'node:stream';

import { dispose } from '@livekit/rtc-node';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';

import type { Clock } from '../../platform/clock.ts';
import type { Sound } from '../../platform/wav.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { CallRecorder } from './call-recorder.ts';
import { RECORDING_RATE } from './encoder/rate.ts';
import { positionOf } from './timeline.ts';

afterAll(dispose);

function aRecording({ clock, from = clock }: { readonly clock: FakeClock; readonly from?: Clock }) {
  const written: Uint8Array[] = [];
  const starts: number[] = [];
  const output = new Writable({
    write: (pcm: Uint8Array, _encoding, done) => {
      written.push(pcm);
      done();
    },
  });
  const recorder = new CallRecorder({
    file: 'a.ogg',
    encoder: { open: () => output },
    clock: from,
    onStart: () => starts.push(clock.now()),
  });
  const side = (channel: 0 | 1): Int16Array => {
    const bytes = Buffer.concat(written);
    const both = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
    return Int16Array.from({ length: both.length / 2 }, (_, at) => both[2 * at + channel]!);
  };
  return {
    recorder,
    output,
    written,
    starts,
    beganAt: clock.now(),
    left: () => side(0),
    right: () => side(1),
  };
}

/** Numbers samples from 1 upwards, so that each tells which one it is. */
const numbered = (length: number, first = 0): Int16Array => Int16Array.from({ length }, (_, at) => 1 + ((first + at) % 30_000));

const soundOf = (ms: number, sampleRate = RECORDING_RATE): Sound => ({ samples: numbered((ms * sampleRate) / 1_000), sampleRate });

/** Returns the part that is not silent. */
const heardIn = (samples: Int16Array): { readonly from: number; readonly until: number } => ({
  from: samples.findIndex((sample) => sample !== 0),
  until: samples.findLastIndex((sample) => sample !== 0) + 1,
});

describe('sound of both sides', () => {
  interface Frame {
    readonly atMs: number;
    readonly arrivesMs: number;
    readonly samples: Int16Array;
  }

  /**
   * Generates sound in frames, after a silence or right after the sound before it. With `burst` all of it arrives at once, when it is
   * over.
   */
  const part = fc.record({
    pauseMs: fc.oneof(fc.constant(0), fc.integer({ min: 300, max: 6_000 })),
    frameMs: fc.constantFrom(10, 20, 100, 1_000),
    frames: fc.integer({ min: 1, max: 30 }),
    burst: fc.boolean(),
    jitterMs: fc.array(fc.nat(80), { minLength: 30, maxLength: 30 }),
  });
  const side = fc.array(part, { maxLength: 4 });
  type Part = typeof part extends fc.Arbitrary<infer P> ? P : never;

  function framesOf(parts: readonly Part[]) {
    const frames: Frame[] = [];
    const placed: { readonly start: number; readonly samples: Int16Array }[] = [];
    let heardMs = 0;
    let arrivedMs = 0;
    let position = 0;
    for (const { pauseMs, frameMs, frames: count, burst, jitterMs } of parts) {
      const number = frameMs === 1_000 ? Math.min(3, count) : count;
      heardMs += pauseMs;
      const overMs = heardMs + number * frameMs + 100;
      for (let index = 0; index < number; index += 1) {
        const atMs = heardMs + jitterMs[index]!;
        const samples = numbered((RECORDING_RATE * frameMs) / 1_000, positionOf(heardMs));
        // Sound that is later than two seconds would be lost.
        arrivedMs = Math.max(arrivedMs, burst ? Math.min(overMs, atMs + 1_900) : atMs + frameMs);
        frames.push({ atMs, arrivesMs: arrivedMs, samples });
        const follows = placed.length > 0 && (index > 0 || pauseMs === 0);
        position = follows ? position : positionOf(atMs);
        placed.push({ start: position, samples });
        position += samples.length;
        heardMs += frameMs;
      }
    }
    return { frames, placed };
  }

  it('is found where it was heard, to the sample, with jitter, gaps, mutes and bursts', async () => {
    await fc.assert(
      fc.asyncProperty(side, side, async (userParts, agentParts) => {
        const [user, agent] = [framesOf(userParts), framesOf(agentParts)];
        const clock = new FakeClock();
        const { recorder, beganAt, left, right } = aRecording({ clock });
        const arrivals = [
          ...user.frames.map((frame) => ({ ...frame, channel: 'user' as const })),
          ...agent.frames.map((frame) => ({ ...frame, channel: 'agent' as const })),
        ].toSorted((one, other) => one.arrivesMs - other.arrivesMs);
        for (const { channel, atMs, arrivesMs, samples } of arrivals) {
          clock.tick(beganAt + arrivesMs - clock.now());
          recorder[channel]({ samples, sampleRate: RECORDING_RATE }, beganAt + atMs);
        }
        clock.tick(500);
        await recorder.close();
        for (const [recorded, { placed }] of [
          [left(), user],
          [right(), agent],
        ] as const) {
          const expected = new Int16Array(positionOf(clock.monotonic()));
          for (const { start, samples } of placed) expected.set(samples, start);
          expect(Buffer.compare(bytesOf(recorded), bytesOf(expected))).toBe(0);
        }
        expect(clock.timers).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  it('is resampled from any rate, and stays in its place', async () => {
    const clock = new FakeClock();
    const { recorder, beganAt, left, right } = aRecording({ clock });
    const clicksMs = [40, 333, 700, 2_410, 2_760];
    const frames = (sampleRate: number, frameMs: number): readonly { readonly sound: Sound; readonly atMs: number }[] =>
      // The gap is from 1,000 to 2,400 ms.
      [0, 2_400].flatMap((fromMs) =>
        Array.from({ length: 1_000 / frameMs }, (_, index) => {
          const atMs = fromMs + index * frameMs;
          const samples = new Int16Array((sampleRate * frameMs) / 1_000);
          for (const clickMs of clicksMs)
            if (clickMs >= atMs && clickMs < atMs + frameMs) samples[((clickMs - atMs) * sampleRate) / 1_000] = 20_000;
          return { sound: { samples, sampleRate }, atMs };
        }),
      );
    for (const { sound, atMs } of frames(16_000, 20)) recorder.user(sound, beganAt + atMs);
    for (const { sound, atMs } of frames(48_000, 100)) recorder.agent(sound, beganAt + atMs);
    clock.tick(3_400);
    await recorder.close();
    for (const recorded of [left(), right()]) {
      expect(recorded.length).toBe(positionOf(3_400));
      for (const clickMs of clicksMs) {
        const around = positionOf(clickMs);
        const window = recorded.subarray(around - 200, around + 200);
        const peak = window.reduce((best, sample, at) => (sample > window[best]! ? at : best), 0);
        expect(Math.abs(peak - 200)).toBeLessThanOrEqual(1);
        expect(window[peak]).toBeGreaterThan(5_000);
      }
    }
  });

  it('goes on without a gap in another rate', async () => {
    const clock = new FakeClock();
    const { recorder, beganAt, right } = aRecording({ clock });
    recorder.agent(soundOf(300), beganAt);
    recorder.agent({ samples: new Int16Array(16_000 * 0.3).fill(5_000), sampleRate: 16_000 }, beganAt + 340);
    clock.tick(1_000);
    await recorder.close();
    expect(right().subarray(0, positionOf(300))).toEqual(soundOf(300).samples);
    expect(heardIn(right())).toEqual({ from: 0, until: positionOf(600) });
  });
});

describe('a recording', () => {
  it('counts from its start, and lasts until it is closed', async () => {
    const clock = new FakeClock();
    const { recorder, beganAt, starts, left } = aRecording({ clock });
    expect(starts).toEqual([beganAt]);
    clock.tick(4_321);
    const closing = recorder.close();
    recorder.user(soundOf(100), beganAt);
    await closing;
    await recorder.close();
    expect(left()).toEqual(new Int16Array(positionOf(4_321)));
    expect(clock.timers).toBe(0);
  });

  it('waits two seconds for sound that is late, and loses what comes later still', async () => {
    const clock = new FakeClock();
    const { recorder, beganAt, left, right } = aRecording({ clock });
    clock.tick(5_000);
    // Silence is written up to 3,000 ms.
    recorder.user(soundOf(500), beganAt + 3_000);
    recorder.agent(soundOf(500), beganAt + 2_800);
    recorder.agent(soundOf(500), beganAt + 2_000);
    clock.tick(500);
    await recorder.close();
    expect(heardIn(left())).toEqual({ from: positionOf(3_000), until: positionOf(3_500) });
    expect(heardIn(right())).toEqual({ from: positionOf(3_000), until: positionOf(3_300) });
  });

  it('keeps the sound of a process that stood still', async () => {
    const clock = new FakeClock();
    let stoodStillMs = 0;
    const from: Clock = {
      now: () => clock.now() + stoodStillMs,
      monotonic: () => clock.monotonic() + stoodStillMs,
      after: (ms, callback) => clock.after(ms, callback),
    };
    const { recorder, beganAt, left } = aRecording({ clock, from });
    const expected = new Int16Array(positionOf(14_000));
    const hears = (atMs: number): void => {
      recorder.user({ samples: numbered(positionOf(100), positionOf(atMs)), sampleRate: RECORDING_RATE }, beganAt + atMs);
      expected.set(numbered(positionOf(100), positionOf(atMs)), positionOf(atMs));
    };
    for (let atMs = 0; atMs < 2_500; atMs += 100) {
      clock.tick(100);
      hears(atMs);
    }
    // The timer that fell due meanwhile goes first.
    stoodStillMs = 10_000;
    clock.tick(500);
    for (let atMs = 2_500; atMs < 13_000; atMs += 100) hears(atMs);
    clock.tick(1_000);
    await recorder.close();
    expect(Buffer.compare(bytesOf(left()), bytesOf(expected))).toBe(0);
  });

  it('is written while it lasts: a long silence is never held', () => {
    const clock = new FakeClock();
    const { written } = aRecording({ clock });
    clock.tick(600_000);
    const lengths = written.map(({ length }) => length);
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(4 * positionOf(598_000));
    expect(Math.max(...lengths)).toBe(4 * RECORDING_RATE);
  });

  it('ends with sound that nothing can resample, and the call goes on', async () => {
    const clock = new FakeClock();
    const { recorder, beganAt } = aRecording({ clock });
    recorder.user({ samples: numbered(160), sampleRate: 0 }, beganAt);
    recorder.user(soundOf(100), beganAt);
    expect(clock.timers).toBe(0);
    await expect(recorder.close()).rejects.toThrow(/\S/);
  });

  it('ends with the failure of its encoder', async () => {
    const clock = new FakeClock();
    const { recorder, beganAt, output } = aRecording({ clock });
    output.destroy(new Error('no space left'));
    await clock.advance(5_000);
    recorder.user(soundOf(100), beganAt);
    expect(clock.timers).toBe(0);
    await expect(recorder.close()).rejects.toThrow('no space left');
  });
});

function bytesOf(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}
