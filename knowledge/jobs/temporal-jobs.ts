/** The long work of knowledge bases as Temporal's workflows. */
import { Client, Connection, WorkflowIdConflictPolicy, WorkflowIdReusePolicy, type WorkflowStartOptions } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';

import { ensureSearchAttributes } from '../../platform/temporal/search-attributes.ts';
import { tracedStarts } from '../../platform/temporal/trace.ts';
import { JobsUnavailable, type KnowledgeJobs, type KnowledgeJobsOptions } from './jobs.ts';
import { ingestionQueues, searchAttributes, workflowIds, type CollectionJob } from './names.ts';

const keys = Object.fromEntries(searchAttributes.map((name) => [name, defineSearchAttributeKey(name, SearchAttributeType.KEYWORD)]));

/** Connects when it is first used. */
export function createTemporalJobs(options: KnowledgeJobsOptions): KnowledgeJobs {
  const { logger, namespace, timeoutMs = 3_000 } = options;
  const queues = ingestionQueues(options.taskQueue);
  const connection = Connection.lazy({ address: options.address, ...options.access, connectTimeout: timeoutMs });
  const client = new Client({ connection, namespace, interceptors: { workflow: [tracedStarts] } });
  let searchable: Promise<boolean> | undefined;

  const attributesOf = (job: CollectionJob & { readonly documentId?: string }): TypedSearchAttributes => {
    const values = { ParleyOrganization: job.org, ParleyKnowledgeBase: job.knowledgeBase, ParleyDocument: job.documentId };
    return new TypedSearchAttributes(
      searchAttributes.flatMap((name) => {
        const [key, value] = [keys[name], values[name]];
        return key === undefined || value === undefined ? [] : [{ key, value }];
      }),
    );
  };

  const start = async (
    workflow: string,
    workflowId: string,
    taskQueue: string,
    job: CollectionJob & { readonly documentId?: string },
    more: Partial<WorkflowStartOptions> = {},
  ): Promise<void> => {
    try {
      await connection.withDeadline(Date.now() + timeoutMs, async () => {
        searchable ??= ensureSearchAttributes(connection, { namespace, names: searchAttributes, logger });
        const typedSearchAttributes = (await searchable) ? attributesOf(job) : undefined;
        await client.workflow.start(workflow, {
          workflowId,
          taskQueue,
          args: [job],
          workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
          workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
          ...(typedSearchAttributes && { typedSearchAttributes }),
          // Heeded by servers that know fairness: organisations take turns.
          priority: { fairnessKey: job.org },
          ...more,
        });
      });
    } catch (error) {
      // Asked again next time: the server may be another one by then.
      searchable = undefined;
      throw new JobsUnavailable(`Temporal did not take ${workflowId} on: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  };

  return {
    ingest: ({ small, ...job }) => start('ingestDocument', workflowIds.ingestion(job.documentId), small ? queues.small : queues.bulk, job),
    clearDocument: (job) => start('clearDocument', workflowIds.clearDocument(job.documentId), queues.small, job),
    clearCollection: (job) => start('clearCollection', workflowIds.clearCollection(job.collectionId), queues.small, job),
    reindex: (job) => start('reindexCollection', workflowIds.reindex(job.collectionId), queues.bulk, job),
    reindexed: ({ collectionId }) => client.workflow.result(workflowIds.reindex(collectionId)),
    close: () => connection.close(),
  };
}
