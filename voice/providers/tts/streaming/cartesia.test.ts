import { expect, it } from 'vitest';

import { cartesiaSpeech } from './cartesia.ts';

const endpoint = { part: 'tts', provider: 'cartesia', protocol: 'own', guarded: false, apiKey: 'k', voice: 'v' } as const;
const begin = () => cartesiaSpeech({ endpoint, language: 'de-AT', temperature: 0.5 }).context('c');
const parsed = (messages: readonly string[]): unknown => messages.map((message) => JSON.parse(message) as unknown);

it('sends the same settings with each input, and a flush after each sentence', () => {
  const context = begin();
  const same = {
    context_id: 'c',
    model_id: 'sonic-3',
    voice: { mode: 'id', id: 'v' },
    output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: 24_000 },
    language: 'de',
    max_buffer_delay_ms: 0,
  };
  expect(parsed([...context.say('Eins.'), ...context.end(), ...context.cancel()])).toEqual([
    { ...same, transcript: 'Eins. ', continue: true },
    { ...same, transcript: '', continue: true, flush: true },
    { ...same, transcript: '', continue: false },
    { context_id: 'c', cancel: true },
  ]);
});

it('takes what a context refuses after its first sentence for its end, which another one may not meet', () => {
  const context = begin();
  const refused = { type: 'error', context_id: 'c', status_code: 400, done: true };
  context.say('Eins.');
  expect(context.read(refused)).toMatchObject([{ type: 'failed', kind: 'refused', status: 400 }]);
  context.say('Zwei.');
  expect(context.read(refused)).toMatchObject([{ type: 'failed', kind: 'runtime' }]);
  expect(context.read({ ...refused, status_code: 401 })).toMatchObject([{ type: 'failed', kind: 'refused' }]);
});
