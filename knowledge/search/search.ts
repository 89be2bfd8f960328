/** Searching a knowledge base. */
import type { OnModelUse } from '../model-use.ts';
import type { EqualityFilter } from '../vector-stores/vector-store.ts';

export interface SearchRequest {
  readonly org: string;
  /** Of the KnowledgeBase resource. */
  readonly knowledgeBase: string;
  /** 1 to 2,000 characters. */
  readonly query: string;
  /** 1 to 100. */
  readonly topK: number;
  readonly filter?: EqualityFilter;
  /** Longest {@link SearchHit.snippet} of each hit, in characters; the last one holds for all further hits. Without it there are none. */
  readonly snippetLengths?: readonly number[];
  readonly signal?: AbortSignal;
  /** Called for each request to a model that it makes. */
  readonly onUse?: OnModelUse;
}

export interface SearchHit {
  /** `<documentId>:<ordinal>`. */
  readonly chunkId: string;
  readonly documentId: string;
  readonly filename: string;
  readonly content: string;
  /** What of `content` says most about the question: whole sentences or rows, one after the other. Where it was asked for. */
  readonly snippet?: string;
  /** 0 to 1, falling from hit to hit. */
  readonly score: number;
  /** From 0, in the order of the document. */
  readonly chunkIndex: number;
  /** The document's own metadata, with the place of the chunk: page, sheet, rows, heading_path, url where they are known. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Names the cause: an unavailable store is an error and never an empty list. */
export class SearchUnavailableError extends Error {
  override readonly name = 'SearchUnavailableError';
}

export interface Search {
  /**
   * @returns undefined where nothing was ever put into a knowledge base of this name
   * @throws SearchUnavailableError when Postgres, the vector store or the embedding server doesn't answer
   */
  search(request: SearchRequest): Promise<readonly SearchHit[] | undefined>;
}
