/**
 * One document from its stored content to `completed` or `failed`, small ones in one pass, all others in stages. Every step may be repeated: what it writes has names
 * that follow from the document's id. Runs in Temporal's sandbox: no clock, no random, no I/O.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  proxyLocalActivities,
  startChild,
  workflowInfo,
  type ActivityOptions,
} from '@temporalio/workflow';

import { queuesNextTo, SMALL_FILE_MS, workflowIds, type DocumentJob } from '../../knowledge/jobs/names.ts';
import { clearDocument } from '../clearing/workflow.ts';
import { failureTypes, type IngestionActivities, type IngestionOutcome, type OnePassResult } from './types.ts';

/** What stands still for 30 minutes is given up by the activities themselves: only they know when it last got anywhere. */
const patiently: ActivityOptions['retry'] = { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '20 seconds' };

const quick = proxyActivities<Pick<IngestionActivities, 'beginIngestion' | 'failDocument'>>({
  startToCloseTimeout: '2 minutes',
  retry: patiently,
});

/**
 * All stages of a small document within the task of its workflow, which is given to another worker 10 s after its worker has died. What a few
 * attempts don't mend is left to the stages: they wait longer, and resume.
 */
const { ingestInOnePass } = proxyLocalActivities<Pick<IngestionActivities, 'ingestInOnePass'>>({
  startToCloseTimeout: '1 minute',
  retry: { ...patiently, maximumAttempts: 3 },
});

/** Of what waits, the document goes first that has come furthest: what was begun is finished before more is begun. */
const PRIORITY = { begun: 3, parsed: 2, indexed: 1 } as const;

/** Their last steps: short, and ahead of all others. */
const { completeDocument } = proxyActivities<Pick<IngestionActivities, 'completeDocument'>>({
  startToCloseTimeout: '2 minutes',
  retry: patiently,
  priority: { priorityKey: PRIORITY.indexed },
});

/**
 * They say that they are alive, so that a worker which dies in one is noticed in seconds.
 *
 * @param taskQueue the workflow's own when left out
 */
const long = (
  priorityKey: number,
  taskQueue?: string,
): Pick<IngestionActivities, 'fetchPages' | 'parseDocument' | 'indexDocument' | 'verifyDocument'> =>
  proxyActivities({
    startToCloseTimeout: '6 hours',
    heartbeatTimeout: '20 seconds',
    retry: patiently,
    priority: { priorityKey },
    ...(taskQueue !== undefined && { taskQueue }),
  });

/** @param options `small`: it is tried in one pass first */
export async function ingestDocument(job: DocumentJob, { small = false }: { readonly small?: boolean } = {}): Promise<IngestionOutcome> {
  try {
    const tried = small ? await tryOnePass(job) : undefined;
    if (tried?.outcome === 'gone' || tried?.outcome === 'failed') return tried.outcome;
    const replaced = tried?.outcome === 'completed' ? tried.replaced : await inStages(job, tried);
    if (replaced === undefined) return 'gone';
    for (const documentId of replaced) await clearReplaced({ ...job, documentId });
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

async function tryOnePass(job: DocumentJob): Promise<OnePassResult | undefined> {
  try {
    return await ingestInOnePass(job);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return undefined;
  }
}

/** @returns the documents that it took the place of, or undefined when there is nothing (left) to do */
async function inStages(job: DocumentJob, tried: OnePassResult | undefined): Promise<readonly string[] | undefined> {
  const kind = tried?.outcome === 'staged' ? tried.kind : await quick.beginIngestion(job);
  if (kind === undefined) return undefined;
  if (kind === 'website') await long(PRIORITY.begun, queuesNextTo(workflowInfo().taskQueue)?.websites).fetchPages(job);
  const movedTo = await read(job, { large: tried?.outcome === 'large' });
  await long(PRIORITY.parsed, movedTo).indexDocument(job);
  await long(PRIORITY.indexed).verifyDocument(job);
  return completeDocument(job);
}

/** A small file that takes long leaves the place that it holds to others. @returns the queue that it moved to, if it did */
async function read(job: DocumentJob, { large }: { readonly large: boolean }): Promise<string | undefined> {
  const elsewhere = queuesNextTo(workflowInfo().taskQueue)?.bulk;
  if (elsewhere === undefined) {
    await long(PRIORITY.begun).parseDocument(job);
    return undefined;
  }
  try {
    if (!large) {
      await long(PRIORITY.begun).parseDocument(job, { withinMs: SMALL_FILE_MS });
      return undefined;
    }
  } catch (error) {
    if (causeOf(error)?.type !== failureTypes.slow) throw error;
  }
  await long(PRIORITY.begun, elsewhere).parseDocument(job);
  return elsewhere;
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
