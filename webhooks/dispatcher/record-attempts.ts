/** Writes down how attempts ended, and what that says about their endpoints: the same for the dispatcher and for retries. */
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { DispatchStore } from '../../store/webhooks/dispatch.ts';
import type { AttemptResult, EndpointRecord, RecordResult } from '../../store/webhooks/types.ts';
import { afterAttempts, type Breaker, WINDOW_MS } from '../breaker/breaker.ts';
import { giveUpHopeless } from '../health/give-up.ts';
import type { EndpointDirectory } from '../subscriptions/directory.ts';
import { breakerOf, type EndpointBook } from './endpoint-book.ts';

export interface RecordAttemptsOptions {
  readonly store: Pick<DispatchStore, 'record' | 'attemptWindows' | 'changeBreaker' | 'endpoints' | 'disable'>;
  readonly directory: Pick<EndpointDirectory, 'byUid'>;
  readonly book: EndpointBook;
  readonly clock: Clock;
  readonly logger: Logger;
}

export type RecordAttempts = (results: readonly AttemptResult[]) => Promise<RecordResult>;

/** Nine failures of ten don't come without a row of as many. Saves counting those of everybody who fails now and then. */
const FAILURES_IN_A_ROW = 5;

/** @returns a function that throws StoreError when nothing was recorded */
export function createRecordAttempts({ store, directory, book, clock, logger }: RecordAttemptsOptions): RecordAttempts {
  return async (results) => {
    const recorded = await store.record(results);
    book.take(recorded.endpoints);
    try {
      // At once: events that come right behind the 410 are not sent any more.
      if (recorded.disabled.length > 0) book.take(await store.endpoints({ uids: recorded.disabled }));
      await settleBreakers({ store, book, clock }, results, recorded);
      book.take(await giveUpHopeless(recorded.endpoints, { store, directory, clock, logger }));
    } catch (err) {
      // The attempts are written down: they count with the next ones.
      logger.warn({ err }, 'what attempts say about their endpoints was not written down');
    }
    return recorded;
  };
}

interface Tally {
  readonly org: string;
  succeeded: number;
  failed: number;
}

async function settleBreakers(
  { store, book, clock }: Pick<RecordAttemptsOptions, 'store' | 'book' | 'clock'>,
  results: readonly AttemptResult[],
  recorded: RecordResult,
): Promise<void> {
  const tallies = new Map<string, Tally>();
  results.forEach(({ subscriptionUid, org, succeeded }, index) => {
    // Told twice, counted once.
    if (recorded.attempts[index]?.outcome === 'known') return;
    const tally = tallies.get(subscriptionUid) ?? { org, succeeded: 0, failed: 0 };
    tally[succeeded ? 'succeeded' : 'failed'] += 1;
    tallies.set(subscriptionUid, tally);
  });
  const records = new Map(recorded.endpoints.map((record) => [record.subscriptionUid, record]));
  const known = (uid: string): EndpointRecord | undefined => book.get(uid) ?? records.get(uid);
  const concerned = [...tallies].filter(([uid, { failed }]) => {
    const record = known(uid);
    return record !== undefined && (record.breaker !== 'closed' || (failed > 0 && record.consecutiveFailures >= FAILURES_IN_A_ROW));
  });
  if (concerned.length === 0) return;
  const toCount = concerned.flatMap(([uid]) => (known(uid)?.breaker === 'closed' ? [uid] : []));
  const windows = new Map((await windowsOf(store, toCount)).map((window) => [window.subscriptionUid, window]));
  for (const [uid, tally] of concerned) {
    const record = known(uid);
    if (record === undefined) continue;
    const before = breakerOf(record);
    const now = clock.now();
    const after = afterAttempts(before, { succeeded: tally.succeeded, failed: tally.failed, window: windows.get(uid) }, now);
    if (after === before) continue;
    const changed = await store.changeBreaker({ org: tally.org, subscriptionUid: uid, version: record.version, ...asStored(after, now) });
    // Somebody else decided meanwhile: what he made of it holds.
    book.take(changed === undefined ? await store.endpoints({ uids: [uid] }) : [changed]);
  }
}

const windowsOf = (store: Pick<DispatchStore, 'attemptWindows'>, uids: readonly string[]) =>
  uids.length === 0 ? [] : store.attemptWindows(uids, WINDOW_MS);

/** A breaker's times are of this process, the stored ones of the database: only the difference travels. */
function asStored(breaker: Breaker, now: number) {
  if (breaker.state === 'closed') return { breaker: breaker.state, opened: 0, ramp: 0, rampLeft: 0 } as const;
  if (breaker.state === 'open') {
    return { breaker: breaker.state, opened: breaker.opened, probeInMs: Math.max(0, breaker.probeAt - now), ramp: 0, rampLeft: 0 } as const;
  }
  const { state, opened, ramp, rampLeft } = breaker;
  return { breaker: state, opened, ramp, rampLeft } as const;
}
