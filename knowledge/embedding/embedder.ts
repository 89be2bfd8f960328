/** What is embedded: some models want a different prefix for each. */
export type EmbeddingKind = 'query' | 'passage';

/** Turns texts into vectors. */
export interface Embedder {
  readonly model: string;
  /** Length of each vector. */
  readonly dimension: number;
  /**
   * @returns one vector for each text, in the same order, each of length {@link dimension}, finite and not all zero
   * @throws EmbeddingError when the server gives none that can be used, after its own attempts
   */
  embed(texts: readonly string[], kind: EmbeddingKind, options?: { readonly signal?: AbortSignal }): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}
