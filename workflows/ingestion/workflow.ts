/**
 * One document from its stored content to `completed` or `failed`. Every step may be repeated: what it writes has names
 * that follow from the document's id. Runs in Temporal's sandbox: no clock, no random, no I/O.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  ParentClosePolicy,
  proxyActivities,
  startChild,
  workflowInfo,
  type ActivityOptions,
} from '@temporalio/workflow';

import { queuesNextTo, SMALL_FILE_MS, workflowIds, type DocumentJob } from '../../knowledge/jobs/names.ts';
import { clearDocument } from '../clearing/workflow.ts';
import { failureTypes, type IngestionActivities, type IngestionOutcome } from './types.ts';

/** What stands still for 30 minutes is given up by the activities themselves: only they know when it last got anywhere. */
const patiently: ActivityOptions['retry'] = { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '20 seconds' };

const quick = proxyActivities<Pick<IngestionActivities, 'beginIngestion' | 'completeDocument' | 'failDocument'>>({
  startToCloseTimeout: '2 minutes',
  retry: patiently,
});

/**
 * They say that they are alive, so that a worker which dies in one is noticed in seconds.
 *
 * @param taskQueue the workflow's own when left out
 */
const long = (taskQueue?: string): Pick<IngestionActivities, 'fetchPages' | 'parseDocument' | 'indexDocument' | 'verifyDocument'> =>
  proxyActivities({
    startToCloseTimeout: '6 hours',
    heartbeatTimeout: '20 seconds',
    retry: patiently,
    ...(taskQueue !== undefined && { taskQueue }),
  });

export async function ingestDocument(job: DocumentJob): Promise<IngestionOutcome> {
  try {
    const kind = await quick.beginIngestion(job);
    if (kind === undefined) return 'gone';
    if (kind === 'website') await long(queuesNextTo(workflowInfo().taskQueue)?.websites).fetchPages(job);
    const movedTo = await read(job);
    await long(movedTo).indexDocument(job);
    await long().verifyDocument(job);
    for (const documentId of await quick.completeDocument(job)) await clearReplaced({ ...job, documentId });
    return 'completed';
  } catch (error) {
    const failure = causeOf(error);
    if (failure?.type === failureTypes.gone) return 'gone';
    if (failure?.type !== failureTypes.document) throw error;
    const [code] = (failure.details ?? []) as readonly string[];
    await quick.failDocument(job, { code: code ?? 'corrupt_file', message: failure.message });
    return 'failed';
  }
}

/** A small file that takes long leaves the place that it holds to others. @returns the queue that it moved to, if it did */
async function read(job: DocumentJob): Promise<string | undefined> {
  const elsewhere = queuesNextTo(workflowInfo().taskQueue)?.bulk;
  if (elsewhere === undefined) {
    await long().parseDocument(job);
    return undefined;
  }
  try {
    await long().parseDocument(job, { withinMs: SMALL_FILE_MS });
    return undefined;
  } catch (error) {
    if (causeOf(error)?.type !== failureTypes.slow) throw error;
    await long(elsewhere).parseDocument(job);
    return elsewhere;
  }
}

function causeOf(error: unknown): ApplicationFailure | undefined {
  return error instanceof ActivityFailure && error.cause instanceof ApplicationFailure ? error.cause : undefined;
}

/** Goes on by itself: the document that came in its place is done. */
async function clearReplaced(job: DocumentJob): Promise<void> {
  await startChild(clearDocument, {
    workflowId: workflowIds.clearDocument(job.documentId),
    args: [job],
    parentClosePolicy: ParentClosePolicy.ABANDON,
  }).catch((error: unknown) => {
    // The sweep has started it already.
    if (!(error instanceof Error) || error.name !== 'WorkflowExecutionAlreadyStartedError') throw error;
  });
}
