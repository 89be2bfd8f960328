/** Decides after each batch of attempts which endpoints are parked: their deliveries wait until a probe succeeds. */
import type { Clock } from '../../platform/clock.ts';
import type { DispatchStore } from '../../store/webhooks/dispatch.ts';
import type { AttemptResult, EndpointRecord, RecordResult } from '../../store/webhooks/types.ts';
import { afterAttempts, type Breaker, concerns, WINDOW_MS } from './circuit-breaker.ts';
import { breakerOf, type EndpointHealthCache } from './endpoint-health-cache.ts';

export interface JudgedAttempt extends AttemptResult {
  /** How often the endpoint's circuit breaker had opened when the attempt began; 0: it was closed. */
  readonly opened: number;
}

export interface ParkOptions {
  readonly store: Pick<DispatchStore, 'attemptWindows' | 'changeBreaker' | 'endpoints'>;
  readonly health: EndpointHealthCache;
  readonly clock: Clock;
}

/** Nine failures of ten imply a row of several. Saves counting for endpoints that fail now and then. */
const FAILURES_IN_A_ROW = 5;

interface Tally {
  readonly org: string;
  succeeded: number;
  failed: number;
}

/**
 * Moves the circuit breakers of endpoints that were just attempted: opens them (the endpoint is parked), lets more through, or closes them.
 *
 * @throws StoreError
 */
export async function parkFailingEndpoints(
  { store, health, clock }: ParkOptions,
  results: readonly JudgedAttempt[],
  recorded: RecordResult,
): Promise<void> {
  const records = new Map(recorded.endpoints.map((record) => [record.subscriptionUid, record]));
  const known = (uid: string): EndpointRecord | undefined => health.get(uid) ?? records.get(uid);
  const tallies = new Map<string, Tally>();
  results.forEach(({ subscriptionUid, org, succeeded, opened }, index) => {
    // An attempt that is reported twice counts once.
    if (recorded.attempts[index]?.outcome === 'known' || !concerns(breakerOf(known(subscriptionUid)), opened)) return;
    const tally = tallies.get(subscriptionUid) ?? { org, succeeded: 0, failed: 0 };
    tally[succeeded ? 'succeeded' : 'failed'] += 1;
    tallies.set(subscriptionUid, tally);
  });
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
    // Another process decided meanwhile: its decision holds.
    health.take(changed === undefined ? await store.endpoints({ uids: [uid] }) : [changed]);
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
