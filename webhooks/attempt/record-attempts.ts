/** Records attempts and what they say about the health of their endpoints; the dispatcher and the retries share it. */
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { DispatchStore } from '../../store/webhooks/dispatch.ts';
import type { RecordResult } from '../../store/webhooks/types.ts';
import { parkFailingEndpoints, type JudgedAttempt } from '../endpoint-health/park-failing-endpoints.ts';
import { disableFailingEndpoints } from '../endpoint-health/auto-disable.ts';
import type { EndpointDirectory } from '../subscriptions/directory.ts';
import type { EndpointHealthCache } from '../endpoint-health/endpoint-health-cache.ts';

export interface RecordAttemptsOptions {
  readonly store: Pick<DispatchStore, 'record' | 'attemptWindows' | 'changeBreaker' | 'endpoints' | 'disable'>;
  readonly directory: Pick<EndpointDirectory, 'byUid'>;
  readonly health: EndpointHealthCache;
  readonly clock: Clock;
  readonly logger: Logger;
}

export type RecordAttempts = (results: readonly JudgedAttempt[]) => Promise<RecordResult>;

/** @returns a function that throws StoreError when nothing was recorded */
export function createRecordAttempts({ store, directory, health, clock, logger }: RecordAttemptsOptions): RecordAttempts {
  return async (results) => {
    const recorded = await store.record(results);
    health.take(recorded.endpoints);
    try {
      // The cache learns it at once: events right behind a 410 are not sent any more.
      if (recorded.disabled.length > 0) health.take(await store.endpoints({ uids: recorded.disabled }));
      await parkFailingEndpoints({ store, health, clock }, results, recorded);
      health.take(await disableFailingEndpoints(recorded.endpoints, { store, directory, clock, logger }));
    } catch (err) {
      // The attempts are recorded: they count with the next ones.
      logger.warn({ err }, 'failed to record the health of endpoints; the next attempts do');
    }
    return recorded;
  };
}
