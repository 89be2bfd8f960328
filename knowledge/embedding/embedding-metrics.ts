import { Histogram, type Registry } from 'prom-client';

import type { EmbeddingRequest } from './openai-embedder.ts';

/** @param profile name of the embedding profile */
export type EmbeddingMetrics = (profile: string, request: EmbeddingRequest) => void;

export function embeddingMetrics(registry: Registry | undefined): EmbeddingMetrics {
  if (registry === undefined) return () => undefined;
  const seconds = new Histogram({
    name: 'parley_embedding_request_seconds',
    help: 'Time for one request to an embedding server, by profile and kind (query or passage); the outcome is answered, too_large, cancelled or the code of the failure.',
    labelNames: ['profile', 'kind', 'outcome'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  return (profile, { kind, outcome, seconds: took }) => seconds.observe({ profile, kind, outcome }, took);
}
