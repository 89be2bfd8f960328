/** Usage of providers in calls, and its cost, as REST and events show it. */
import { z } from 'zod';

import { amountOf } from '../platform/money.ts';
import type { UsageLine } from '../store/index.ts';

const count = (what: string) => z.int().min(0).optional().describe(what);

const model = {
  kind: z
    .enum(['llm', 'stt', 'tts', 'embedding', 'rerank'])
    .meta({ id: 'UsageKind' })
    .describe('What the model does: answer, understand speech, speak; or, for searches in knowledge bases, embed or rerank.'),
  provider: z.string().describe('The provider, as the agent names it, or the embedding or rerank profile.'),
  model: z.string().optional().describe('The model; absent for a provider that has no names for them.'),
};

export const cost = z
  .object({
    amount: z
      .string()
      .regex(/^[0-9]+[.][0-9]{2,6}$/)
      .describe('A decimal number, exact to a millionth.'),
    currency: z.string().describe('ISO 4217, such as `USD`.'),
  })
  .meta({ id: 'Cost' });

const unpriced = z
  .array(z.object(model).meta({ id: 'UnpricedModel' }))
  .describe('Models that the installation had no price for. While there are any, the sum is null.');

const item = z
  .object({
    ...model,
    agent_name: z.string().optional().describe('The `ai_agent_id` of the agent that used it; absent for an analysis, and in a test.'),
    purpose: z
      .enum(['conversation', 'analysis', 'judge', 'simulated_user'])
      .meta({ id: 'UsagePurpose' })
      .describe('The call itself, or its analysis afterwards; of a test also its judge, or the user that a model plays.'),
    requests: z
      .int()
      .min(0)
      .describe(
        'Requests that were answered or given up; connections, where a provider streams; search units, where a rerank model reports them.',
      ),
    estimated_requests: count(
      'Of a language or embedding model: those that were given up, or that the provider counted nothing of: their tokens are an estimate.',
    ),
    input_tokens: count(
      'Of a language model: tokens of requests, cached ones included; of an embedding or rerank model: tokens of questions and passages.',
    ),
    cached_input_tokens: count('The input tokens that the provider had cached.'),
    output_tokens: count('Of a language model: tokens of answers, reasoning included.'),
    reasoning_tokens: count('The output tokens that were reasoning, where the provider reports them.'),
    characters: count('Of a voice: characters that it was asked to say.'),
    audio_seconds: z.number().min(0).optional().describe('Audio that was sent, or that a voice has made.'),
    cost: cost.nullable().describe('The cost, with the prices of that time; null where there was no price.'),
    price_version: z.string().optional().describe('Which table of prices that was: a digest of PARLEY_PRICES.'),
  })
  .meta({ id: 'UsageItem' });

export const callUsage = z
  .object({
    items: z.array(item).describe('What the call has used, an item for each purpose, provider and model.'),
    cost: cost.nullable().describe('The sum of all items; null where one of them has no price, and where nothing was used.'),
    unpriced,
  })
  .meta({ id: 'CallUsage' });

export type ShownUsage = z.output<typeof callUsage>;
type ItemAnswer = ShownUsage['items'][number];

/** Returns the cost of all lines; null unless each of them has one, in the same currency. */
export function costShown(lines: readonly UsageLine[]): ShownUsage['cost'] {
  return sumOf(lines).cost;
}

export function usageShown(lines: readonly UsageLine[]): ShownUsage {
  return { items: lines.map(itemOf), ...sumOf(lines) };
}

function itemOf(line: UsageLine): ItemAnswer {
  return {
    ...modelOf(line),
    ...(typeof line.agent === 'string' && { agent_name: line.agent }),
    purpose: line.purpose,
    requests: line.requests,
    ...amountsOf(line),
    cost: line.cost === null ? null : { amount: amountOf(line.cost.micros), currency: line.cost.currency },
    ...(line.cost !== null && { price_version: line.cost.priceVersion }),
  };
}

const modelOf = ({ kind, provider, model: name }: UsageLine) => ({ kind, provider, ...(name !== '' && { model: name }) });

function amountsOf(line: UsageLine): Partial<ItemAnswer> {
  if (line.kind === 'llm')
    return {
      estimated_requests: line.estimatedRequests,
      input_tokens: line.inputTokens,
      cached_input_tokens: line.cachedInputTokens,
      output_tokens: line.outputTokens,
      reasoning_tokens: line.reasoningTokens,
    };
  if (line.kind === 'embedding') return { estimated_requests: line.estimatedRequests, input_tokens: line.inputTokens };
  if (line.kind === 'rerank') return { input_tokens: line.inputTokens };
  return { ...(line.kind === 'tts' && { characters: line.characters }), audio_seconds: line.audioMilliseconds / 1_000 };
}

function sumOf(lines: readonly UsageLine[]): Pick<ShownUsage, 'cost' | 'unpriced'> {
  const [first] = lines;
  const without = lines.filter((line) => line.cost === null);
  const currency = first?.cost?.currency;
  const whole = currency !== undefined && lines.every((line) => line.cost?.currency === currency);
  const micros = lines.reduce((sum, line) => sum + (line.cost?.micros ?? 0n), 0n);
  return {
    cost: whole ? { amount: amountOf(micros), currency } : null,
    unpriced: [...new Map(without.map((line) => [JSON.stringify(modelOf(line)), modelOf(line)])).values()],
  };
}
