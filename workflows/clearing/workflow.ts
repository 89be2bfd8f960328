/** Removes the data of deleted documents and knowledge bases. Searches have found none of it since the deletion. */
import { continueAsNew, getExternalWorkflowHandle, isCancellation, proxyActivities, type ActivityOptions } from '@temporalio/workflow';

import { workflowIds, type CollectionJob, type DocumentJob } from '../../knowledge/jobs/names.ts';
import type { ClearingActivities } from './types.ts';

const retry: ActivityOptions['retry'] = { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' };

const activities = proxyActivities<ClearingActivities>({ startToCloseTimeout: '10 minutes', heartbeatTimeout: '1 minute', retry });

const PAGE = 50;
const AT_ONCE = 10;
/** Bounds a history far below Temporal's limit of 51,200 events. */
const PAGES_PER_RUN = 40;

export async function clearDocument(job: DocumentJob): Promise<void> {
  await stopIngestion(job.documentId);
  await activities.removeDocument(job);
}

export async function clearCollection(job: CollectionJob): Promise<void> {
  for (let page = 0; page < PAGES_PER_RUN; page += 1) {
    // The former page's documents are gone, so that this is always the first page.
    const ids = await activities.documentsOf(job, { after: '', limit: PAGE });
    for (let first = 0; first < ids.length; first += AT_ONCE)
      await Promise.all(ids.slice(first, first + AT_ONCE).map((documentId) => clearDocument({ ...job, documentId })));
    if (ids.length < PAGE) {
      await activities.removeCollection(job);
      return;
    }
  }
  await continueAsNew<typeof clearCollection>(job);
}

/** Cancels the ingestion. One that isn't running needs no stop; one that runs also finds its document gone with its next step. */
async function stopIngestion(documentId: string): Promise<void> {
  try {
    await getExternalWorkflowHandle(workflowIds.ingestion(documentId)).cancel();
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
}
