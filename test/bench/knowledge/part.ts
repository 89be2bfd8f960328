import type { PartContext, PartResult } from '../harness/suite.ts';
import type { KnowledgeHost } from './host.ts';

/** Amounts of work in a run. */
export interface KnowledgeScale {
  /** Turns of each contender. */
  readonly rounds: number;
  /** Length of one turn of searches, in milliseconds. */
  readonly turnMs: number;
  /** Chunks of the knowledge base that is searched. */
  readonly chunks: number;
  /** Number of searches at once. */
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

/** Options of the suite. */
export interface KnowledgeFlags {
  /** Folder of the test collections. */
  readonly data?: string;
  /** Folder of another checkout, with its bundle built, whose roles are measured next to those of this one. */
  readonly against?: string;
  /** The part `large` measures these; pgvector always. */
  readonly store: readonly ('pgvector' | 'milvus')[];
  /** Dimensions of the vectors of `large`. */
  readonly dimensions: number;
}

/** @throws Error naming what is missing */
export type KnowledgePart = (context: PartContext<KnowledgeScale, KnowledgeHost, KnowledgeFlags>) => Promise<PartResult>;
