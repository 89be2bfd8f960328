/** Tests when a sentence is said, which ElevenLabs doesn't tell by itself. */
import { beforeEach, expect, it } from 'vitest';

import type { TtsContext, TtsStreamEvent } from './protocol.ts';
import { elevenLabsSpeech } from './elevenlabs.ts';

const SENTENCE = 'We open at 9, e.g. on Monday.';
let context: TtsContext;

beforeEach(() => {
  const endpoint = { part: 'tts', provider: 'elevenlabs', protocol: 'own', guarded: false, apiKey: 'k' } as const;
  context = elevenLabsSpeech({ endpoint, language: 'en', temperature: 0.5 })!.context('c');
});

const read = (message: object): readonly TtsStreamEvent['type'][] => context.read({ contextId: 'c', ...message }).map(({ type }) => type);
const piece = (text: string): readonly TtsStreamEvent['type'][] => read({ audio: 'AAA=', alignment: { chars: text.split('') } });

it('begins with the settings of the voice, once', () => {
  const messages = ['One.', 'Two.'].flatMap((text) => context.say(text)).map((message) => JSON.parse(message) as unknown);
  expect(messages).toEqual([
    { text: ' ', voice_settings: { stability: 0.5, similarity_boost: 0.75 }, context_id: 'c' },
    { text: 'One. ', flush: true, context_id: 'c' },
    { text: 'Two. ', flush: true, context_id: 'c' },
  ]);
});

it('is said with its last character, whatever the spaces', () => {
  for (let answer = 0; answer < 2; answer += 1) {
    context.say(SENTENCE);
    expect(piece('We  open at 9, ')).toEqual(['sound']);
    expect(piece('e.g.on Monday')).toEqual(['sound']);
    expect(piece('. ')).toEqual(['sound', 'said']);
    // The last letter may go on in one more sound.
    expect(read({ audio: 'AAA=', alignment: null, error: null })).toEqual(['sound']);
  }
});

it('may be said where nearly all of it is aligned, or nothing at all', () => {
  context.say(SENTENCE);
  expect(read({ audio: 'AAA=', alignment: null })).toEqual(['sound']);
  expect(context.mayBeSaid?.()).toBe(true);
  piece('We open at 9');
  expect(context.mayBeSaid?.()).toBe(false);
  expect(piece(', e.g. on Monda')).toEqual(['sound']);
  expect(context.mayBeSaid?.()).toBe(true);
});

it('is said as the last one when its context is closed, and not before', () => {
  context.say(SENTENCE);
  expect(context.end().map((message) => JSON.parse(message) as unknown)).toEqual([{ close_context: true, context_id: 'c' }]);
  expect(piece(SENTENCE)).toEqual(['sound']);
  expect(context.mayBeSaid?.()).toBe(false);
  expect(context.cancel()).toEqual([]);
  expect(read({ isFinal: true, audio: null })).toEqual(['closed']);
});

it('says nothing of what it does not know', () => {
  context.say(SENTENCE);
  for (const message of [{}, { audio: null, isFinal: null }, { alignment: { chars: 'a' } }]) expect(read(message)).toEqual([]);
});
