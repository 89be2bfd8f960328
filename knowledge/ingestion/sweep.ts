/** Repairs what crashes leave: jobs that were never started, and vectors and files without a document. */
import { TemporalUnavailableError } from '../../platform/temporal/unavailable-error.ts';
import type { KnowledgeJobs } from '../jobs/jobs.ts';
import { beginsSmall } from '../jobs/names.ts';
import { collectionRef } from '../search/create-search.ts';
import type { IngestionDependencies } from './step.ts';

export interface SweepDependencies extends Pick<IngestionDependencies, 'knowledge' | 'vectors' | 'storage' | 'clock' | 'logger'> {
  readonly jobs: Pick<KnowledgeJobs, 'ingest' | 'clearDocument' | 'clearCollection'>;
}

/** Milliseconds for which a document counts as at work: the process that accepted it starts its job. */
const FRESH_MS = 20_000;
/** An upload stores the file before the document's row, and takes less than this. */
const ORPHAN_AFTER_MS = 2 * 3_600_000;
const PAGE = 500;

/** Starts the jobs that an organisation's documents wait for. Jobs that run are left running. */
export async function startMissedJobs(
  org: string,
  { knowledge, jobs, clock }: Pick<SweepDependencies, 'knowledge' | 'jobs' | 'clock'>,
): Promise<void> {
  for (const document of await knowledge.documents.unsettled({ org, limit: PAGE })) {
    if (clock.now() - document.progressAt.getTime() < FRESH_MS && !document.deleted) continue;
    const { collectionId } = document;
    const { name: knowledgeBase = '' } = (await knowledge.collections.get({ org, id: collectionId })) ?? {};
    const job = { org, knowledgeBase, collectionId, documentId: document.id };
    if (document.deleted) await jobs.clearDocument(job);
    else await jobs.ingest({ ...job, small: beginsSmall(document) });
  }
  for (const { id, name } of await knowledge.collections.tombstoned(org))
    await jobs.clearCollection({ org, knowledgeBase: name, collectionId: id });
}

/** Removes vectors and files of documents that don't exist. @returns the number of these documents */
export async function removeOrphans(org: string, dependencies: Omit<SweepDependencies, 'jobs'>): Promise<number> {
  const { knowledge, vectors, storage, clock } = dependencies;
  let removed = 0;
  for (const collection of await knowledge.collections.list(org)) {
    const ref = collectionRef(collection);
    for (let after: string | undefined; ;) {
      const ids = await vectors.documentIds(ref, { after, limit: PAGE });
      for (const id of await unknownAmong(org, ids, knowledge)) {
        await vectors.deleteDocument(ref, id);
        removed += 1;
      }
      after = ids.at(-1);
      if (ids.length < PAGE) break;
    }
  }
  for (let after: string | undefined; ;) {
    const keys = await storage.list(`${org}/`, { after, limit: PAGE });
    const byDocument = Map.groupBy(keys, (key) => key.split('/')[1] ?? '');
    const old = [...byDocument.keys()].filter((id) => madeAt(id) < clock.now() - ORPHAN_AFTER_MS);
    for (const id of await unknownAmong(org, old, knowledge)) {
      for (const key of byDocument.get(id) ?? []) await storage.delete(key);
      removed += 1;
    }
    after = keys.at(-1);
    if (keys.length < PAGE) break;
  }
  return removed;
}

/** Goes through all organisations, one after the other. A failure in one does not keep the others from being swept. */
export async function sweep(
  organizations: readonly string[],
  dependencies: SweepDependencies,
  { orphans, signal }: { readonly orphans: boolean; readonly signal: AbortSignal },
): Promise<void> {
  for (const org of organizations) {
    if (signal.aborted) return;
    try {
      await startMissedJobs(org, dependencies);
      const removed = orphans ? await removeOrphans(org, dependencies) : 0;
      if (removed > 0) dependencies.logger.info({ org, removed }, 'removed orphaned vectors and files');
    } catch (error) {
      dependencies.logger.warn({ err: error, org }, 'failed to sweep an organisation; retrying in the next round');
      // Without Temporal no organisation's jobs can start.
      if (error instanceof TemporalUnavailableError) return;
    }
  }
}

async function unknownAmong(
  org: string,
  ids: readonly string[],
  knowledge: IngestionDependencies['knowledge'],
): Promise<readonly string[]> {
  const known = await knowledge.documents.existing({ org, ids });
  return ids.filter((id) => !known.has(id));
}

/** Returns the time in a document's id, a UUIDv7, in milliseconds since the epoch. Ids of another form are never old. */
function madeAt(documentId: string): number {
  const match = /^doc_([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(documentId);
  return match === null ? Infinity : Number.parseInt(`${match[1]}${match[2]}`, 16);
}
