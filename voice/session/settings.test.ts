import { describe, expect, it } from 'vitest';

import { agentKind } from '../../crds/agent.ts';
import { conversationSettingsOf } from './settings.ts';

const settingsOf = (change: Readonly<Record<string, unknown>> = {}) =>
  conversationSettingsOf(
    agentKind.spec.parse({
      llm: { model: 'm' },
      speechToText: { provider: 'openai' },
      textToSpeech: { provider: 'openai' },
      ...change,
    }),
  );

describe('settings of an agent', () => {
  it('have defaults', () => {
    const { session, vad, endOfTurn, endAfterSilenceMs, maxDurationMs, ambient, interruptions } = settingsOf();
    expect(session.turnHandling).toMatchObject({
      turnDetection: 'vad',
      endpointing: { mode: 'fixed', minDelay: 300, maxDelay: 3000 },
      interruption: {
        enabled: true,
        mode: 'vad',
        minDuration: 500,
        minWords: 0,
        falseInterruptionTimeout: 2000,
        resumeFalseInterruption: true,
      },
      preemptiveGeneration: { enabled: true },
    });
    expect(session).toMatchObject({ maxToolSteps: 7, aecWarmupDuration: null, userAwayTimeout: null });
    expect(vad).toEqual({ minSpeechDuration: 50, minSilenceDuration: 250 });
    expect(endOfTurn).toEqual({ sureMs: 300, silenceMs: 500, longestMs: 3000 });
    expect({ endAfterSilenceMs, maxDurationMs, ambient }).toEqual({
      endAfterSilenceMs: 30_000,
      maxDurationMs: 1_800_000,
      ambient: undefined,
    });
    expect(interruptions).toEqual({ enabled: true, minSpeechMs: 500, minWords: 0 });
  });

  it.each([
    ['0s', 0, 3000, 100],
    ['200ms', 200, 3000, 200],
    ['2s', 2000, 3000, 250],
    ['15s', 15_000, 15_000, 250],
  ])('a fixed delay of %s after speech', (endOfSpeechDelay, minDelay, maxDelay, minSilenceDuration) => {
    const { session, vad, endOfTurn } = settingsOf({ turnDetection: { mode: 'silence', endOfSpeechDelay } });
    expect(endOfTurn).toBeUndefined();
    expect(session.turnHandling?.endpointing).toMatchObject({ minDelay, maxDelay });
    expect(vad.minSilenceDuration).toBe(minSilenceDuration);
  });

  it.each([
    ['299ms', undefined],
    ['300ms', { sureMs: 180, silenceMs: 300, longestMs: 3000 }],
    ['15s', { sureMs: 9_000, silenceMs: 15_000, longestMs: 15_000 }],
  ])('delays of a detector around %s', (endOfSpeechDelay, endOfTurn) => {
    expect(settingsOf({ turnDetection: { endOfSpeechDelay } }).endOfTurn).toEqual(endOfTurn);
  });

  it('no speech is shorter than what is reported: with a shortest duration of nothing, silence would interrupt', () => {
    expect(settingsOf({ interruptions: { minSpeechDuration: '0s' } }).session.turnHandling?.interruption?.minDuration).toBe(50);
  });

  it('ambient sound is none, or one that can be heard', () => {
    expect(settingsOf({ ambientSound: { source: 'cafe', volume: 0.5 } }).ambient).toEqual({ source: 'cafe', volume: 0.5 });
    expect(settingsOf({ ambientSound: { source: 'cafe', volume: 0 } }).ambient).toBeUndefined();
  });
});
