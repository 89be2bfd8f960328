/** Asks the server of a profile, once and with a deadline: a slow or broken one costs a search its better order and nothing else. */
import { Histogram, type Registry } from 'prom-client';

import { failureOfEgress, failureOfStatus, type ModelOutcome } from '../model-outcome.ts';
import { EgressError } from '../../platform/egress/egress-error.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/logging.ts';
import type { OnModelUse, ReportedUse } from '../model-use.ts';
import { MissingKeyError, profileKey } from '../profile-key.ts';
import { rerankBodyOf, rerankedOf, rerankUrlOf, type RerankAnswer, type RerankQuestion } from './rerank-protocols.ts';
import { RerankError, type Reranked, type RerankProfile } from './reranker.ts';

export interface Reranking {
  /**
   * Returns the number of first hits of a collection with this profile that are reranked; 0 without a profile, or with one that is not
   * configured.
   */
  candidates(profile: string | undefined): number;
  /** @returns undefined where no answer came in time, which is logged; then the order stays. @throws the signal's reason */
  rerank(profile: string, question: RerankQuestion, options?: RerankOptions): Promise<readonly Reranked[] | undefined>;
}

export interface RerankOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onUse?: OnModelUse | undefined;
}

export interface RerankingOptions {
  readonly profiles: readonly RerankProfile[];
  readonly egress: Pick<Egress, 'request'>;
  /** Variables in which a profile's `apiKeyEnv` is looked up. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly registry?: Registry;
}

/** Most bytes of an answer: 200 results, written out generously; a server that repeats the passages sends more. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Most characters of a passage that are sent: models read no more, and a chunk may be long. */
const LONGEST_PASSAGE = 8_000;

export function createReranking({ profiles, egress, env, logger, registry }: RerankingOptions): Reranking {
  const byName = new Map(profiles.map((profile) => [profile.name, profile]));
  const seconds = registry && rerankMetrics(registry);
  return {
    candidates: (name) => (name === undefined ? 0 : (byName.get(name)?.candidates ?? 0)),
    async rerank(name, question, { signal, onUse } = {}) {
      const profile = byName.get(name);
      if (profile === undefined) return undefined;
      const startedAt = performance.now();
      const observe = (outcome: ModelOutcome): void => seconds?.observe({ profile: name, outcome }, (performance.now() - startedAt) / 1000);
      const use = (reported: ReportedUse): void =>
        onUse?.({ kind: 'rerank', provider: profile.provider, model: profile.model, texts: [], reported });
      try {
        const { order, reported } = await ask(profile, question, { egress, env, signal });
        observe('answered');
        use(reported);
        return order;
      } catch (error) {
        // The server also computes answers that were given up.
        if (signal?.aborted === true) use({});
        signal?.throwIfAborted();
        const failure = toRerankError(error, profile);
        if (failure.outcome === 'timeout') use({});
        observe(failure.outcome);
        logger.warn(
          { profile: name, outcome: failure.outcome, reason: failure.message },
          'failed to rerank; keeping the order of the search',
        );
        return undefined;
      }
    },
  };
}

async function ask(
  profile: RerankProfile,
  { query, documents }: RerankQuestion,
  { egress, env, signal }: Pick<RerankingOptions, 'egress' | 'env'> & { readonly signal: AbortSignal | undefined },
): Promise<RerankAnswer> {
  const key = await profileKey(profile, env).catch((error: unknown) => {
    throw error instanceof MissingKeyError ? new RerankError('misconfigured', `rerank profile "${profile.name}" ${error.message}`) : error;
  });
  const passages = documents.map((text) => text.slice(0, LONGEST_PASSAGE).toWellFormed());
  const { status, body } = await egress.request({
    url: rerankUrlOf(profile),
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    body: rerankBodyOf(profile, { query, documents: passages }),
    timeoutMs: profile.timeoutMs,
    maxBodyBytes: MOST_BYTES,
    // The request changes nothing there, and a kept connection may have been closed.
    repeatable: true,
    ...(signal && { signal }),
  });
  if (status === 200) return rerankedOf(profile, body.toString('utf8'), documents.length);
  throw new RerankError(failureOfStatus(status), `the server answers ${status}`);
}

function toRerankError(error: unknown, { timeoutMs }: RerankProfile): RerankError {
  if (error instanceof RerankError) return error;
  if (!(error instanceof EgressError)) throw error;
  const failure = failureOfEgress(error);
  return new RerankError(failure, failure === 'timeout' ? `the server did not answer within ${timeoutMs} ms` : error.message);
}

function rerankMetrics(registry: Registry): Histogram<'profile' | 'outcome'> {
  return new Histogram({
    name: 'parley_rerank_request_seconds',
    help: 'Time for one request to a rerank server, by profile; the outcome is answered, or why the order of the search was kept.',
    labelNames: ['profile', 'outcome'],
    buckets: [0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1, 2, 5],
    registers: [registry],
  });
}
