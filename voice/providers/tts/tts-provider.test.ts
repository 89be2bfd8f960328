import { expect, it } from 'vitest';

import { bytesOf, loudness, tone } from '../../../test/support/tones.ts';
import type { SpeechSource } from './speech-source.ts';
import { TtsProvider } from './tts-provider.ts';

const SOUND = tone({ frequency: 440, seconds: 0.3, sampleRate: 24_000, volume: 0.2 });

async function heardAt(volume: number | undefined): Promise<number> {
  const source: SpeechSource = {
    model: 'm',
    atOnce: 1,
    connect: () => undefined,
    async *soundOf() {
      yield bytesOf(SOUND);
    },
    close: () => undefined,
  };
  const voice = new TtsProvider({ provider: 'openai', source, ...(volume !== undefined && { volume }) });
  const sentence = { text: 'Hi', before: '', answer: { complete: AbortSignal.abort() }, signal: new AbortController().signal };
  const samples: number[] = [];
  for await (const { data } of await voice.request(sentence)) samples.push(...data);
  expect(samples).toHaveLength(SOUND.length);
  return loudness(Int16Array.from(samples)) / loudness(SOUND);
}

it.each([
  [undefined, 1],
  [1, 1],
  [0.25, 0.25],
  [2, 2],
  [0, 0],
])('is heard at the volume %s', async (volume, expected) => {
  expect(await heardAt(volume)).toBeCloseTo(expected, 2);
});
