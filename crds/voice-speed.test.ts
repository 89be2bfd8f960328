import { describe, expect, it } from 'vitest';

import { speedFor, speedRemarks } from './voice-speed.ts';

describe('the speed that is asked for', () => {
  it.each([
    ['elevenlabs', undefined, 1.1, 1.1],
    ['elevenlabs', 'eleven_flash_v2_5', 2, 1.2],
    ['elevenlabs', undefined, 0.5, 0.7],
    ['cartesia', undefined, 0.5, 0.6],
    ['cartesia', 'sonic-3.5-2026-05-04', 1.5, 1.5],
    ['cartesia', 'sonic-2', 1.5, undefined],
    ['deepgram', undefined, 2, 1.5],
    ['deepgram', 'aura-2-celeste-es', 0.7, 0.7],
    ['deepgram', 'aura-asteria-en', 1.2, undefined],
    ['deepgram', 'aura-2-julius-de', 1.2, undefined],
    ['openai', 'tts-1', 2, 2],
    ['azure', undefined, 0.5, 0.5],
    ['google', undefined, 1, undefined],
  ])('of %s with %s for %d is %s', (provider, model, speed, expected) => {
    expect(speedFor(speed, { provider, model })).toBe(expected);
  });
});

describe('remarks', () => {
  it('name voices that take none, or less, fallbacks too', () => {
    const fallbacks = [{ provider: 'deepgram', voice: { name: 'aura-asteria-en' } }, { provider: 'azure' }];
    expect(speedRemarks({ provider: 'elevenlabs', speed: '1.5', fallbacks })).toEqual([
      { path: 'spec.textToSpeech.speed', message: 'is 1.2 with elevenlabs, which goes no further' },
      { path: 'spec.textToSpeech.speed', message: 'has no effect with the fallback deepgram with the model aura-asteria-en' },
    ]);
  });

  it('are none where all of it is taken, or nothing is asked for', () => {
    expect(speedRemarks({ provider: 'elevenlabs', speed: '1.2' })).toEqual([]);
    expect(speedRemarks({ provider: 'cartesia', model: 'sonic-2', speed: '1.0' })).toEqual([]);
    expect(speedRemarks({ provider: 'cartesia', model: 'sonic-2' })).toEqual([]);
  });
});
