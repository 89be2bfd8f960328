/** Plays the activities of the knowledge workflows, and keeps a diary instead of doing anything. */
import { ApplicationFailure } from '@temporalio/common';

import type { DocumentJob } from '../../../knowledge/jobs/names.ts';
import type { ClearingActivities } from '../../../workflows/clearing/types.ts';
import type { IngestionActivities, OnePassResult, ReindexActivities } from '../../../workflows/ingestion/types.ts';

export interface Pretence {
  readonly kind?: 'file' | 'website' | 'text';
  /** Result of one pass; completed by default. */
  readonly onePass?: OnePassResult;
  /** Errors that a step throws, each time or the first times. */
  readonly failing?: Partial<Record<keyof IngestionActivities, readonly Error[]>>;
  readonly replaced?: readonly string[];
  /** Number of documents that the collection has. */
  readonly documents?: number;
}

export const job: DocumentJob = { org: 'acme', knowledgeBase: 'manuals', collectionId: 'col_1', documentId: 'doc_1' };

export const broken = (code: string): ApplicationFailure => ApplicationFailure.nonRetryable('the file is broken', 'IngestionFailure', code);
export const slow = (): ApplicationFailure => ApplicationFailure.nonRetryable('not done within 4000 ms', 'SlowDocument');
export const gone = (): ApplicationFailure => ApplicationFailure.nonRetryable('deleted', 'DocumentGone');

export function pretendedIngestion(
  pretence: Pretence = {},
): IngestionActivities & ClearingActivities & ReindexActivities & { readonly diary: string[] } {
  const diary: string[] = [];
  const failing = new Map(Object.entries(pretence.failing ?? {}).map(([step, errors]) => [step, [...errors]]));
  const left = Array.from({ length: pretence.documents ?? 0 }, (_, index) => `doc_${String(index).padStart(4, '0')}`);
  const note = (step: string, entry: string = step): void => {
    diary.push(entry);
    const error = failing.get(step)?.shift();
    if (error !== undefined) throw error;
  };
  return {
    diary,
    async ingestInOnePass() {
      note('ingestInOnePass');
      return pretence.onePass ?? { outcome: 'completed', replaced: pretence.replaced ?? [] };
    },
    async beginIngestion() {
      note('beginIngestion');
      return pretence.kind ?? 'file';
    },
    async fetchPages() {
      note('fetchPages');
    },
    async parseDocument() {
      note('parseDocument');
    },
    async indexDocument() {
      note('indexDocument');
    },
    async verifyDocument() {
      note('verifyDocument');
    },
    async completeDocument() {
      note('completeDocument');
      return pretence.replaced ?? [];
    },
    async failDocument(_, { code, message }) {
      note('failDocument', `failDocument ${code}: ${message}`);
    },
    async removeDocument({ documentId }) {
      note('removeDocument', `removeDocument ${documentId}`);
      const index = left.indexOf(documentId);
      if (index >= 0) left.splice(index, 1);
    },
    async documentsOf(_, { after, limit }) {
      return left.filter((id) => id > after).slice(0, limit);
    },
    async removeCollection() {
      note('removeCollection');
    },
    async reindexDocument({ documentId }) {
      note('reindexDocument', `reindexDocument ${documentId}`);
    },
  };
}
