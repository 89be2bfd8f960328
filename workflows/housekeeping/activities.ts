import { ApplicationFailure, Context } from '@temporalio/activity';
import { Counter, type Registry } from 'prom-client';

import { StorageError } from '../../knowledge/storage/file-storage.ts';
import { StoreError, type KeepDays, type Store } from '../../store/index.ts';
import type { CallDeletion } from '../../calls/call-deletion.ts';
import type { HousekeepingActivities, Tidied } from './types.ts';

export interface HousekeepingActivitiesOptions {
  readonly store: {
    readonly organizations: Pick<Store['organizations'], 'list'>;
    readonly agentRevisions: Pick<Store['agentRevisions'], 'prune'>;
    readonly testRuns: Pick<Store['testRuns'], 'prune'>;
    readonly apiKeys: Pick<Store['apiKeys'], 'purge'>;
    readonly webhooks: Pick<Store['webhooks'], 'maintainPartitions'>;
    readonly dynamicDataCache: Pick<Store['dynamicDataCache'], 'prune'>;
    readonly idempotentRequests: Pick<Store['idempotentRequests'], 'prune'>;
    readonly knowledge: { readonly embeddingCache: Pick<Store['knowledge']['embeddingCache'], 'prune'> };
    readonly calls: { readonly usage: Pick<Store['calls']['usage'], 'pruneSpending'> };
  };
  readonly deletion: Pick<CallDeletion, 'dueCalls' | 'dueRecordings' | 'settledDeletions'>;
  readonly keep: KeepDays;
  readonly registry: Registry;
}

/** Rows deleted in one transaction: it is short enough that its locks delay no other writer. */
const BATCH = 500;
/** Calls deleted in one batch: one by one, each with its file. */
const CALLS_BATCH = 25;

export function createHousekeepingActivities({ store, deletion, keep, registry }: HousekeepingActivitiesOptions): HousekeepingActivities {
  const deleted = new Counter({
    name: 'parley_housekeeping_deleted_total',
    help: 'Rows that the housekeeping deleted, recordings, and tables of events.',
    labelNames: ['what'],
    registers: [registry],
  });
  return {
    async tidyEvents() {
      const { dropped, deleted: rows, postponed } = await explained(() => store.webhooks.maintainPartitions(keep));
      deleted.inc({ what: 'event_tables' }, dropped);
      deleted.inc({ what: 'event_rows' }, rows);
      // The table was locked, which doesn't last.
      if (postponed > 0) throw ApplicationFailure.create({ message: `${postponed} tables of events were in use`, type: 'TablesInUse' });
    },
    async organizationsAfter({ after, limit }) {
      return explained(async () => (await store.organizations.list({ after, limit })).map(({ name }) => name));
    },
    async tidyOrganization(org) {
      const context = Context.current();
      // A second attempt goes on counting where the first was cut off.
      let done: Tidied = (context.info.heartbeatDetails as Tidied | undefined) ?? { revisions: 0, apiKeys: 0 };
      const step = (more: Tidied): void => {
        done = { revisions: done.revisions + more.revisions, apiKeys: done.apiKeys + more.apiKeys };
        deleted.inc({ what: 'agent_revisions' }, more.revisions);
        deleted.inc({ what: 'api_keys' }, more.apiKeys);
        context.heartbeat(done);
        context.cancellationSignal.throwIfAborted();
      };
      return explained(async () => {
        for (let more = true; more;) {
          const pruned = await store.agentRevisions.prune({ org, limit: BATCH });
          step({ revisions: pruned.deleted, apiKeys: 0 });
          more = pruned.more;
        }
        for (let more = true; more;) {
          const apiKeys = await store.apiKeys.purge({ org, limit: BATCH });
          step({ revisions: 0, apiKeys });
          more = apiKeys === BATCH;
        }
        const all = async (what: string, limit: number, batch: (of: { org: string; limit: number }) => Promise<number>) => {
          for (let count = limit; count === limit;) {
            count = await batch({ org, limit });
            deleted.inc({ what }, count);
            step({ revisions: 0, apiKeys: 0 });
          }
        };
        await all('test_runs', BATCH, (of) => store.testRuns.prune(of));
        // Calls prune these rows themselves; this is for organisations that have no more calls.
        await all('dynamic_data_answers', BATCH, (of) => store.dynamicDataCache.prune(of));
        await all('idempotent_requests', BATCH, (of) => store.idempotentRequests.prune(of));
        await all('cached_embeddings', BATCH, (of) => store.knowledge.embeddingCache.prune(of));
        await all('agent_spending', BATCH, (of) => store.calls.usage.pruneSpending(of));
        // These come last, because they need the storage, too.
        await all('calls', CALLS_BATCH, deletion.dueCalls);
        await all('recordings', CALLS_BATCH, deletion.dueRecordings);
        await all('call_deletions', CALLS_BATCH, deletion.settledDeletions);
        return done;
      });
    },
  };
}

/** Tells Temporal which failures are worth another attempt. Migrations and permissions get corrected while it retries. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StorageError)
      throw ApplicationFailure.create({ message: error.message, type: `StorageError.${error.kind}`, nonRetryable: !error.retryable });
    if (!(error instanceof StoreError)) throw error;
    throw ApplicationFailure.create({
      message: error.message,
      type: `StoreError.${error.kind}`,
      nonRetryable: !error.retryable && error.kind !== 'schema' && error.kind !== 'refused',
    });
  }
}
