/**
 * Records the histories that the replay test replays. Run it after an intended change of a workflow, keep the old files, and give the new
 * ones new names:
 * TEMPORAL_ADDRESS=127.0.0.1:7233 node test/integration/workflows/record-histories.ts <suffix>
 */
import { writeFile } from 'node:fs/promises';

import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

import type { Workflow } from '@temporalio/client';

import {
  analyseCall,
  clearCollection,
  deliverWithRetries,
  housekeeping,
  ingestDocument,
  reindexCollection,
} from '../../../workflows/catalogue.ts';
import { pretendedAnalysis } from './pretended-analysis.ts';
import { pretendedDelivery } from './pretended-delivery.ts';
import { broken, gone, job, pretendedIngestion } from './pretended-ingestion.ts';
import { repository } from '../../support/stack.ts';
import { pretendedActivities, unique, whileWorking } from './support.ts';

const address = process.env['TEMPORAL_ADDRESS'] ?? '127.0.0.1:7233';
const suffix = process.argv[2] ?? '';

const call = { org: 'acme', callId: 'call_019a2b3c-0000-7000-8000-000000000000' };

const cases: readonly {
  readonly name: string;
  readonly workflow: Workflow;
  readonly args: readonly unknown[];
  readonly activities: object;
}[] = [
  { name: 'housekeeping-nothing-to-do', workflow: housekeeping, args: [], activities: pretendedActivities(0) },
  { name: 'housekeeping-some-organizations', workflow: housekeeping, args: [], activities: pretendedActivities(57) },
  { name: 'housekeeping-two-failed', workflow: housekeeping, args: [], activities: pretendedActivities(12, ['org-00003', 'org-00011']) },
  {
    name: 'ingestion-file',
    workflow: ingestDocument,
    args: [job],
    activities: pretendedIngestion({ failing: { indexDocument: [new Error('away')] } }),
  },
  {
    name: 'ingestion-website-replacing',
    workflow: ingestDocument,
    args: [job],
    activities: pretendedIngestion({ kind: 'website', replaced: ['doc_0'] }),
  },
  {
    name: 'ingestion-failed',
    workflow: ingestDocument,
    args: [job],
    activities: pretendedIngestion({ failing: { parseDocument: [broken('corrupt_file')] } }),
  },
  {
    name: 'ingestion-gone',
    workflow: ingestDocument,
    args: [job],
    activities: pretendedIngestion({ failing: { verifyDocument: [gone()] } }),
  },
  { name: 'ingestion-one-pass', workflow: ingestDocument, args: [job, { small: true }], activities: pretendedIngestion() },
  {
    name: 'ingestion-one-pass-staged',
    workflow: ingestDocument,
    args: [job, { small: true }],
    activities: pretendedIngestion({ onePass: { outcome: 'staged', kind: 'file' } }),
  },
  { name: 'clearing-collection', workflow: clearCollection, args: [job], activities: pretendedIngestion({ documents: 53 }) },
  {
    name: 'delivery-later',
    workflow: deliverWithRetries,
    args: [{ deliveryId: '019a2b3c-0000-8000-8000-000000000000', subscriptionUid: '5f0e4d4e-0000-4000-8000-000000000000' }],
    activities: pretendedDelivery(2),
  },
  { name: 'analysis', workflow: analyseCall, args: [call], activities: pretendedAnalysis('completed') },
  { name: 'analysis-refused', workflow: analyseCall, args: [call], activities: pretendedAnalysis('refused') },
  { name: 'reindex', workflow: reindexCollection, args: [job], activities: pretendedIngestion({ documents: 3 }) },
];

for (const { name, workflow, args, activities } of cases) {
  await whileWorking({ address, activities }, async (client, taskQueue) => {
    const handle = await client.workflow.start(workflow, { taskQueue, workflowId: unique(name), args: [...args] });
    await handle.result().catch(() => undefined);
    const history = await handle.fetchHistory();
    const file = new URL(`./histories/${name}${suffix === '' ? '' : `-${suffix}`}.json`, import.meta.url);
    // Stack traces say where this checkout stands.
    const text = JSON.stringify(JSON.parse(historyToJSON(history))).replaceAll(repository, '/parley');
    await writeFile(file, `${text}\n`);
  });
}
