/**
 * Reads providers' prices, as the operator of the installation writes them in PARLEY_PRICES. Amounts are exact: texts, or numbers as
 * written.
 */
import { z } from 'zod';

import { AMOUNT } from '../money.ts';

export const usageKinds = ['llm', 'stt', 'tts', 'embedding', 'rerank'] as const;

const amount = (what: string) =>
  z
    .union([z.string(), z.number()])
    .transform(String)
    .refine((text) => AMOUNT.test(text), 'must be an amount like 0.15, with 6 decimals at most')
    .optional()
    .describe(what);

export const providerPrice = z
  .strictObject({
    kind: z.enum(usageKinds).describe('What the model does: llm, stt, tts, embedding or rerank.'),
    provider: z.string().min(1).max(64).describe('The `provider` of agents, or of an embedding or rerank profile, that it is for.'),
    model: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('The model; all models of the provider that have no price of their own where absent.'),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be a currency in three capital letters, such as USD')
      .describe('ISO 4217; the same in all prices.'),
    from: z.iso
      .datetime({ offset: true })
      .or(z.iso.date())
      .optional()
      .describe('From when on the price holds, such as 2026-12-01: the newest that has begun counts. For all times where absent.'),
    inputPerMillionTokens: amount('Of a language, embedding or rerank model: tokens of requests.'),
    cachedInputPerMillionTokens: amount('Of a language model: those of them that the provider has cached; like the others where absent.'),
    outputPerMillionTokens: amount('Of a language model: tokens of answers, with those of its reasoning.'),
    perMillionCharacters: amount('Of a voice: characters that are spoken.'),
    perThousandSearches: amount('Of a rerank model: searches, or the units that the provider counts them in.'),
    perMinute: amount('Of speech to text, or of a voice: minutes of audio.'),
    perHour: amount('The same, where the provider names a price for an hour.'),
  })
  .superRefine((price, context) => {
    const complaint = complaintOf(price);
    if (complaint !== undefined) context.addIssue({ code: 'custom', message: complaint });
  });

/** Shows the form of a table. The amounts are those of a day in 2025: contracts differ. */
export const EXAMPLE_PRICES = [
  {
    kind: 'llm',
    provider: 'openai',
    model: 'gpt-4.1-mini',
    currency: 'USD',
    inputPerMillionTokens: '0.40',
    cachedInputPerMillionTokens: '0.10',
    outputPerMillionTokens: '1.60',
  },
  { kind: 'stt', provider: 'deepgram', currency: 'USD', perMinute: '0.0077' },
  { kind: 'stt', provider: 'deepgram', currency: 'USD', perMinute: '0.0065', from: '2027-01-01' },
  { kind: 'tts', provider: 'openai', model: 'tts-1', currency: 'USD', perMillionCharacters: '15' },
  { kind: 'embedding', provider: 'openai_compatible', model: 'text-embedding-3-small', currency: 'USD', inputPerMillionTokens: '0.02' },
  { kind: 'rerank', provider: 'cohere', currency: 'USD', perThousandSearches: '2' },
  { kind: 'llm', provider: 'openai_compatible', currency: 'USD', inputPerMillionTokens: 0, outputPerMillionTokens: 0 },
] as const satisfies readonly z.input<typeof providerPrice>[];

export type ProviderPrice = z.output<typeof providerPrice>;

const AMOUNTS = [
  'inputPerMillionTokens',
  'cachedInputPerMillionTokens',
  'outputPerMillionTokens',
  'perMillionCharacters',
  'perThousandSearches',
  'perMinute',
  'perHour',
] as const;

type Amounts = Readonly<Partial<Record<(typeof AMOUNTS)[number], string | undefined>>>;

function complaintOf(price: Amounts & { readonly kind: (typeof usageKinds)[number] }): string | undefined {
  const [first, ...more] = AMOUNTS.filter((name) => price[name] !== undefined);
  const only = more.length === 0 ? first : undefined;
  if (price.kind === 'embedding')
    return only === 'inputPerMillionTokens' ? undefined : 'a price of kind embedding needs inputPerMillionTokens alone';
  if (price.kind === 'rerank')
    return only === 'inputPerMillionTokens' || only === 'perThousandSearches'
      ? undefined
      : 'a price of kind rerank needs either inputPerMillionTokens or perThousandSearches alone';
  if (price.perThousandSearches !== undefined) return `a price of kind ${price.kind} has no price for searches`;
  const tokens = [price.inputPerMillionTokens, price.outputPerMillionTokens].filter((each) => each !== undefined).length;
  const time = [price.perMinute, price.perHour].filter((each) => each !== undefined).length;
  const characters = price.perMillionCharacters !== undefined;
  if (price.kind === 'llm')
    return tokens === 2 && time === 0 && !characters
      ? undefined
      : 'a price of kind llm needs inputPerMillionTokens and outputPerMillionTokens, and has no price for characters or time';
  if (tokens > 0 || price.cachedInputPerMillionTokens !== undefined) return `a price of kind ${price.kind} has no price for tokens`;
  if (time === 2) return 'perMinute and perHour exclude each other';
  if (price.kind === 'stt') return time === 1 && !characters ? undefined : 'a price of kind stt needs perMinute or perHour alone';
  return time === 1 || characters ? undefined : 'a price of kind tts needs perMillionCharacters, perMinute or perHour';
}

/** @returns the problem that keeps prices, each of which is sound, from being one table */
export function problemOfPrices(prices: readonly ProviderPrice[]): string | undefined {
  const currencies = [...new Set(prices.map(({ currency }) => currency))];
  if (currencies.length > 1) return `prices are in ${currencies.join(' and ')}: write all in one currency`;
  const seen = new Set<string>();
  for (const { kind, provider, model = '', from = '' } of prices) {
    const key = JSON.stringify([kind, provider, model, from === '' ? '' : Date.parse(from)]);
    if (seen.has(key)) return `${[kind, provider, model, from].filter((word) => word !== '').join(' ')} has two prices: remove one`;
    seen.add(key);
  }
  return undefined;
}
