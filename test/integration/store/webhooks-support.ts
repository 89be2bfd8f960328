/** Makes events and deliveries for the tests of their tables. */
import { onTestFinished } from 'vitest';

import { uuidv7 } from '../../../platform/uuid.ts';
import {
  openDispatchStore,
  type AttemptResult,
  type ClaimedDelivery,
  type DispatchStore,
  type DispatchStoreOptions,
  type NewEvent,
  type NextStep,
  type RelayResult,
  type Store,
} from '../../../store/index.ts';
import { freshStore } from './support.ts';

export interface Dispatching {
  readonly url: string;
  readonly store: Store;
  readonly dispatch: DispatchStore;
}

export const ORG = 'acme';

export function dispatchAt(databaseUrl: string, options: Partial<DispatchStoreOptions> = {}): DispatchStore {
  const dispatch = openDispatchStore({ databaseUrl, poolSize: 4, connectTimeoutMs: 120_000, statementTimeoutMs: 120_000, ...options });
  onTestFinished(() => dispatch.close());
  return dispatch;
}

export async function freshDispatch(): Promise<Dispatching> {
  const { url, store } = await freshStore();
  await store.organizations.create({ name: ORG });
  return { url, store, dispatch: dispatchAt(url) };
}

export function eventOf(fields: Partial<NewEvent> = {}): NewEvent {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  return { id: uuidv7(), org: ORG, name: 'Webhook.Test', body: Buffer.from('{"n":1}'), traceparent, ...fields };
}

/** Writes `count` events and makes them due deliveries of one subscription. */
export async function deliver(
  { store, dispatch }: Dispatching,
  {
    count = 1,
    subscriptionUid = 'sub',
    leaseMs = 0,
  }: { readonly count?: number; readonly subscriptionUid?: string; readonly leaseMs?: number } = {},
): Promise<RelayResult> {
  await store.webhooks.insert(
    ORG,
    Array.from({ length: count }, () => eventOf()),
  );
  return dispatch.takeOutbox(count, (events) => ({
    deliveries: events.map((event) => ({ event, subscriptionUid, state: 'pending' as const, leaseMs })),
  }));
}

export async function claimAll(dispatch: DispatchStore, subscriptionUid = 'sub', leaseMs = 60_000): Promise<readonly ClaimedDelivery[]> {
  return dispatch.claim(new Map([[subscriptionUid, 1_000]]), () => leaseMs, 1_000);
}

let clock = Date.parse('2026-02-01T00:00:00Z');

/** Returns the result of a new attempt. */
export function resultOf(
  claimed: Pick<ClaimedDelivery, 'id' | 'subscriptionUid' | 'seriesStart'>,
  next: NextStep,
  fields: Partial<AttemptResult> = {},
): AttemptResult {
  const succeeded = next.state === 'succeeded';
  clock += 1;
  return {
    deliveryId: claimed.id,
    org: ORG,
    subscriptionUid: claimed.subscriptionUid,
    seriesStart: claimed.seriesStart,
    startedAt: clock,
    durationMs: 12,
    succeeded,
    reason: succeeded ? 'ok' : 'http_status',
    statusCode: succeeded ? 204 : 503,
    next,
    ...fields,
  };
}

/** Returns the one element of a list that has one. */
export function only<T>(list: readonly T[]): T {
  const [item] = list;
  if (item === undefined || list.length > 1) throw new Error(`${list.length} where one was expected`);
  return item;
}
