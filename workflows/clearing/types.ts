import type { CollectionJob, DocumentJob } from '../../knowledge/jobs/names.ts';

export interface ClearingActivities {
  /** Removes the vectors, the files, then the rows of a deleted document. */
  removeDocument(job: DocumentJob): Promise<void>;
  /** Returns up to `limit` ids behind `after`. */
  documentsOf(job: CollectionJob, page: { readonly after: string; readonly limit: number }): Promise<readonly string[]>;
  /** Deletes the rest of a deleted collection once its documents are gone. */
  removeCollection(job: CollectionJob): Promise<void>;
}
