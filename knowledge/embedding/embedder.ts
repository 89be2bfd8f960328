import type { Config } from '../../platform/config/config.ts';
import type { OnModelUse } from '../model-use.ts';

/** The settings of a model that embeds texts; see PARLEY_EMBEDDING_PROFILES. */
export type EmbeddingProfile = Config['PARLEY_EMBEDDING_PROFILES'][number];

export type OpenAiProfile = Extract<EmbeddingProfile, { provider: 'openai_compatible' }>;
export type LocalProfile = Extract<EmbeddingProfile, { provider: 'local' }>;

/** The kind of text: some models want a different prefix for each. */
export type EmbeddingKind = 'query' | 'passage';

export interface EmbedOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called for each request to a server: neither a cache nor a model in a folder costs anything. */
  readonly onUse?: OnModelUse | undefined;
}

export interface Embedder {
  readonly model: string;
  readonly dimension: number;
  /**
   * @returns one vector for each text, in the same order, each of length {@link dimension}, finite and not all zero
   * @throws EmbeddingError when the server gives no usable vectors, after its own attempts
   */
  embed(texts: readonly string[], kind: EmbeddingKind, options?: EmbedOptions): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}
