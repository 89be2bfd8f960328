/** Holds docs/first-agent.md against what the command knows, and its amounts against the prices that they were reckoned with. */
import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { EXAMPLE_PRICES } from '../../platform/config/prices.ts';
import { KNOWN_PROVIDERS, type KnownProvider } from './catalogue.ts';

const page = readFileSync(new URL('../../docs/first-agent.md', import.meta.url), 'utf8');
const rowsOf = (heading: string): readonly (readonly string[])[] => {
  const section = page.split(/^## /m).find((text) => text.startsWith(heading)) ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
};

it('names every provider with its variables, its model and its parts', () => {
  const rows = Object.entries(KNOWN_PROVIDERS as Readonly<Record<string, KnownProvider>>).map(
    ([name, { variables, addresses, model }]) => ({
      name,
      variables,
      llm: addresses.llm !== undefined,
      stt: addresses.stt !== undefined,
      tts: addresses.tts !== undefined,
      model,
    }),
  );
  const documented = rowsOf('Providers').map(([name = '', key = '', llm = '', stt = '', tts = '']) => ({
    name: /`(\w+)`/.exec(name)?.[1],
    variables: [...key.matchAll(/`(\w+)`/g)].map(([, variable]) => variable),
    llm: llm !== '–',
    stt: stt !== '–',
    tts: tts !== '–',
    model: /^`([^-`][^`]*)`$/.exec(llm)?.[1],
  }));
  const byName = (one: { name?: string | undefined }, other: { name?: string | undefined }) =>
    String(one.name).localeCompare(String(other.name));
  expect(documented.toSorted(byName)).toEqual(rows.toSorted(byName));
});

it('reckons a minute with the prices of the example', () => {
  const priceOf = (kind: string, provider: string) => EXAMPLE_PRICES.find((price) => price.kind === kind && price.provider === provider);
  const amounts = (text: string): readonly number[] =>
    [...text.matchAll(/\d[\d,]*(\.\d+)?/g)].map(([number]) => Number(number.replaceAll(',', '')));
  const [llm, stt, tts] = rowsOf('What a minute costs').map(([, used = '', price = '', cents = '']) => ({
    used: amounts(used),
    price: amounts(price),
    cents: Number(cents),
  }));
  expect(priceOf('llm', 'openai')).toMatchObject({
    inputPerMillionTokens: llm?.price[0]?.toFixed(2),
    outputPerMillionTokens: llm?.price[1]?.toFixed(2),
  });
  expect(priceOf('stt', 'deepgram')).toMatchObject({ perMinute: String(stt?.price[0]) });
  expect(priceOf('tts', 'openai')).toMatchObject({ perMillionCharacters: String(tts?.price[0]) });
  const reckoned = [
    (llm!.used[0]! * llm!.price[0]! + llm!.used[1]! * llm!.price[1]!) / 1e4,
    stt!.used[0]! * stt!.price[0]! * 100,
    (tts!.used[0]! * tts!.price[0]!) / 1e4,
  ];
  expect([llm, stt, tts].map((row) => row!.cents.toFixed(2))).toEqual(reckoned.map((cents) => cents.toFixed(2)));
  expect(/About (\S+) US cents/.exec(page)?.[1]).toBe(reckoned.reduce((sum, cents) => sum + cents, 0).toFixed(1));
});
