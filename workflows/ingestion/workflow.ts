/**
 * Takes one document from its stored content to `completed` or `failed`: small ones in one pass, all others in stages. Every step may be
 * repeated: the names that it writes follow from the document's id. Runs in Temporal's sandbox: no clock, no random, no I/O.
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

/** Retries without end: the activities give up work that stands still for 30 minutes, because only they know when it last made progress. */
const patiently: ActivityOptions['retry'] = { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '20 seconds' };

const quick = proxyActivities<Pick<IngestionActivities, 'beginIngestion' | 'failDocument'>>({
  startToCloseTimeout: '2 minutes',
  retry: patiently,
});

/**
 * Runs all stages of a small document within the task of its workflow, which another worker gets 10 s after the first has died. Failures
 * that outlast a few attempts are left to the stages: they wait longer, and resume.
 */
const { ingestInOnePass } = proxyLocalActivities<Pick<IngestionActivities, 'ingestInOnePass'>>({
  startToCloseTimeout: '1 minute',
  retry: { ...patiently, maximumAttempts: 3 },
});

/** The document that has come furthest goes first: work that was begun is finished before more is begun. */
const PRIORITY = { begun: 3, parsed: 2, indexed: 1 } as const;

/** The last step of documents is short, and goes ahead of all others. */
const { completeDocument } = proxyActivities<Pick<IngestionActivities, 'completeDocument'>>({
  startToCloseTimeout: '2 minutes',
  retry: patiently,
  priority: { priorityKey: PRIORITY.indexed },
});

/**
 * Long activities send heartbeats, so that a worker which dies in one is noticed in seconds.
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

/** @param options `small`: the document is tried in one pass first */
export async function ingestDocument(job: DocumentJob, { small = false }: { readonly small?: boolean } = {}): Promise<IngestionOutcome> {
  try {
    const tried = small ? await tryOnePass(job) : undefined;
    if (tried?.outcome === 'gone' || tried?.outcome === 'failed') return tried.outcome;
    const replaced = tried?.outcome === 'completed' ? tried.replaced : await inStages(job, tried);
    if (replaced === undefined) return 'gone';
    for (const documentId of replaced) await clearReplaced({ ...job, documentId });
    return 'completed';
  } catch (error) {
    const failure = applicationFailure(error);
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

/** @returns ids of the documents that it replaced, or undefined when there is nothing (left) to do */
async function inStages(job: DocumentJob, tried: OnePassResult | undefined): Promise<readonly string[] | undefined> {
  const kind = tried?.outcome === 'staged' ? tried.kind : await quick.beginIngestion(job);
  if (kind === undefined) return undefined;
  if (kind === 'website') await long(PRIORITY.begun, queuesNextTo(workflowInfo().taskQueue)?.websites).fetchPages(job);
  const movedTo = await read(job, { large: tried?.outcome === 'large' });
  await long(PRIORITY.parsed, movedTo).indexDocument(job);
  await long(PRIORITY.indexed).verifyDocument(job);
  return completeDocument(job);
}

/**
 * Parses the document. A small file that takes long moves to the bulk queue, so that others get its place. @returns the queue that it moved
 * to, if it did
 */
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
    if (applicationFailure(error)?.type !== failureTypes.slow) throw error;
  }
  await long(PRIORITY.begun, elsewhere).parseDocument(job);
  return elsewhere;
}

function applicationFailure(error: unknown): ApplicationFailure | undefined {
  return error instanceof ActivityFailure && error.cause instanceof ApplicationFailure ? error.cause : undefined;
}

/** Starts the clearing of a replaced document without waiting for it: the document that came in its place is done. */
async function clearReplaced(job: DocumentJob): Promise<void> {
  await startChild(clearDocument, {
    workflowId: workflowIds.clearDocument(job.documentId),
    args: [job],
    parentClosePolicy: ParentClosePolicy.ABANDON,
  }).catch((error: unknown) => {
    // The sweep has started the clearing already.
    if (!(error instanceof Error) || error.name !== 'WorkflowExecutionAlreadyStartedError') throw error;
  });
}
