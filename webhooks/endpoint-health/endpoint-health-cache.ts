/**
 * The health of endpoints that are parked by their circuit breaker or switched off: a copy of what Postgres says, about a second old at most,
 * so that a delivery costs no query.
 */
import { admitted, type Breaker, closed } from './circuit-breaker.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import type { DispatchStore } from '../../store/webhooks/dispatch.ts';
import type { EndpointRecord } from '../../store/webhooks/types.ts';
import { isDisabled } from './is-disabled.ts';

/** Whether deliveries to an endpoint go out now. */
export type EndpointGate =
  | 'open'
  /** Deliveries wait: the circuit breaker is open (`park-failing-endpoints.ts` opens it). */
  | 'parked'
  /** Deliveries wait: the endpoint's owner switched it off. */
  | 'paused'
  /** Deliveries end: the endpoint was switched off after days of failures, or by a 410. */
  | 'disabled';

/** Changes that were committed late may carry an earlier time than some that are known. */
const OVERLAP_MS = 10_000;

export class EndpointHealthCache {
  readonly #store: Pick<DispatchStore, 'endpoints' | 'enable'>;
  readonly #records = new Map<string, EndpointRecord>();
  readonly #onCleared = new Set<(uid: string) => void>();
  #newest: Date | undefined;

  constructor({ store }: { readonly store: Pick<DispatchStore, 'endpoints' | 'enable'> }) {
    this.#store = store;
  }

  /** Calls the listener when an endpoint may receive deliveries again. */
  onCleared(listener: (uid: string) => void): void {
    this.#onCleared.add(listener);
  }

  /** Reads what has changed; the first time, all there is. @throws StoreError */
  async refresh(): Promise<void> {
    const since = this.#newest === undefined ? undefined : new Date(this.#newest.getTime() - OVERLAP_MS);
    const records = await this.#store.endpoints(since === undefined ? {} : { changedSince: since });
    this.#newest ??= new Date(0);
    this.take(records);
  }

  take(records: readonly EndpointRecord[]): void {
    for (const record of records) {
      const { subscriptionUid: uid, changedAt } = record;
      if (this.#newest !== undefined && changedAt > this.#newest) this.#newest = changedAt;
      const known = this.#records.get(uid);
      if (known !== undefined && known.version > record.version) continue;
      if (record.breaker === 'closed' && record.disabledAt === undefined) {
        if (this.#records.delete(uid)) this.#cleared(uid);
        continue;
      }
      this.#records.set(uid, record);
      if (known !== undefined && known.breaker === 'open' && record.breaker === 'half_open') this.#cleared(uid);
    }
  }

  forget(uid: string): void {
    this.#records.delete(uid);
  }

  #cleared(uid: string): void {
    for (const listener of this.#onCleared) listener(uid);
  }

  get(uid: string): EndpointRecord | undefined {
    return this.#records.get(uid);
  }

  gate(endpoint: Endpoint): EndpointGate {
    const record = this.#records.get(endpoint.uid);
    if (isDisabled(record, endpoint)) return 'disabled';
    if (!endpoint.active) return 'paused';
    return record?.breaker === 'open' ? 'parked' : 'open';
  }

  /** Returns how often the endpoint's breaker has opened since it was last closed. */
  opened(uid: string): number {
    return this.#records.get(uid)?.opened ?? 0;
  }

  /** Returns how many deliveries may be on their way to the endpoint at once, of `limit`. */
  admitted(endpoint: Endpoint | undefined, limit: number): number {
    return endpoint === undefined || this.gate(endpoint) !== 'open' ? 0 : admitted(breakerOf(this.#records.get(endpoint.uid)), limit);
  }

  counts(): Record<'open' | 'half_open', number> {
    const counts = { open: 0, half_open: 0 };
    for (const { breaker } of this.#records.values()) if (breaker !== 'closed') counts[breaker] += 1;
    return counts;
  }

  /** Switches endpoints on again that were switched off, and whose owners want them since. */
  async enableChanged(endpointOf: (uid: string) => Endpoint | undefined): Promise<void> {
    for (const record of this.#records.values()) {
      const endpoint = endpointOf(record.subscriptionUid);
      if (record.disabledAt !== undefined && endpoint !== undefined && !isDisabled(record, endpoint))
        await this.#store.enable({ org: record.org, subscriptionUid: endpoint.uid });
    }
  }
}

export function breakerOf(record: EndpointRecord | undefined): Breaker {
  if (record === undefined || record.breaker === 'closed') return closed;
  const { opened, ramp, rampLeft, probeAt } = record;
  return record.breaker === 'open'
    ? { state: 'open', opened, probeAt: probeAt?.getTime() ?? 0 }
    : { state: 'half_open', opened, ramp: Math.max(1, ramp), rampLeft: Math.max(1, rampLeft) };
}
