/** Measures the client metrics of OpenTelemetry's conventions for generative AI, under the names that its rules give them in Prometheus. */
import { Histogram, type Registry } from 'prom-client';

import type { Measurement } from './model-requests.ts';

/** Pairs of provider and model are bounded: agents name models, and must not fill the memory of whoever stores metrics. */
const MOST_MODELS = 200;
/** This name stands for all other pairs. */
const OTHER = 'other';

/** Bounds in seconds. Source: the conventions, for both durations. */
const DURATIONS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/** Bounds in tokens. Source: the conventions. */
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];

const OF_REQUEST = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model'] as const;
type OfRequest = (typeof OF_REQUEST)[number];

export type GenAiMetrics = Pick<ClientMetrics, 'record'>;

export const createGenAiMetrics = (registry: Registry): GenAiMetrics => new ClientMetrics(registry);

class ClientMetrics {
  readonly #duration: Histogram<OfRequest | 'error_type'>;
  readonly #firstChunk: Histogram<OfRequest>;
  readonly #tokens: Histogram<OfRequest | 'gen_ai_token_type'>;
  readonly #models = new Set<string>();

  constructor(registry: Registry) {
    this.#duration = new Histogram({
      name: 'gen_ai_client_operation_duration_seconds',
      help: 'Time of a request to a model, in seconds; error_type says why one failed. Cancelled requests are left out.',
      labelNames: [...OF_REQUEST, 'error_type'],
      buckets: DURATIONS,
      registers: [registry],
    });
    this.#firstChunk = new Histogram({
      name: 'gen_ai_client_operation_time_to_first_chunk_seconds',
      help: 'Time from a request to a model to the first part of a streamed answer, in seconds.',
      labelNames: OF_REQUEST,
      buckets: DURATIONS,
      registers: [registry],
    });
    this.#tokens = new Histogram({
      name: 'gen_ai_client_token_usage',
      help: 'Tokens of a request to a model, as its provider counted them: input (cached ones included) or output.',
      labelNames: [...OF_REQUEST, 'gen_ai_token_type'],
      buckets: TOKENS,
      registers: [registry],
    });
  }

  record({ operation, provider, model, seconds, firstChunkSeconds, usage, failure }: Measurement): void {
    const labels = { gen_ai_operation_name: operation, ...this.#bounded(provider, model) };
    if (seconds !== undefined) this.#duration.observe({ ...labels, ...(failure !== undefined && { error_type: failure }) }, seconds);
    if (firstChunkSeconds !== undefined) this.#firstChunk.observe(labels, firstChunkSeconds);
    if (usage === undefined) return;
    this.#tokens.observe({ ...labels, gen_ai_token_type: 'input' }, usage.inputTokens);
    this.#tokens.observe({ ...labels, gen_ai_token_type: 'output' }, usage.outputTokens);
  }

  #bounded(provider: string, model: string): { readonly gen_ai_provider_name: string; readonly gen_ai_request_model: string } {
    const pair = `${provider} ${model}`;
    if (this.#models.size < MOST_MODELS) this.#models.add(pair);
    return this.#models.has(pair)
      ? { gen_ai_provider_name: provider, gen_ai_request_model: model }
      : { gen_ai_provider_name: OTHER, gen_ai_request_model: OTHER };
  }
}
