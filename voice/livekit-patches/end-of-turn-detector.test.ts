import { initializeLogger } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { syntheticSpeech } from '../../test/support/synthetic-speech.ts';
import { EndOfTurnDetector, endOfTurnDelayMs } from './end-of-turn-detector.ts';
import { SharedTurnDetector } from './shared-turn-detector.ts';

const delays = { sureMs: 300, silenceMs: 500, longestMs: 3_000 };
const logger = createLogger({ role: 'voice', level: 'silent' });
const sampleRate = 16_000;

beforeAll(() => initializeLogger({ pretty: false, level: 'silent' }));

describe('the delay', () => {
  it('is short for a detector that is sure, long for one that is sure of the opposite, and falls in between', () => {
    expect(endOfTurnDelayMs(0.36, 0.36, delays)).toBe(300);
    expect(endOfTurnDelayMs(0.99, 0.36, delays)).toBe(300);
    expect(endOfTurnDelayMs(0, 0.36, delays)).toBe(3_000);
    const between = [0.05, 0.1, 0.2, 0.3].map((probability) => endOfTurnDelayMs(probability, 0.36, delays));
    expect(between).toEqual(between.toSorted((left, right) => right - left));
  });
});

describe('a turn', () => {
  let clock: FakeClock;
  let detector: EndOfTurnDetector;
  const doInference = vi.fn<(method: string, data: unknown) => Promise<unknown>>();
  const warn = vi.spyOn(logger, 'warn');

  beforeEach(() => {
    clock = new FakeClock();
    detector = new EndOfTurnDetector({ delays, language: 'en-US', clock, logger, executor: { doInference } });
    warn.mockClear();
  });
  afterEach(() => detector.aclose());

  /** @returns after how much silence it is over, in milliseconds: the library asks after a quarter of a second */
  async function endOfTurn(): Promise<number> {
    const stream = detector.stream();
    const { await: over } = stream.predict();
    let isOver = false;
    const ended = over.finally(() => (isOver = true));
    const from = clock.monotonic();
    while (!isOver) {
      clock.tick(10);
      await new Promise(setImmediate);
    }
    expect((await ended).endOfTurnProbability).toBe(1);
    const at = clock.monotonic() + 250;
    expect(stream.predictionTimeout).toBeGreaterThan(at);
    return at - from;
  }

  it.each([
    ['en-US', 0.36, 300],
    ['it-IT', 0.36, 300],
    ['ko', 0.4, 300],
    ['fi', 0.36, 300],
    ['en', 0.18, 640],
    ['en', 0, 3_000],
  ])('in %s with a probability of %d is over after %d ms', async (language, probability, ms) => {
    detector = new EndOfTurnDetector({ delays, language, clock, logger, executor: { doInference } });
    doInference.mockResolvedValue({ probability });
    expect(Math.abs((await endOfTurn()) - ms)).toBeLessThanOrEqual(10);
    expect(warn).not.toHaveBeenCalled();
  });

  it.each([
    ['fails', () => Promise.reject(new Error('no binding'))],
    ['never answers', () => new Promise(() => undefined)],
  ])('is over after the fixed silence where the detector %s, and the log says so once', async (_case, answer) => {
    doInference.mockImplementation(answer);
    expect(await endOfTurn()).toBe(500);
    expect(await endOfTurn()).toBe(500);
    expect(warn).toHaveBeenCalledOnce();
    expect(warn.mock.calls[0]![1]).toContain('turnDetection.mode: silence');
  });
});

describe('the shared model', () => {
  it('judges the sound of any call', async () => {
    const shared = new SharedTurnDetector(logger);
    await shared.start();
    const detector = new EndOfTurnDetector({
      delays: { sureMs: 0, silenceMs: 60_000, longestMs: 0 },
      language: 'en',
      clock: new FakeClock(),
      logger,
      executor: { doInference: async (method, data) => results.push(await shared.doInference(method, data)) && results.at(-1) },
    });
    const results: { readonly probability: number }[] = [];
    const stream = detector.stream();
    const sound = syntheticSpeech({ sampleRate, ms: 1_200 });
    stream.pushAudio(new AudioFrame(sound, sampleRate, 1, sound.length));
    await new Promise(setImmediate);
    void stream.predict();
    await expect.poll(() => results).toHaveLength(1);
    expect(results[0]!.probability).toBeGreaterThan(0);
    expect(results[0]!.probability).toBeLessThan(1);
    await detector.aclose();
  });

  it.each([
    ['is missing', () => undefined],
    [
      'does not load',
      () => {
        throw new Error('out of memory');
      },
    ],
  ])('that %s is one line in the log, and answers with an error', async (_case, load) => {
    const warn = vi.spyOn(logger, 'warn').mockClear();
    const shared = new SharedTurnDetector(logger, load);
    await shared.start();
    expect(shared.isAlive).toBe(true);
    expect(warn).toHaveBeenCalledOnce();
    await expect(shared.doInference('', { pcm: '' })).rejects.toThrow('did not load');
  });
});
