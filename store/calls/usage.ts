/** Usage of providers by calls, and its cost. Each writer stores totals, not differences: stored twice they are not doubled. */
import type { Transaction } from '../database.ts';
import type { CallRef } from './call-record.ts';

export interface Cost {
  /** Millionths of the currency. */
  readonly micros: bigint;
  /** ISO 4217 code. */
  readonly currency: string;
  /** Version of the price table that the cost was computed with. */
  readonly priceVersion: string;
}

export interface UsageLine {
  /** `embedding` and `rerank` are for searches in knowledge bases. */
  readonly kind: 'llm' | 'stt' | 'tts' | 'embedding' | 'rerank';
  /** `analysis` follows the call; only tests in text have a `judge` and a `simulated_user`, the user that a model plays. */
  readonly purpose: 'conversation' | 'analysis' | 'judge' | 'simulated_user';
  readonly provider: string;
  /** Empty for a provider that has no names for its models. */
  readonly model: string;
  /** Name of the agent that used it; null for an analysis. */
  readonly agent?: string | null;
  readonly requests: number;
  /** Requests whose tokens the provider did not report. */
  readonly estimatedRequests: number;
  /** Tokens of requests, those in a cache of the provider included. */
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  /** Tokens of answers, those of the reasoning included. */
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly characters: number;
  readonly audioMilliseconds: number;
  /** The line's cost; null where there is no price. */
  readonly cost: Cost | null;
}

export interface CallUsageRows {
  readonly writer: string;
  /** Name of the agent that used it; absent for an analysis. */
  readonly agent?: string;
  readonly lines: readonly UsageLine[];
}

export interface UsageRow extends Omit<UsageLine, 'cost'>, Record<string, unknown> {
  readonly costMicros: string | null;
  readonly currency: string | null;
  readonly priceVersion: string | null;
}

/** Sums rows that are one line, whichever writer has counted them. */
export const LINE_SUMS = `sum(requests)::float8 AS requests, sum(estimated_requests)::float8 AS "estimatedRequests",
  sum(input_tokens)::float8 AS "inputTokens", sum(cached_input_tokens)::float8 AS "cachedInputTokens",
  sum(output_tokens)::float8 AS "outputTokens", sum(reasoning_tokens)::float8 AS "reasoningTokens",
  sum(characters)::float8 AS characters, sum(audio_ms)::float8 AS "audioMilliseconds",
  CASE WHEN bool_and(cost_micros IS NOT NULL) AND min(currency) = max(currency) THEN sum(cost_micros)::text END AS "costMicros",
  min(currency) AS currency, max(price_version) AS "priceVersion"`;

/** Returns lines by kind, provider and model: conversations before analyses. */
export async function usageOfCall(transaction: Pick<Transaction, 'query'>, { org, id }: CallRef): Promise<readonly UsageLine[]> {
  const { rows } = await transaction.query<UsageRow>(
    `SELECT agent, kind, purpose, provider, model, ${LINE_SUMS} FROM parley.call_usage WHERE org = $1 AND call_id = $2
     GROUP BY agent, kind, purpose, provider, model ORDER BY purpose DESC, agent, kind, provider, model`,
    [org, id],
  );
  return rows.map(toLine);
}

export function toLine({ costMicros, currency, priceVersion, ...line }: UsageRow): UsageLine {
  const cost = costMicros === null ? null : { micros: BigInt(costMicros), currency: currency ?? '', priceVersion: priceVersion ?? '' };
  return { ...line, cost };
}

/** @throws StoreError `conflict` for a call that doesn't exist */
export async function storeUsage(
  transaction: Pick<Transaction, 'query'>,
  { org, id }: CallRef,
  { writer, agent, lines }: CallUsageRows,
): Promise<void> {
  if (lines.length === 0) return;
  await transaction.query(
    `INSERT INTO parley.call_usage (org, call_id, writer, agent, kind, purpose, provider, model, requests, estimated_requests, input_tokens,
       cached_input_tokens, output_tokens, reasoning_tokens, characters, audio_ms, cost_micros, currency, price_version)
     SELECT $1, $2, $3, $5, u.* FROM jsonb_to_recordset($4) AS u (kind text, purpose text, provider text, model text, requests bigint,
       estimated_requests bigint, input_tokens bigint, cached_input_tokens bigint, output_tokens bigint, reasoning_tokens bigint,
       characters bigint, audio_ms bigint, cost_micros bigint, currency text, price_version text)
     ON CONFLICT (org, call_id, writer, kind, purpose, provider, model) DO UPDATE SET
       (requests, estimated_requests, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, characters, audio_ms,
         cost_micros, currency, price_version) =
       (EXCLUDED.requests, EXCLUDED.estimated_requests, EXCLUDED.input_tokens, EXCLUDED.cached_input_tokens, EXCLUDED.output_tokens,
         EXCLUDED.reasoning_tokens, EXCLUDED.characters, EXCLUDED.audio_ms, EXCLUDED.cost_micros, EXCLUDED.currency, EXCLUDED.price_version)`,
    [org, id, writer, JSON.stringify(lines.map(toRow)), agent ?? null],
  );
}

function toRow({ kind, purpose, provider, model, requests, cost, ...line }: UsageLine): object {
  return {
    kind,
    purpose,
    provider,
    model,
    requests,
    estimated_requests: line.estimatedRequests,
    input_tokens: line.inputTokens,
    cached_input_tokens: line.cachedInputTokens,
    output_tokens: line.outputTokens,
    reasoning_tokens: line.reasoningTokens,
    characters: line.characters,
    audio_ms: Math.round(line.audioMilliseconds),
    ...(cost !== null && { cost_micros: String(cost.micros), currency: cost.currency, price_version: cost.priceVersion }),
  };
}
