/** What is known of a knowledge base in Postgres. */
import type { CollectionSpec } from '../../store/index.ts';
import type { Unavailable } from '../runtime/postgres-outage.ts';

export type KnowledgeView =
  | {
      readonly state: 'known';
      /** Absent where there is none, or nobody has it. */
      readonly collection?: KnownCollection;
      readonly documents?: DocumentCounts;
      /** Chunks that can be found. */
      readonly chunks?: number;
      /** Of all sources, oldest first; those that are deleted are left out. */
      readonly sourceDocuments: readonly SourceDocument[];
      /** What Postgres would not make a collection for, and why: trying again changes nothing. */
      readonly conflict?: { readonly spec: CollectionSpec; readonly message: string };
    }
  /** Neither read nor written: what the status says is believed until Postgres answers again. */
  | Unavailable;

export type KnownCollection = Omit<CollectionSpec, 'org' | 'name' | 'profile'> & { readonly id: string };

export interface DocumentCounts {
  readonly total: number;
  readonly processing: number;
  readonly completed: number;
  readonly failed: number;
}

/** A document that was taken on for a source. */
export interface SourceDocument {
  readonly id: string;
  readonly source: string;
  /** See {@link sourceRevision}. */
  readonly revision: string;
  readonly status: 'processing' | 'completed' | 'failed';
  /** It waits, and nothing has been done for it yet. */
  readonly queued: boolean;
  readonly errorCode: string | null;
  /** Of a failure, or what a website lacks; empty otherwise. */
  readonly message: string;
  /** When it last got anywhere, in milliseconds since the epoch: of one that is at its end, when that came. */
  readonly progressAt: number;
}
