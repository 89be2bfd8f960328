import type { OnModelUse } from '../model-use.ts';
import type { EqualityFilter } from '../vector-stores/vector-store.ts';

export interface SearchRequest {
  readonly org: string;
  /** Name of the KnowledgeBase resource. */
  readonly knowledgeBase: string;
  /** The question: 1 to 2,000 characters. */
  readonly query: string;
  /** Most hits: 1 to 100. */
  readonly topK: number;
  readonly filter?: EqualityFilter;
  /**
   * Longest {@link SearchHit.snippet} of each hit, in characters; the last one holds for all further hits. Without them there are no
   * snippets.
   */
  readonly snippetLengths?: readonly number[];
  readonly signal?: AbortSignal;
  /** True if its span may not have the question, also where content is switched on. */
  readonly withholdsContent?: boolean | undefined;
  /** Called for each request to a model that the search makes. */
  readonly onUse?: OnModelUse;
}

export interface SearchHit {
  /** Id of the chunk: `<documentId>:<ordinal>`. */
  readonly chunkId: string;
  readonly documentId: string;
  readonly filename: string;
  readonly content: string;
  /** The part of `content` that says most about the question: whole sentences or rows, one after the other. Set where it was asked for. */
  readonly snippet?: string;
  /** Score from 0 to 1, falling from hit to hit. */
  readonly score: number;
  /** The chunk's number in the order of the document, from 0. */
  readonly chunkIndex: number;
  /** The document's own metadata, with the place of the chunk: page, sheet, rows, heading_path, url where they are known. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The message names the cause: an unavailable store is an error and never an empty list. */
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
