/** The state of a knowledge base in Postgres. */
import type { CollectionSpec } from '../../store/index.ts';
import type { Unavailable } from '../runtime/postgres-outage.ts';

export type KnowledgeView =
  | {
      readonly state: 'known';
      /** Absent where no collection exists, or it has been released. */
      readonly collection?: KnownCollection;
      readonly documents?: DocumentCounts;
      /** Chunks that can be found. */
      readonly chunks?: number;
      /** Documents of all sources, oldest first; those that are deleted are left out. */
      readonly sourceDocuments: readonly SourceDocument[];
      /** A collection that Postgres refused, and why: another attempt would fail the same way. */
      readonly conflict?: { readonly spec: CollectionSpec; readonly message: string };
    }
  /** Neither read nor written: the status is trusted until Postgres answers again. */
  | Unavailable;

export type KnownCollection = Omit<CollectionSpec, 'org' | 'name' | 'profile'> & { readonly id: string };

export interface DocumentCounts {
  readonly total: number;
  readonly processing: number;
  readonly completed: number;
  readonly failed: number;
}

export interface SourceDocument {
  readonly id: string;
  readonly source: string;
  /** See {@link sourceRevision}. */
  readonly revision: string;
  readonly status: 'processing' | 'completed' | 'failed';
  /** Ingestion has not started. */
  readonly queued: boolean;
  readonly errorCode: string | null;
  /** Says why it failed, or what a website lacks; empty otherwise. */
  readonly message: string;
  /** When its state last changed, in milliseconds since the epoch. */
  readonly progressAt: number;
}
