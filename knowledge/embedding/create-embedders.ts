/** Creates the embedders of an installation: one for each profile that has vectors, shared by all callers. */
import { Histogram, type Registry } from 'prom-client';

import type { Embedder, EmbeddingKind, EmbeddingProfile } from './embedder.ts';
import { cachedEmbed, type EmbeddingCache, memoryEmbeddingCache } from './embedding-cache.ts';
import { EmbeddingError } from './embedding-error.ts';
import { LocalEmbedder } from './local-embedder.ts';
import { type EmbeddingRequest, OpenAiEmbedder } from './openai-embedder.ts';

export interface EmbeddersOptions {
  readonly profiles: readonly EmbeddingProfile[];
  /** Returns an organisation's cache for vectors of passages; there is none by default. */
  readonly cacheOf?: (org: string) => EmbeddingCache;
  /** Variables in which a profile's `apiKeyEnv` is looked up. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Registry of `parley_embedding_request_seconds`. */
  readonly registry?: Registry;
}

export interface EmbeddedCollection {
  /** Without an organisation, passages are not looked up in the cache. */
  readonly org?: string;
  readonly profile: string;
  readonly model: string;
  readonly dimension: number;
}

export interface Embedders {
  /**
   * @returns undefined for a profile that ranks by words alone
   * @throws EmbeddingError `misconfigured` when the profile is gone, or is for another model by now: vectors of two models can't
   *   be compared
   */
  embedderOf(collection: EmbeddedCollection): Embedder | undefined;
  /** Ends the processes of local models. */
  close(): Promise<void>;
}

export function createEmbedders(options: EmbeddersOptions): Embedders {
  const measure = embeddingMetrics(options.registry);
  const made = new Map<string, { readonly embedder: Embedder; readonly questions: EmbeddingCache }>();
  return {
    embedderOf(collection) {
      const profile = profileOf(collection, options.profiles);
      if (profile.provider === 'lexical') return undefined;
      const { name, queryPrefix, passagePrefix } = profile;
      const { embedder, questions } = made.get(name) ?? {
        embedder: createEmbedder(profile, options.env, measure),
        questions: memoryEmbeddingCache(),
      };
      made.set(name, { embedder, questions });
      // Questions come from memory, which has to be fast; passages come from the database, which has to last.
      const passages = collection.org === undefined ? undefined : options.cacheOf?.(collection.org);
      const embed: Readonly<Record<EmbeddingKind, Embedder['embed']>> = {
        query: cachedEmbed(embedder, questions, queryPrefix),
        passage: passages === undefined ? embedder.embed.bind(embedder) : cachedEmbed(embedder, passages, passagePrefix),
      };
      return {
        model: embedder.model,
        dimension: embedder.dimension,
        embed: (texts, kind, more) => embed[kind](texts, kind, more),
        // The embedder is shared: close() of all ends it.
        close: () => Promise.resolve(),
      };
    },
    async close() {
      const all = [...made.values()];
      made.clear();
      await Promise.all(all.map(({ embedder }) => embedder.close()));
    },
  };
}

function profileOf({ profile: name, model, dimension }: EmbeddedCollection, profiles: readonly EmbeddingProfile[]): EmbeddingProfile {
  const profile = profiles.find((candidate) => candidate.name === name);
  if (profile === undefined)
    throw misconfigured(`The embedding profile "${name}" is no longer configured: add it to PARLEY_EMBEDDING_PROFILES again.`);
  if (profile.dimension !== dimension || (profile.provider !== 'lexical' && profile.model !== model))
    throw misconfigured(
      `The embedding profile "${name}" is for the model "${profile.model}" (${profile.dimension} dimensions) now, but the knowledge base was made with "${model}" (${dimension}): configure that one again, or recreate the knowledge base.`,
    );
  return profile;
}

function createEmbedder(
  profile: Exclude<EmbeddingProfile, { provider: 'lexical' }>,
  env: EmbeddersOptions['env'],
  measure: EmbeddingMetrics,
): Embedder {
  if (profile.provider === 'local') return new LocalEmbedder({ profile });
  return new OpenAiEmbedder({ profile, env, onRequest: (request) => measure(profile.name, request) });
}

function misconfigured(message: string): EmbeddingError {
  return new EmbeddingError('misconfigured', message);
}

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
