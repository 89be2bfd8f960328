/** Runs `parley kb reindex`: it starts the work, which a worker does, and watches it. */
import type { Clock } from '../../platform/clock.ts';
import { pollUntil } from '../../platform/poll-until.ts';
import { TemporalUnavailableError } from '../../platform/temporal/unavailable-error.ts';
import { UserError } from '../../platform/user-error.ts';
import { INTERRUPTED } from '../interruptible.ts';
import type { Progress } from '../progress-bar.ts';
import type { OfflineBase } from './offline.ts';

/** Time between two looks, in milliseconds. */
const LOOK_EVERY_MS = 1_000;

export interface ReindexOptions {
  /** True to only start it. */
  readonly detach: boolean;
  readonly progress: Progress;
  readonly clock: Clock;
  /** Ends the watching; the worker goes on. */
  readonly signal: AbortSignal;
}

/** @returns how many chunks the knowledge base has. @throws UserError */
export async function reindex({ store, knowledge: { jobs }, collection }: OfflineBase, options: ReindexOptions): Promise<number> {
  const { detach, progress, clock, signal } = options;
  const { org, name, id } = collection;
  const job = { org, knowledgeBase: name, collectionId: id };
  await jobs.reindex(job).catch((error: unknown) => {
    if (!(error instanceof TemporalUnavailableError)) throw error;
    throw new UserError(error.message, { cure: 'is Temporal running, and is TEMPORAL_ADDRESS right?', cause: error });
  });
  progress.line(`${collection.chunkCount} chunks of ${org}/${name} are being indexed`);
  if (detach) return collection.chunkCount;
  const { total } = (await store.knowledge.collections.overview({ org, id })).documents;
  const over = new AbortController();
  const ended = jobs.reindexed(job).finally(() => over.abort());
  // Its failure is reported below, when the watching has ended.
  ended.catch(() => undefined);
  const stop = AbortSignal.any([signal, over.signal]);
  const showProgress = async (): Promise<void> => {
    const documents = await jobs.reindexProgress(job);
    if (documents !== undefined && !stop.aborted) progress.show(Math.min(documents, total), total, 'documents');
  };
  await pollUntil(showProgress, () => false, { everyMs: LOOK_EVERY_MS, clock, signal: stop });
  if (!over.signal.aborted)
    throw new UserError(`a worker goes on indexing ${org}/${name}`, {
      exitCode: INTERRUPTED,
      cure: `to see when it is done: parley kb reindex ${org} ${name}, which does not begin again while it runs`,
    });
  await ended;
  const left = await store.knowledge.collections.byName({ org, name });
  if (left?.id !== id) throw new UserError(`the knowledge base ${org}/${name} was deleted while it was indexed`);
  progress.line('done');
  return left.chunkCount;
}
