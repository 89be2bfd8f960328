/** Rebuilds a knowledge base's vectors from its stored chunks, while searches go on. */
import { continueAsNew, defineQuery, proxyActivities, setHandler, type ActivityOptions } from '@temporalio/workflow';

import { REINDEXED_DOCUMENTS, type CollectionJob } from '../../knowledge/jobs/names.ts';
import type { ClearingActivities } from '../clearing/types.ts';
import type { ReindexActivities } from '../ingestion/types.ts';

const retry: ActivityOptions['retry'] = { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' };

const { documentsOf } = proxyActivities<Pick<ClearingActivities, 'documentsOf'>>({
  startToCloseTimeout: '2 minutes',
  retry,
});
const { reindexDocument } = proxyActivities<ReindexActivities>({
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '20 seconds',
  retry,
});

const PAGE = 50;
const PAGES_PER_RUN = 40;

/**
 * @param after the document id that an earlier run reached
 * @param before the number of documents that earlier runs have indexed
 */
export async function reindexCollection(job: CollectionJob, after = '', before = 0): Promise<void> {
  let documents = before;
  setHandler(defineQuery<number>(REINDEXED_DOCUMENTS), () => documents);
  let last = after;
  for (let page = 0; page < PAGES_PER_RUN; page += 1) {
    const ids = await documentsOf(job, { after: last, limit: PAGE });
    for (const documentId of ids) {
      await reindexDocument({ ...job, documentId });
      documents += 1;
    }
    if (ids.length < PAGE) return;
    last = ids.at(-1) ?? last;
  }
  await continueAsNew<typeof reindexCollection>(job, last, documents);
}
