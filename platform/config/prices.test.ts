import { readFile } from 'node:fs/promises';

import { expect, it } from 'vitest';
import { parse } from 'yaml';

import { loadConfig } from './config.ts';
import { EXAMPLE_PRICES } from './prices.ts';

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
const load = (prices: unknown) => loadConfig({ PARLEY_PRICES: typeof prices === 'string' ? prices : JSON.stringify(prices) }).PARLEY_PRICES;

it('are in the documentation and in the values of the chart as they are accepted', async () => {
  const [, block = ''] = /```yaml\n(config:\n {2}PARLEY_PRICES:\n[^]*?)```/.exec(await read('docs/operations/usage.md')) ?? [];
  const [, commented = ''] = /# PARLEY_PRICES: .*\n.*Such as.*\n((?: +# +- \{.*\n)+)/.exec(await read('charts/parley/values.yaml')) ?? [];
  const documented = (parse(block) as { readonly config: { readonly PARLEY_PRICES: unknown } }).config.PARLEY_PRICES;
  expect(documented).toEqual(EXAMPLE_PRICES);
  expect(parse(commented.replaceAll(/^ *# ?/gm, ''))).toEqual(EXAMPLE_PRICES);
  expect(load(documented)).toHaveLength(EXAMPLE_PRICES.length);
});

const [llm, stt] = EXAMPLE_PRICES;
it.each<[string, unknown, RegExp]>([
  ['no JSON', '[{', /PARLEY_PRICES: must be a JSON array/],
  ['no list', { kind: 'llm' }, /PARLEY_PRICES: /],
  ['an unknown field', [{ ...stt, perSecond: '1' }], /PARLEY_PRICES\.0: .*perSecond/],
  [
    'half a price',
    [llm, { kind: 'llm', provider: 'p', currency: 'USD' }],
    /PARLEY_PRICES\.1: a price of kind llm needs inputPerMillionTokens/,
  ],
  ['an amount that is none', [{ ...stt, perMinute: 'cheap' }], /PARLEY_PRICES\.0\.perMinute: must be an amount like 0\.15/],
  ['two currencies', [llm, { ...stt, currency: 'EUR' }], /PARLEY_PRICES: prices are in USD and EUR: write all in one currency/],
  ['a price twice', [stt, stt], /PARLEY_PRICES: stt deepgram has two prices: remove one/],
])('keep a role from starting where they are %s', (_what, prices, message) => {
  expect(() => load(prices)).toThrow(message);
});
