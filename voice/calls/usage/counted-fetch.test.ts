import { expect, it } from 'vitest';

import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { ProviderEndpoint, ProviderFetch } from '../provider-access/index.ts';
import { countedFetch } from './counted-fetch.ts';
import { PriceTable } from './price-table.ts';
import { UsageMeter } from './usage-meter.ts';

const endpoint: ProviderEndpoint = { part: 'llm', provider: 'p', protocol: 'openai', guarded: false, model: 'm' };
const words = async (texts: readonly string[]) => texts.map((text) => text.split(' ').filter(Boolean).length);
const body = JSON.stringify({ messages: [{ role: 'user', content: 'how are you' }] });
const delta = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
const usage = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 11, completion_tokens: 5 } })}\n\n`;

function counting(fetch: ProviderFetch) {
  const meter = new UsageMeter({ prices: new PriceTable([]), clock: new FakeClock() });
  return {
    fetch: countedFetch({ meter, purpose: 'conversation', countTokens: words })(fetch, endpoint),
    line: async () => {
      await meter.settled();
      return meter.takeUnstored()?.lines[0];
    },
  };
}

/** Sends these, and then nothing until it is given up. */
const stuckAfter =
  (...parts: readonly string[]): ProviderFetch =>
  async () =>
    new Response(
      new ReadableStream({
        start: (controller) => {
          for (const part of parts) controller.enqueue(Buffer.from(part));
        },
      }),
    );

it('counts what the provider tells, once', async () => {
  const { fetch, line } = counting(async () => new Response(delta('well') + usage));
  const giveUp = new AbortController();
  expect(await (await fetch('http://p', { method: 'POST', body, signal: giveUp.signal })).text()).toBe(delta('well') + usage);
  giveUp.abort();
  expect(await line()).toMatchObject({
    kind: 'llm',
    provider: 'p',
    model: 'm',
    requests: 1,
    estimatedRequests: 0,
    inputTokens: 11,
    outputTokens: 5,
  });
});

it('estimates what is given up in the middle, although nobody reads on', async () => {
  const { fetch, line } = counting(stuckAfter(delta('very '), delta('well')));
  const giveUp = new AbortController();
  const response = await fetch('http://p', { method: 'POST', body, signal: giveUp.signal });
  const reader = response.body!.getReader();
  await reader.read();
  await reader.read();
  giveUp.abort();
  expect(await line()).toMatchObject({ requests: 1, estimatedRequests: 1, inputTokens: 3 + 4, outputTokens: 2 });
});

it('counts the request where it is given up before anything comes', async () => {
  const { fetch, line } = counting(
    (_url, { signal } = {}) => new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error))),
  );
  const giveUp = new AbortController();
  const asking = fetch('http://p', { method: 'POST', body, signal: giveUp.signal });
  giveUp.abort(new Error('late'));
  await expect(asking).rejects.toThrow('late');
  expect(await line()).toMatchObject({ requests: 1, estimatedRequests: 1, inputTokens: 7, outputTokens: 0 });
});

it('counts an answer that breaks off', async () => {
  const broken = new ReadableStream({
    start: (controller) => controller.enqueue(Buffer.from(delta('very'))),
    pull: (controller) => controller.error(new Error('reset')),
  });
  const { fetch, line } = counting(async () => new Response(broken));
  await expect((await fetch('http://p', { method: 'POST', body })).text()).rejects.toThrow('reset');
  expect(await line()).toMatchObject({ requests: 1, estimatedRequests: 1, outputTokens: 1 });
});

it('counts nothing of a request that is refused, and of one without a body', async () => {
  const { fetch, line } = counting(async (_url, { body: sent } = {}) => {
    if (sent !== undefined) throw new Error('refused');
    return new Response('{"usage": {"prompt_tokens": 1}}');
  });
  const giveUp = new AbortController();
  await expect(fetch('http://p', { method: 'POST', body, signal: giveUp.signal })).rejects.toThrow('refused');
  giveUp.abort();
  await (await fetch('http://p/models')).text();
  expect(await line()).toBeUndefined();
});
