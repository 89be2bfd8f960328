import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';

import type { DeliveryRecord } from '../../store/index.ts';
import { notFound } from '../http/api-error.ts';
import { addRoute } from '../http/route.ts';
import type { KindContext } from '../kinds/context.ts';
import { agentDeliveryToRest, attemptToRest, deliveryToRest } from './delivery-codec.ts';
import {
  getDelivery,
  listAgentDeliveries,
  listAttempts,
  listAttemptsById,
  listDeliveries,
  recover,
  redeliver,
  redeliverById,
} from './delivery-descriptions.ts';
import type { DeliveryService } from './delivery-service.ts';
import type { deliveryPage } from './schema.ts';
import type { SubscriptionService } from './subscription-service.ts';

export function registerDeliveries(
  app: FastifyInstance,
  options: {
    readonly subscriptions: SubscriptionService;
    readonly deliveries: DeliveryService;
    readonly context: Pick<KindContext, 'pageTokens' | 'views'>;
  },
): void {
  const { subscriptions, deliveries } = options;
  const { pageTokens, views } = options.context;
  const attemptsOf = async (delivery: DeliveryRecord) => ({ data: (await deliveries.attempts(delivery)).map(attemptToRest) });

  const page = async (
    receiver: Parameters<DeliveryService['list']>[0],
    { page_size: size, page_token: token, status, call_id: callId }: z.output<typeof deliveryPage>,
    toRest: typeof deliveryToRest,
  ) => {
    const { name, namespace = '', uid } = receiver.metadata;
    const list = `webhook-deliveries/${namespace}/${uid}/${status ?? ''}${callId === undefined ? '' : `/${callId}`}`;
    const [before] = token === undefined ? [] : pageTokens.read(list, token);
    const { items, next } = await deliveries.list(receiver, { size, status, callId, before });
    return {
      data: items.map((delivery) => toRest(delivery, name)),
      next_page_token: next === undefined ? null : pageTokens.write(list, [next]),
    };
  };

  addRoute(app, listDeliveries, async ({ params, query, caller: { org }, timed }) => {
    const subscription = await subscriptions.get(org, params.subscription_id);
    return timed('db', () => page(subscription, query, deliveryToRest));
  });

  addRoute(app, listAgentDeliveries, async ({ params, query, caller: { org }, timed }) => {
    const agent = await views.agents.get(org, params.ai_agent_id);
    if (agent === undefined) throw notFound('AI agent');
    return timed('db', () => page(agent, query, agentDeliveryToRest));
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
