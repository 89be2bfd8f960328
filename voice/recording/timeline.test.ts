import { describe, expect, it } from 'vitest';

import { mulberry } from '../../platform/mulberry.ts';
import { RECORDING_RATE } from './encoder/rate.ts';
import { endOf, place, positionOf, type Run } from './timeline.ts';

const TOLERANCE_MS = 100;
const atSecond = { open: true, end: RECORDING_RATE };

describe('new sound', () => {
  it.each([
    ['where the last ends', { atMs: 1_000 }, atSecond, { start: 24_000, lost: 0 }],
    ['as a continuation, a little late', { atMs: 1_100 }, atSecond, { start: 24_000, lost: 0 }],
    ['as a continuation, a little early', { atMs: 900 }, atSecond, { start: 24_000, lost: 0 }],
    ['in its own place after a gap', { atMs: 1_101 }, atSecond, { start: 26_424, lost: 0 }],
    ['without its beginning where that is too early', { atMs: 899 }, atSecond, { start: 24_000, lost: 1_616 }],
    ['nowhere where it ends too early', { atMs: 500 }, atSecond, { start: 24_000, lost: 3_200 }],
    ['in its own place where there is nothing to continue', { atMs: 1_050 }, { ...atSecond, open: false }, { start: 25_200, lost: 0 }],
    ['without what is older than the recording', { atMs: -50 }, { open: false, end: 0 }, { start: 0, lost: 800 }],
  ])('begins %s', (_, { atMs }, channel, placed) => {
    expect(place({ atMs, sampleRate: 16_000, length: 3_200 }, channel)).toEqual(placed);
  });

  it.each([
    ['runs a little fast', 1.0003],
    ['runs a little slow', 0.9997],
  ])('stays where it was heard for an hour, also where its clock %s', (_, speed) => {
    const random = mulberry(1);
    const frameMs = 20;
    let run: Run | undefined;
    let farthest = 0;
    let runs = 0;
    for (let heardMs = 0; heardMs < 3_600_000; heardMs += frameMs * speed) {
      // Frames arrive late by chance.
      const atMs = heardMs + 40 * random();
      const sound = { atMs, sampleRate: 48_000, length: (48_000 * frameMs) / 1_000 };
      const end: number = run === undefined ? 0 : endOf(run);
      const { start, lost } = place(sound, { end, open: run !== undefined });
      if (run === undefined || start !== end) {
        run = { start: Math.round(start), sampleRate: sound.sampleRate, length: 0 };
        runs += 1;
      }
      if (lost === 0) farthest = Math.max(farthest, Math.abs(endOf(run) - positionOf(atMs)));
      run = { ...run, length: run.length + sound.length - lost };
    }
    expect(farthest).toBeLessThanOrEqual(positionOf(TOLERANCE_MS));
    // The clocks differ by a second in an hour.
    expect(runs).toBeLessThan(40);
  });
});
