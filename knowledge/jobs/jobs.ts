/** Starts the long work of knowledge bases in Temporal. Every start is idempotent: work that runs already is left running. */
import { lazily } from '../../platform/lazily.ts';
import type { Logger } from '../../platform/logging.ts';
import type { Temporal } from '../../platform/temporal/access.ts';
import { ingestionQueues, REINDEXED_DOCUMENTS, SEARCH_ATTRIBUTES, workflowIds, type CollectionJob, type DocumentJob } from './names.ts';

/** @throws TemporalUnavailableError from every start; the worker's sweep starts the work later */
export interface KnowledgeJobs {
  /** @param job - `small`: see {@link beginsSmall} */
  ingest(job: DocumentJob & { readonly small: boolean }): Promise<void>;
  /** Stops the ingestion, if it runs, and removes the data of a deleted document. */
  clearDocument(job: DocumentJob): Promise<void>;
  clearCollection(job: CollectionJob): Promise<void>;
  /** Rebuilds the vectors from the stored chunks. */
  reindex(job: CollectionJob): Promise<void>;
  /** Resolves when the last reindexing that was begun has ended. @throws WorkflowFailedError */
  reindexed(job: CollectionJob): Promise<void>;
  /** Returns the number of documents that the last reindexing has been through; undefined while no worker answers. */
  reindexProgress(job: CollectionJob): Promise<number | undefined>;
  close(): Promise<void>;
}

/** Longest wait for a worker's answer about the progress, in milliseconds. */
const PROGRESS_MS = 2_000;

export interface KnowledgeJobsOptions extends Temporal {
  readonly logger: Logger;
  /** The installation's task queue, the same as the worker's. */
  readonly taskQueue: string;
}

export function createKnowledgeJobs({ taskQueue, ...options }: KnowledgeJobsOptions): KnowledgeJobs {
  // Temporal's client is large, and most processes start no job in their first second.
  const starter = lazily(async () => {
    const { WorkflowStarter } = await import('../../platform/temporal/workflow-starter.ts');
    return new WorkflowStarter({ ...options, searchAttributes: SEARCH_ATTRIBUTES });
  });
  const queues = ingestionQueues(taskQueue);
  const start = async (
    workflow: string,
    workflowId: string,
    queue: string,
    job: CollectionJob | DocumentJob,
    how?: object,
  ): Promise<void> => {
    const attributes = {
      ParleyOrganization: job.org,
      ParleyKnowledgeBase: job.knowledgeBase,
      ParleyDocument: 'documentId' in job ? job.documentId : undefined,
    };
    await (
      await starter.get()
    ).start(workflow, {
      workflowId,
      taskQueue: queue,
      args: how === undefined ? [job] : [job, how],
      attributes,
      // Knowledge bases take turns: one page doesn't wait behind the import of another base.
      fairnessKey: job.collectionId,
    });
  };
  return {
    ingest: ({ small, ...job }) =>
      small
        ? start('ingestDocument', workflowIds.ingestion(job.documentId), queues.small, job, { small: true })
        : start('ingestDocument', workflowIds.ingestion(job.documentId), queues.bulk, job),
    clearDocument: (job) => start('clearDocument', workflowIds.clearDocument(job.documentId), queues.small, job),
    clearCollection: (job) => start('clearCollection', workflowIds.clearCollection(job.collectionId), queues.small, job),
    reindex: (job) => start('reindexCollection', workflowIds.reindex(job.collectionId), queues.bulk, job),
    reindexed: async ({ collectionId }) => (await starter.get()).client.workflow.result(workflowIds.reindex(collectionId)),
    reindexProgress: async ({ collectionId }) => {
      const { client } = await starter.get();
      const handle = client.workflow.getHandle(workflowIds.reindex(collectionId));
      return client.connection
        .withDeadline(Date.now() + PROGRESS_MS, () => handle.query<number>(REINDEXED_DOCUMENTS))
        .catch(() => undefined);
    },
    close: () => starter.close((opened) => opened.close()),
  };
}
