import { expect, it } from 'vitest';

import { CHAT, SPEECH_TO_TEXT, TEXT_TO_SPEECH } from '../../platform/telemetry/gen-ai/conventions.ts';
import type { ModelAnswer, ModelRequest, RequestOutcome } from '../../platform/telemetry/gen-ai/model-requests.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { countedRequests } from './counted-requests.ts';
import { PriceTable } from './price-table.ts';
import { UsageMeter } from './usage-meter.ts';

const countTokens = async (texts: readonly string[]) => texts.map((text) => text.split(' ').filter(Boolean).length);
const body = JSON.stringify({ messages: [{ role: 'user', content: 'how are you' }] });
const text = 'very well';
const chat: ModelRequest = { operation: CHAT, provider: 'p', model: 'm', streams: true, body };
const failure: RequestOutcome = { failure: 'reset' };

/** Returns the line of one request that ends so. */
async function counted(request: ModelRequest, ...ends: readonly (readonly [RequestOutcome, ModelAnswer?])[]) {
  const meter = new UsageMeter({ prices: new PriceTable([]), clock: new FakeClock() });
  const observed = countedRequests({ meter, purpose: 'conversation', countTokens }).begin(request);
  for (const [outcome, answer] of ends) observed.end(outcome, answer);
  await meter.settled();
  return meter.takeUnstored()?.lines[0];
}

it.each<[string, readonly [RequestOutcome, ModelAnswer?], object]>([
  ['what the provider reports', ['completed', { text, usage: { inputTokens: 11, outputTokens: 5 } }], { inputTokens: 11, outputTokens: 5 }],
  [
    'what it reports in detail, never more cached tokens than tokens',
    ['completed', { usage: { inputTokens: 11, outputTokens: 5, cachedTokens: 64, reasoningTokens: 2 } }],
    { inputTokens: 11, cachedInputTokens: 11, outputTokens: 5, reasoningTokens: 2 },
  ],
  ['an estimate of what is given up in the middle', ['cancelled', { text }], { estimatedRequests: 1, inputTokens: 7, outputTokens: 2 }],
  ['the request that is given up before anything comes', ['cancelled'], { estimatedRequests: 1, inputTokens: 7, outputTokens: 0 }],
  ['an answer that breaks off', [failure, { text }], { estimatedRequests: 1, outputTokens: 2 }],
  ['an answer that reports zeros', ['completed', { text, usage: { inputTokens: 0, outputTokens: 0 } }], { estimatedRequests: 1 }],
])('counts %s', async (_what, end, expected) => {
  expect(await counted(chat, end)).toMatchObject({ kind: 'llm', provider: 'p', model: 'm', requests: 1, ...expected });
});

it('counts each request once, and nothing of one that is refused', async () => {
  expect(await counted(chat, ['completed', { usage: { inputTokens: 1, outputTokens: 1 } }], ['cancelled'])).toMatchObject({ requests: 1 });
  expect(await counted(chat, [failure])).toBeUndefined();
});

it('counts characters and sound of a voice, and leaves speech to text to those who send its sound', async () => {
  const speech: ModelRequest = { operation: TEXT_TO_SPEECH, provider: 'p', model: 'v', streams: true, characters: 12 };
  expect(await counted(speech, ['cancelled', { audioMilliseconds: 300 }])).toMatchObject({
    kind: 'tts',
    requests: 1,
    characters: 12,
    audioMilliseconds: 300,
  });
  expect(await counted(speech, ['cancelled'])).toMatchObject({ requests: 1, characters: 12, audioMilliseconds: 0 });
  expect(await counted(speech, [failure])).toBeUndefined();
  expect(await counted({ operation: SPEECH_TO_TEXT, provider: 'p', streams: false }, ['completed', {}])).toBeUndefined();
});
