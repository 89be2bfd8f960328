/** The interface of vector stores. Postgres remains the source of truth: every store can be rebuilt from it. */
import type { SparseVector } from '../lexical/vectors.ts';

/**
 * - `unavailable`: the store didn't answer, or not in time; the same call may succeed later.
 * - `refused`: the store turned the call away; a person has to correct the configuration.
 * - `invalid`: about the arguments of the call.
 */
type VectorStoreErrorKind = 'unavailable' | 'refused' | 'invalid';

/** Every failure of a vector store. Messages carry neither text nor vectors. */
export class VectorStoreError extends Error {
  override readonly name = 'VectorStoreError';
  readonly kind: VectorStoreErrorKind;

  constructor(kind: VectorStoreErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }

  /** True if the same call may succeed later, unchanged. */
  get retryable(): boolean {
    return this.kind === 'unavailable';
  }
}

/** The model and dimension that separate an installation's collections: vectors of two models are never compared. */
export interface VectorSpace {
  readonly model: string;
  /** 0 for a profile without dense vectors. */
  readonly dimension: number;
}

export type Scalar = string | number | boolean;

/** Every field has to equal its value (AND). */
export type EqualityFilter = Readonly<Record<string, Scalar>>;

export interface VectorRecord {
  /** Id of the chunk, `<documentId>:<ordinal>`: writing it again replaces it. */
  readonly chunkId: string;
  readonly documentId: string;
  readonly ordinal: number;
  /** A whole number, 0 … 2^53 − 1: the document whose number is lower comes first where scores are equal. */
  readonly tieBreaker: number;
  readonly dense?: Float32Array;
  readonly sparse: SparseVector;
  readonly metadata: Readonly<Record<string, Scalar>>;
}

export interface VectorQuery {
  readonly dense?: Float32Array;
  readonly sparse: SparseVector;
  readonly filter?: EqualityFilter;
  /** Documents that must not be among the hits (being ingested or removed), 1,000 at most. */
  readonly exclude?: readonly string[];
  /** Restricts hits to this document, to find out whether searches find it. */
  readonly document?: string;
  /** About how many chunks the collection has: a store may choose its way by it. */
  readonly chunks?: number;
  /** Most hits: 1 … 1000. */
  readonly topK: number;
}

export interface VectorHit {
  readonly chunkId: string;
  readonly documentId: string;
  readonly ordinal: number;
  /** The record's tie breaker; 0 where a version without it wrote the record. */
  readonly tieBreaker: number;
  /** Score of the ranking that found it, higher is better: inner product, or the sum of reciprocal ranks where two were fused. */
  readonly score: number;
}

/** Identifies a knowledge base's vectors: the organisation's name and the collection's id. */
export interface CollectionRef {
  readonly org: string;
  /** Id of the collection, never reused. */
  readonly collectionId: string;
  readonly space: VectorSpace;
}

/**
 * All stores give the same hits in the same order for the same data (ties by `tieBreaker`, then document, then ordinal).
 * A write that has returned is found by the next search.
 *
 * @throws VectorStoreError from every method: `unavailable` (try again) or `refused` (don't)
 */
export interface VectorStore {
  readonly name: 'pgvector' | 'milvus';
  upsert(collection: CollectionRef, records: readonly VectorRecord[], signal?: AbortSignal): Promise<void>;
  search(collection: CollectionRef, query: VectorQuery, signal?: AbortSignal): Promise<readonly VectorHit[]>;
  /** Counts the stored chunks of one document or of all. */
  count(collection: CollectionRef, documentId?: string): Promise<number>;
  deleteDocument(collection: CollectionRef, documentId: string): Promise<void>;
  deleteCollection(collection: CollectionRef): Promise<void>;
  /** Returns ids of the documents that have vectors, ascending, behind `after`: for the sweep of orphans. */
  documentIds(collection: CollectionRef, page: { readonly after?: string | undefined; readonly limit: number }): Promise<readonly string[]>;
  health(): Promise<void>;
  close(): Promise<void>;
}
