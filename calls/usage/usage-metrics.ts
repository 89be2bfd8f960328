import { Counter, type Registry } from 'prom-client';

import type { UsageAdded } from './usage-meter.ts';

export interface UsageReport {
  readonly org: string;
  readonly agent: string;
  readonly added: readonly UsageAdded[];
}

/** Most pairs of agent and model that have series of their own; the others share one. */
const MOST_SERIES = 500;
const OTHER = 'other';

const labelNames = ['org', 'agent', 'provider', 'model', 'kind'] as const;

export function usageMetrics(registry: Registry): (report: UsageReport) => void {
  const counter = <L extends string>(name: string, help: string, names: readonly L[]) =>
    new Counter({ name, help, labelNames: names, registers: [registry] });
  const tokens = counter(
    'parley_usage_tokens_total',
    'Tokens that calls have used, by agent and model; the kind is input (without cached ones), cached_input, output (without reasoning) or reasoning, or embedding or rerank for those of searches. Agents beyond the first 500 count as other.',
    labelNames,
  );
  const characters = counter('parley_usage_characters_total', 'Characters that voices were asked to say in calls.', labelNames);
  const audio = counter(
    'parley_usage_audio_seconds_total',
    'Audio of calls, in seconds: sent to speech to text (stt), or made by a voice (tts).',
    labelNames,
  );
  const cost = counter(
    'parley_usage_cost_total',
    'What calls have cost with the prices of PARLEY_PRICES, in the currency; the kind is llm, stt, tts, embedding or rerank.',
    [...labelNames, 'currency'],
  );
  const known = new Set<string>();

  return ({ org, agent, added }) => {
    for (const { of, amounts, cost: spent } of added) {
      const series = JSON.stringify([org, agent, of.provider, of.model]);
      const own = known.has(series) || known.size < MOST_SERIES;
      if (own) known.add(series);
      const labels = own
        ? { org, agent, provider: of.provider, model: of.model }
        : { org: OTHER, agent: OTHER, provider: OTHER, model: OTHER };
      const add = (to: Counter<(typeof labelNames)[number]>, kind: string, amount: number): void => {
        if (amount > 0) to.inc({ ...labels, kind }, amount);
      };
      add(tokens, of.kind === 'llm' ? 'input' : of.kind, amounts.inputTokens - amounts.cachedInputTokens);
      add(tokens, 'cached_input', amounts.cachedInputTokens);
      add(tokens, 'output', amounts.outputTokens - amounts.reasoningTokens);
      add(tokens, 'reasoning', amounts.reasoningTokens);
      add(characters, of.kind, amounts.characters);
      add(audio, of.kind, amounts.audioMilliseconds / 1_000);
      if (spent !== undefined && spent.micros > 0) cost.inc({ ...labels, kind: of.kind, currency: spent.currency }, spent.micros / 1e6);
    }
  };
}
