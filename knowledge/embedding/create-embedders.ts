/** The embedders of an installation: one for each profile that has vectors, shared by all who use it. */
import { Histogram, type Registry } from 'prom-client';
import type { Dispatcher } from 'undici';

import type { Clock } from '../../platform/clock.ts';
import type { Embedder, EmbeddingKind, EmbeddingProfile } from './embedder.ts';
import { CachedEmbedder, type EmbeddingCache, MemoryEmbeddingCache } from './embedding-cache.ts';
import { EmbeddingError } from './embedding-error.ts';
import { LocalEmbedder } from './local-embedder.ts';
import { type EmbeddingRequest, OpenAiEmbedder } from './openai-embedder.ts';

export interface EmbeddersOptions {
  readonly profiles: readonly EmbeddingProfile[];
  /** Where vectors of passages are kept, for each organisation apart; nowhere by default. */
  readonly cacheOf?: (org: string) => EmbeddingCache;
  /** Where a profile's `apiKeyEnv` is looked up. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly dispatcher?: Dispatcher;
  /** Receives `parley_embedding_request_seconds`. */
  readonly registry?: Registry;
}

/** What a knowledge base was made with. */
export interface EmbeddedCollection {
  /** Without one, passages are not looked up in the cache. */
  readonly org?: string;
  readonly profile: string;
  readonly model: string;
  readonly dimension: number;
}

export interface Embedders {
  /**
   * @returns undefined for a profile that ranks by words alone
   * @throws EmbeddingError `misconfigured` when the profile is gone, or is for another model by now: vectors of two models
   *   can't be compared
   */
  embedderOf(collection: EmbeddedCollection): Embedder | undefined;
  /** Ends the processes of local models. */
  close(): Promise<void>;
}

export function createEmbedders(options: EmbeddersOptions): Embedders {
  const measure = embeddingMetrics(options.registry);
  const made = new Map<string, Embedder>();
  const questions = new Map<string, EmbeddingCache>();
  return {
    embedderOf(collection) {
      const profile = profileOf(collection, options.profiles);
      if (profile.provider === 'lexical') return undefined;
      const { name } = profile;
      const embedder = made.get(name) ?? createEmbedder(profile, options, measure);
      made.set(name, embedder);
      const memory = questions.get(name) ?? new MemoryEmbeddingCache();
      questions.set(name, memory);
      return new TwoCaches({
        query: new CachedEmbedder({ embedder, cache: memory, salt: profile.queryPrefix }),
        passage:
          collection.org === undefined || options.cacheOf === undefined
            ? embedder
            : new CachedEmbedder({ embedder, cache: options.cacheOf(collection.org), salt: profile.passagePrefix }),
      });
    },
    async close() {
      const embedders = [...made.values()];
      made.clear();
      await Promise.all(embedders.map((embedder) => embedder.close()));
    },
  };
}

/** Questions come from memory, which has to be fast; passages from the database, which has to last. */
class TwoCaches implements Embedder {
  readonly #embedders: Readonly<Record<EmbeddingKind, Embedder>>;

  constructor(embedders: Readonly<Record<EmbeddingKind, Embedder>>) {
    this.#embedders = embedders;
  }

  get model(): string {
    return this.#embedders.query.model;
  }

  get dimension(): number {
    return this.#embedders.query.dimension;
  }

  embed(texts: readonly string[], kind: EmbeddingKind, options?: { readonly signal?: AbortSignal }): Promise<readonly Float32Array[]> {
    return this.#embedders[kind].embed(texts, kind, options);
  }

  /** The embedders are shared: {@link Embedders.close} ends them. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}

function profileOf({ profile: name, model, dimension }: EmbeddedCollection, profiles: readonly EmbeddingProfile[]): EmbeddingProfile {
  const profile = profiles.find((candidate) => candidate.name === name);
  if (profile === undefined)
    throw misconfigured(`The embedding profile "${name}" is not configured any more: add it to PARLEY_EMBEDDING_PROFILES again.`);
  if (profile.dimension !== dimension || (profile.provider !== 'lexical' && profile.model !== model))
    throw misconfigured(
      `The embedding profile "${name}" is for the model "${profile.model}" (${profile.dimension} dimensions) by now, but the knowledge base was made with "${model}" (${dimension}): configure that one again, or make the knowledge base anew.`,
    );
  return profile;
}

function createEmbedder(
  profile: Exclude<EmbeddingProfile, { provider: 'lexical' }>,
  { env, clock, random, dispatcher }: EmbeddersOptions,
  measure: EmbeddingMetrics,
): Embedder {
  if (profile.provider === 'local') return new LocalEmbedder({ profile });
  const onRequest = (request: EmbeddingRequest): void => measure(profile.name, request);
  return new OpenAiEmbedder({
    profile,
    env,
    onRequest,
    ...(clock && { clock }),
    ...(random && { random }),
    ...(dispatcher && { dispatcher }),
  });
}

function misconfigured(message: string): EmbeddingError {
  return new EmbeddingError('misconfigured', message, { retryable: false });
}

/** @param profile name of the embedding profile */
type EmbeddingMetrics = (profile: string, request: EmbeddingRequest) => void;

function embeddingMetrics(registry: Registry | undefined): EmbeddingMetrics {
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
