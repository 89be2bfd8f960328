import type { Registry } from 'prom-client';

import { systemClock } from '../../platform/clock.ts';
import { Database, type DatabaseOptions } from '../database.ts';
import { registerStoreMetrics } from '../metrics.ts';
import { requireSchema } from '../schema-version.ts';
import { claim, claimOne, dueSubscriptions, release, settle, subscriptionsIn } from './claims.ts';
import { ClaimOwner, claimOwners, freeClaims } from './claim-owner.ts';
import { countDeliveries } from './counts.ts';
import type { DispatchStore } from './dispatch.ts';
import {
  attemptWindows,
  changeBreaker,
  disableEndpoint,
  enableEndpoint,
  forgetFailures,
  readEndpoints,
  takeProbe,
  takeRamp,
} from './endpoints.ts';
import { insertEventsAsDispatcher } from './events.ts';
import { adoptDeliveries, forgetName, nameSubscriptions } from './names.ts';
import { maintainPartitions } from './partitions.ts';
import { LARGEST_RECORD, record } from './record.ts';
import { takeOutbox } from './relay.ts';
import { giveBackStatusWrites, takeStatusWrites } from './status-writes.ts';
import { markRetrying, removeSubscription, retriesToStart, transition } from './transitions.ts';
import type { RecordResult } from './types.ts';
import { watchOutbox } from './watch-outbox.ts';

export interface DispatchStoreOptions extends Omit<DatabaseOptions, 'role'> {
  /** Registry of the pool's metrics; left out where another pool of the process has them. */
  readonly registry?: Registry | undefined;
}

/** Connects when it is first used: opening never fails for want of a server. */
export function openDispatchStore(options: DispatchStoreOptions): DispatchStore {
  const database = new Database({ applicationName: 'parley dispatcher', ...options, role: 'parley_dispatcher' });
  if (options.registry !== undefined) registerStoreMetrics(options.registry, database);
  const alone = database.statements;
  const owner = new ClaimOwner(options.clock ?? systemClock);
  const watches: { stop(): Promise<void> }[] = [];

  return {
    takeOutbox: (limit, decide, which) =>
      database.transaction((transaction) => takeOutbox(transaction, limit, decide, { ...which, owner: owner.number })),
    claim: (rooms, leaseMs, limit) => claim(alone, rooms, leaseMs, limit, owner.number),
    claimOne: (deliveryId, leaseMs) => claimOne(alone, deliveryId, leaseMs),
    dueSubscriptions: () => dueSubscriptions(alone),
    async record(results) {
      let all: RecordResult = { attempts: [], endpoints: [], disabled: [] };
      for (let from = 0; from < results.length; from += LARGEST_RECORD) {
        const chunk = results.slice(from, from + LARGEST_RECORD);
        const done = await database.transaction((transaction) => record(transaction, chunk));
        all = {
          attempts: [...all.attempts, ...done.attempts],
          endpoints: [...all.endpoints, ...done.endpoints],
          disabled: [...all.disabled, ...done.disabled],
        };
      }
      return all;
    },
    release: (deliveryIds, delayMs) => release(alone, deliveryIds, delayMs),
    settle: (deliveryIds, next, reason) => settle(alone, deliveryIds, next, reason),
    transition: (change) => transition(alone, change),
    retriesToStart: (which) => retriesToStart(alone, which),
    markRetrying: (deliveryIds) => markRetrying(alone, deliveryIds),
    subscriptionsIn: (states) => subscriptionsIn(alone, states),
    endpoints: (which) => readEndpoints(alone, which),
    changeBreaker: (change) => changeBreaker(alone, change),
    takeProbe: (subscriptionUid, leaseMs) => takeProbe(alone, subscriptionUid, leaseMs),
    takeRamp: (subscriptionUid, wanted) => takeRamp(alone, subscriptionUid, wanted),
    attemptWindows: (uids, windowMs) => attemptWindows(alone, uids, windowMs),
    disable: (endpoint) => database.transaction((transaction) => disableEndpoint(transaction, endpoint, insertEventsAsDispatcher)),
    enable: ({ subscriptionUid }) => enableEndpoint(alone, subscriptionUid),
    forgetFailures: (subscriptionUid) => forgetFailures(alone, subscriptionUid),
    takeStatusWrites: (which) => takeStatusWrites(alone, which),
    giveBackStatusWrites: (subscriptionUids) => giveBackStatusWrites(alone, subscriptionUids),
    removeSubscription: (subscriptionUid, limit) => removeSubscription(alone, subscriptionUid, limit),
    nameSubscriptions: (subscriptions) => nameSubscriptions(alone, subscriptions),
    forgetName: (subscriptionUid) => forgetName(alone, subscriptionUid),
    adoptDeliveries: (succession) => adoptDeliveries(alone, succession),
    counts: () => countDeliveries(alone),
    maintainPartitions: (keep) => maintainPartitions(alone, keep),
    claimOwners: async () => (owner.judges ? claimOwners(alone) : undefined),
    freeClaims: (except) => freeClaims(alone, except),
    listen: (onOutbox) => void watches.push(watchOutbox({ database, owner, clock: options.clock, logger: options.logger }, onOutbox)),
    health: () => requireSchema(database),
    async close() {
      await Promise.all(watches.map((watch) => watch.stop()));
      await database.close();
    },
  };
}
