import { describe, expect, it } from 'vitest';

import { keywordRemarks, takenKeywords } from './keywords.ts';

const phrase = (words: number, of = 'a'): string => Array.from({ length: words }, () => of).join(' ');

describe('what a model takes', () => {
  it.each<[string, string, readonly string[], readonly string[]]>([
    ['deepgram', 'nova-3', ['Aare Bikes', 'Zürich'], ['Aare Bikes', 'Zürich']],
    ['deepgram', 'nova-2-phonecall', ['Aare Bikes', 'Zürich'], ['Zürich']],
    ['deepgram', 'whisper-large', ['Zürich'], []],
    ['elevenlabs', 'scribe_v2_realtime', ['a'.repeat(20), 'a'.repeat(21), phrase(5), phrase(6), '<b>'], ['a'.repeat(20), phrase(5)]],
    ['elevenlabs', 'scribe_v2', ['a'.repeat(50), 'a'.repeat(51)], ['a'.repeat(50)]],
    ['elevenlabs', 'scribe_v1', ['Zürich'], []],
    ['cartesia', 'ink-2', ['Zürich'], ['Zürich']],
    ['cartesia', 'ink-whisper-2025-06-04', ['Zürich'], []],
    ['assemblyai', 'u3-rt-pro', ['a'.repeat(50), 'a'.repeat(51)], ['a'.repeat(50)]],
    ['assemblyai', 'whisper-rt', ['Zürich'], []],
    ['openai', 'gpt-4o-transcribe-diarize', ['Zürich'], []],
    ['google', 'latest_long', [phrase(20)], [phrase(20)]],
  ])('is no more than %s takes with %s', (provider, model, keywords, taken) => {
    expect(takenKeywords(keywords, { provider, model })).toEqual(taken);
  });

  it('keeps to the sum of a request, the first ones first', () => {
    const keywords = Array.from({ length: 100 }, (_, n) => `${String(n).padStart(3, '0')}${'ü'.repeat(20)}`);
    expect(takenKeywords(keywords, { provider: 'deepgram', model: 'nova-3' })).toEqual(keywords.slice(0, 23));
    expect(
      takenKeywords(
        keywords.map((keyword) => keyword.slice(0, 9)),
        { provider: 'elevenlabs', model: 'x_realtime' },
      ),
    ).toHaveLength(50);
  });
});

describe('remarks', () => {
  const remarks = (speechToText: Parameters<typeof keywordRemarks>[0]['speechToText'], language = 'en-US') =>
    keywordRemarks({ language, speechToText }).map(({ path, message }) => `${path} ${message}`);

  it('name the models that take none, fallbacks too', () => {
    expect(
      remarks({ provider: 'cartesia', keywords: ['Aare'], fallbacks: [{ provider: 'deepgram' }, { provider: 'assemblyai' }] }, 'bn'),
    ).toEqual([
      'spec.speechToText.keywords has no effect with cartesia with the model ink-whisper',
      'spec.speechToText.keywords has no effect with the fallback assemblyai with the model whisper-rt',
    ]);
  });

  it('name the words that are left out', () => {
    const keywords = ['one two', 'three four', 'five six', 'seven eight', 'nine', '{{a name}}'];
    expect(remarks({ provider: 'deepgram', model: 'nova-2', keywords })).toEqual([
      'spec.speechToText.keywords leaves out "one two", "three four", "five six" and 1 more with deepgram with the model nova-2: too long, too many, or not one word',
    ]);
  });

  it('are none where all are taken, or there are none', () => {
    expect(remarks({ provider: 'deepgram', keywords: ['Aare Bikes'] })).toEqual([]);
    expect(remarks({ provider: 'azure', keywords: ['Aare Bikes'] })).toEqual([]);
    expect(remarks({ provider: 'cartesia' })).toEqual([]);
  });
});
