import { expect, it } from 'vitest';

import type { ModelUse } from '../../knowledge/model-use.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { CountTokens } from './token-usage.ts';
import { countedSearch } from './counted-search.ts';
import { PriceTable } from './price-table.ts';
import { UsageMeter } from './usage-meter.ts';

const words: CountTokens = async (texts) => texts.map((text) => text.split(' ').length);
const embedding: ModelUse = { kind: 'embedding', provider: 'p', model: 'm', texts: ['how are you'], reported: {} };
const rerank: ModelUse = { ...embedding, kind: 'rerank', texts: [] };

/** Returns the line of a search that makes these requests. */
async function counted(uses: readonly ModelUse[], countTokens = words) {
  const meter = new UsageMeter({ prices: new PriceTable([]), clock: new FakeClock() });
  const search = countedSearch(
    {
      search: async ({ onUse }) => {
        for (const use of uses) onUse?.(use);
        return [];
      },
    },
    { meter, countTokens },
  );
  expect(await search.search({ org: 'acme', knowledgeBase: 'faq', query: 'how are you', topK: 1 })).toEqual([]);
  await meter.settled();
  return meter.takeUnstored()?.lines[0];
}

it.each<[string, readonly ModelUse[], object]>([
  ['reported tokens of a question', [{ ...embedding, reported: { tokens: 7 } }], { kind: 'embedding', requests: 1, inputTokens: 7 }],
  [
    'reported and estimated tokens together',
    [embedding, { ...embedding, reported: { tokens: 7 } }],
    { requests: 2, estimatedRequests: 1, inputTokens: 10 },
  ],
  ['reported tokens of passages', [{ ...rerank, reported: { tokens: 70 } }], { kind: 'rerank', requests: 1, inputTokens: 70 }],
  ['search units in place of requests', [{ ...rerank, reported: { searchUnits: 2 } }, rerank], { requests: 3, inputTokens: 0 }],
])('counts %s', async (_what, uses, expected) => {
  expect(await counted(uses)).toMatchObject({ purpose: 'conversation', provider: 'p', model: 'm', estimatedRequests: 0, ...expected });
});

it('estimates by the length without a tokenizer, and counts nothing where no model is asked', async () => {
  expect(await counted([embedding], () => Promise.reject(new Error('the role is gone')))).toMatchObject({ inputTokens: 3 });
  expect(await counted([])).toBeUndefined();
});
