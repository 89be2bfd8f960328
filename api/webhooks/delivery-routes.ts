import type { FastifyInstance } from 'fastify';

import type { DeliveryRecord } from '../../store/index.ts';
import { addRoute } from '../http/route.ts';
import type { PageTokens } from '../pagination/page-token.ts';
import { attemptToRest, deliveryToRest } from './delivery-codec.ts';
import { getDelivery, listAttempts, listAttemptsById, listDeliveries, recover, redeliver, redeliverById } from './delivery-descriptions.ts';
import type { DeliveryService } from './delivery-service.ts';
import type { SubscriptionService } from './subscription-service.ts';

export function registerDeliveries(
  app: FastifyInstance,
  options: { readonly subscriptions: SubscriptionService; readonly deliveries: DeliveryService; readonly pageTokens: PageTokens },
): void {
  const { subscriptions, deliveries, pageTokens } = options;
  const attemptsOf = async (delivery: DeliveryRecord) => ({ data: (await deliveries.attempts(delivery)).map(attemptToRest) });

  addRoute(app, listDeliveries, async ({ params, query, caller: { org }, timed }) => {
    const subscription = await subscriptions.get(org, params.subscription_id);
    const { name, uid } = subscription.metadata;
    const { page_size: size, page_token: token, status, call_id: callId } = query;
    const list = `webhook-deliveries/${org}/${uid}/${status ?? ''}${callId === undefined ? '' : `/${callId}`}`;
    const [before] = token === undefined ? [] : pageTokens.read(list, token);
    const { items, next } = await timed('db', () => deliveries.list(subscription, { size, status, callId, before }));
    return {
      data: items.map((delivery) => deliveryToRest(delivery, name)),
      next_page_token: next === undefined ? null : pageTokens.write(list, [next]),
    };
  });

  addRoute(app, getDelivery, async ({ params, caller: { org }, timed }) => {
    const subscription = await subscriptions.get(org, params.subscription_id);
    const delivery = await timed('db', () => deliveries.get(org, params.delivery_id, subscription));
    return deliveryToRest(delivery, subscription.metadata.name);
  });

  addRoute(app, listAttempts, async ({ params, caller: { org }, timed }) => {
    const subscription = await subscriptions.get(org, params.subscription_id);
    return timed('db', async () => attemptsOf(await deliveries.get(org, params.delivery_id, subscription)));
  });

  addRoute(app, listAttemptsById, async ({ params, caller: { org }, timed }) =>
    timed('db', async () => attemptsOf(await deliveries.get(org, params.delivery_id))),
  );

  addRoute(app, redeliver, async ({ params, caller: { org }, reply, timed }) => {
    const subscription = await subscriptions.get(org, params.subscription_id);
    const again = await timed('db', async () =>
      deliveries.redeliver(await deliveries.get(org, params.delivery_id, subscription), subscription),
    );
    return reply.code(202).send(deliveryToRest(again, subscription.metadata.name));
  });

  addRoute(app, redeliverById, async ({ params, caller: { org }, reply, timed }) => {
    const delivery = await timed('db', () => deliveries.get(org, params.delivery_id));
    const subscription = await subscriptions.byUid(org, delivery.subscriptionUid);
    const again = await timed('db', () => deliveries.redeliver(delivery, subscription));
    return reply.code(202).send(deliveryToRest(again, subscription.metadata.name));
  });

  addRoute(app, recover, async ({ params, body, caller: { org }, reply, timed }) => {
    const subscription = await subscriptions.get(org, params.subscription_id);
    const recovered = await timed('db', () => deliveries.recover(subscription, body));
    return reply.code(202).send({ recovered });
  });
}
