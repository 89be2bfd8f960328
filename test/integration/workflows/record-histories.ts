/**
 * Records what the replay test replays. Run it after an intended change of a workflow, keep the old files, and give the new ones new names:
 *   TEMPORAL_ADDRESS=127.0.0.1:7233 node test/integration/workflows/record-histories.ts <suffix>
 */
import { writeFile } from 'node:fs/promises';

import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

import { housekeeping } from '../../../workflows/catalogue.ts';
import { pretendedActivities, unique, whileWorking } from './support.ts';

const address = process.env['TEMPORAL_ADDRESS'] ?? '127.0.0.1:7233';
const suffix = process.argv[2] ?? '';

const cases = [
  { name: 'nothing-to-do', activities: pretendedActivities(0) },
  { name: 'some-organizations', activities: pretendedActivities(57) },
  { name: 'two-failed', activities: pretendedActivities(12, ['org-00003', 'org-00011']) },
];

for (const { name, activities } of cases) {
  await whileWorking({ address, activities }, async (client, taskQueue) => {
    const handle = await client.workflow.start(housekeeping, { taskQueue, workflowId: unique(name), args: [] });
    await handle.result().catch(() => undefined);
    const history = await handle.fetchHistory();
    const file = new URL(`./histories/housekeeping-${name}${suffix === '' ? '' : `-${suffix}`}.json`, import.meta.url);
    await writeFile(file, `${JSON.stringify(JSON.parse(historyToJSON(history)))}\n`);
  });
}
