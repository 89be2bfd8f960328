import type { PartResult } from '../harness/run-parts.ts';
import type { KnowledgeHost } from './host.ts';

/** How much work a run does. */
export interface KnowledgeScale {
  /** Turns of each contender. */
  readonly rounds: number;
  /** Length of one turn of searches, in milliseconds. */
  readonly turnMs: number;
  /** Chunks of the knowledge base that is searched. */
  readonly chunks: number;
  /** Chunks of the document whose indexing is measured. */
  readonly indexedChunks: number;
  /** Searches at once. */
  readonly concurrent: number;
  /** Pages of the PDF. */
  readonly pages: number;
  /** Big files that queue before the small one. */
  readonly bigFiles: number;
  /** Files of 10 KB whose throughput is measured. */
  readonly smallFiles: number;
  /** Files of 1 KB that are uploaded in one go. */
  readonly manyFiles: number;
}

export interface LargeOptions {
  /** Of the vectors. */
  readonly dimension: number;
  /** pgvector is always measured. */
  readonly stores: readonly ('pgvector' | 'milvus')[];
}

interface PartContext {
  /** Folder of the test collections. */
  readonly dataFolder: string | undefined;
  readonly scale: KnowledgeScale;
  /** Folder of another checkout, with its bundle built, whose roles are measured next to those of this one. */
  readonly against: string | undefined;
  /** What the part of that name measures. */
  readonly large: LargeOptions;
  /** Servers; started when first asked for. */
  readonly host: () => Promise<KnowledgeHost>;
  /** One line of what is being done now. */
  readonly progress: (line: string) => void;
}

/** @throws Error naming what is missing */
export type KnowledgePart = (context: PartContext) => Promise<PartResult>;
