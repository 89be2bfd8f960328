import type { FastifyInstance, FastifyReply } from 'fastify';

import { eventCatalogue } from '../../events/catalogue.ts';
import { deliveryIdText, eventIdOf } from '../../events/envelope.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Caller } from '../http/caller.ts';
import { preconditions, sendEtag, writeModeOf } from '../http/conditions.ts';
import { addRoute } from '../http/route.ts';
import type { KindContext } from '../kinds/context.ts';
import { listPage } from '../state/list-page.ts';
import { subscriptionToRest } from './fields.ts';
import { registerDeliveries } from './delivery-routes.ts';
import { DeliveryService } from './delivery-service.ts';
import {
  createSubscription,
  deleteSubscription,
  getSubscription,
  listEventTypes,
  listSubscriptions,
  replaceSubscription,
  rotateSecret,
  testSubscription,
  updateSubscription,
} from './descriptions.ts';
import { SigningService } from './signing-service.ts';
import { SubscriptionService, type WrittenSubscription } from './subscription-service.ts';

const HOUR_MS = 3_600_000;

export function registerWebhooks(
  app: FastifyInstance,
  context: KindContext,
  { store, clock }: Pick<ApiDependencies, 'store' | 'clock'>,
): void {
  const { webhooks } = store;
  const subscriptions = new SubscriptionService({ context, store: webhooks });
  const signing = new SigningService({ context, store: webhooks, writer: subscriptions.writer });
  const deliveries = new DeliveryService({ store: webhooks, clock });
  const stateOf = context.states.subscription.bind(context.states);
  registerDeliveries(app, { subscriptions, deliveries, context });

  const view = async (caller: Caller, { subscription, unwritten }: WrittenSubscription): Promise<Readonly<Record<string, unknown>>> => {
    const [disabled, headers] = await Promise.all([
      deliveries.disabled(caller.org, [subscription]),
      subscriptions.headers(caller, subscription, unwritten),
    ]);
    return subscriptionToRest(subscription, { disabled: disabled.has(subscription.metadata.uid), state: stateOf(subscription), headers });
  };

  const answer = async (caller: Caller, written: WrittenSubscription, reply: FastifyReply): Promise<Readonly<Record<string, unknown>>> => {
    const { subscription, secret } = written;
    sendEtag(reply, subscription.metadata.resourceVersion);
    const shown = await view(caller, written);
    return secret === undefined ? shown : { ...shown, secret };
  };

  addRoute(app, createSubscription, async ({ query, body, caller, reply }) => {
    const written = await subscriptions.create(caller, body, { dryRun: query.dry_run });
    return reply.code(201).send(await answer(caller, written, reply));
  });

  addRoute(app, listSubscriptions, async ({ query, caller: { org }, timed }) => {
    const list = `webhook-subscriptions/${org}`;
    const objects = await context.views.webhookSubscriptions.list(org);
    const { items, next_page_token, total } = await listPage(context.pageTokens, { list, objects, query, stateOf });
    const disabled = await timed('db', () => deliveries.disabled(org, items));
    return {
      data: items.map((each) => subscriptionToRest(each, { disabled: disabled.has(each.metadata.uid), state: stateOf(each) })),
      next_page_token,
      total_count: total,
    };
  });

  addRoute(app, getSubscription, async ({ params, caller, reply }) => {
    const subscription = await subscriptions.get(caller.org, params.subscription_id);
    return answer(caller, { subscription }, reply);
  });

  for (const route of [replaceSubscription, updateSubscription] as const) {
    addRoute(app, route, async ({ params, query, body, caller, request, reply }) => {
      return answer(caller, await subscriptions.update(caller, params.subscription_id, body, writeModeOf(query, request)), reply);
    });
  }

  addRoute(app, deleteSubscription, async ({ params, query, caller: { org }, request }) => {
    await subscriptions.delete(org, params.subscription_id, { dryRun: query.dry_run, requireState: preconditions(request) });
    return { data: {}, message: query.dry_run ? 'The webhook subscription would be deleted' : 'The webhook subscription was deleted' };
  });

  addRoute(app, rotateSecret, async ({ params, body, caller: { org } }) => {
    const { secret, previousExpiresAt } = await signing.rotate(org, params.subscription_id, Math.round(body.grace_period_hours * HOUR_MS));
    return { secret, previous_secret_expires_at: previousExpiresAt };
  });

  addRoute(app, testSubscription, async ({ params, caller: { org }, reply, timed }) => {
    const subscription = await subscriptions.get(org, params.subscription_id);
    const { eventId, deliveryId } = await timed('db', () => deliveries.test(subscription));
    return reply.code(202).send({ event_id: eventIdOf(eventId), delivery_id: deliveryIdText(deliveryId) });
  });

  addRoute(app, listEventTypes, async () => ({
    data: Object.entries(eventCatalogue).map(([name, { description }]) => ({ name, description })),
  }));
}
