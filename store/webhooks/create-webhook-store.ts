import type { Database } from '../database.ts';
import { disableEndpoint, enableEndpoint, readEndpoints } from './endpoints.ts';
import { insertEvents } from './events.ts';
import { listAttempts, listDeliveries, listEvents, readDelivery } from './lists.ts';
import { maintainPartitions } from './partitions.ts';
import { recoverChunk, redeliver } from './replay.ts';
import { removeSubscription } from './transitions.ts';
import { raiseWatermark } from './watermarks.ts';
import type { WebhookStore } from './webhook-store.ts';

/** Deliveries that one transaction of a recovery moves: it is short enough that its locks delay no other writer. */
const RECOVERED_AT_ONCE = 1_000;

export function createWebhookStore(database: Database): WebhookStore {
  return {
    insert: (org, events) => database.asOrganization(org, (transaction) => insertEvents(transaction, events)),
    deliveries: (page) => database.asOrganization(page.org, (transaction) => listDeliveries(transaction, page), { quick: true }),
    delivery: ({ org, deliveryId }) => database.asOrganization(org, (transaction) => readDelivery(transaction, org, deliveryId)),
    attempts: (ref) => database.asOrganization(ref.org, (transaction) => listAttempts(transaction, ref)),
    redeliver: (ref) => database.asOrganization(ref.org, (transaction) => redeliver(transaction, ref)),
    async recover(span) {
      let moved = 0;
      // The cursor has passed deliveries that end again meanwhile, so they aren't met twice.
      for (let after: string | undefined = ''; after !== undefined;) {
        const from: string = after;
        const chunk = await database.asOrganization(
          span.org,
          (transaction) => recoverChunk(transaction, { ...span, after: from, limit: RECOVERED_AT_ONCE }),
          { quick: true },
        );
        moved += chunk.moved;
        after = chunk.last;
      }
      return moved;
    },
    endpoint: async ({ org, subscriptionUid }) =>
      database.asOrganization(org, async (transaction) => (await readEndpoints(transaction, { uids: [subscriptionUid] }))[0]),
    endpoints: ({ org, subscriptionUids }) =>
      database.asOrganization(org, (transaction) => readEndpoints(transaction, { uids: subscriptionUids })),
    disable: (ref) => database.asOrganization(ref.org, (transaction) => disableEndpoint(transaction, ref, insertEvents)),
    enable: ({ org, subscriptionUid }) => database.asOrganization(org, (transaction) => enableEndpoint(transaction, subscriptionUid)),
    removeSubscription: ({ org, subscriptionUid, limit }) =>
      database.asOrganization(org, (transaction) => removeSubscription(transaction, subscriptionUid, limit, org)),
    raiseWatermark: (org, versions) => database.asOrganization(org, (transaction) => raiseWatermark(transaction, org, versions)),
    maintainPartitions: (keep) => maintainPartitions(database.statements, keep),
    events: (page) => database.asOrganization(page.org, (transaction) => listEvents(transaction, page)),
  };
}
