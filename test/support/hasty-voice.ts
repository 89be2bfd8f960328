/** Makes a voice whose sound is heard as fast as it comes. */
import type { AudioFrame } from '@livekit/rtc-node';

import { systemClock } from '../../platform/clock.ts';
import type { SpeechSynthesizer } from '../../voice/providers/index.ts';
import { Playout } from '../../voice/sound/playout.ts';
import { SpokenVoice } from '../../voice/sound/spoken-voice.ts';
import { TextNormalizer } from '../../voice/text-normalization/index.ts';

export interface HastyVoice {
  readonly voice: SpokenVoice;
  /** Samples that were heard. */
  readonly samples: number[];
  /** Resolves when the voice's only speech is over. @throws the error that it fails with */
  readonly silent: Promise<void>;
}

/** @param onSound called with each sound */
export function hastyVoice(synthesizer: SpeechSynthesizer, onSound: () => void = () => undefined): HastyVoice {
  const samples: number[] = [];
  const silent = Promise.withResolvers<void>();
  silent.promise.catch(() => undefined);
  const sink = {
    queuedDuration: 0,
    async captureFrame({ data }: AudioFrame) {
      onSound();
      for (const sample of data) samples.push(sample);
    },
    clearQueue: () => undefined,
  };
  const voice = new SpokenVoice({
    synthesizer,
    normalizer: new TextNormalizer({ language: 'en-US' }),
    clock: systemClock,
    report: ({ type }) => type === 'silent' && silent.resolve(),
    fail: (error) => silent.reject(error),
    playout(heard) {
      const playout = new Playout({ ...heard, sink, clock: systemClock });
      playout.open();
      return playout;
    },
  });
  return { voice, samples, silent: silent.promise };
}
