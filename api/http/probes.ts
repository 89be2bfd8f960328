import type { FastifyInstance } from 'fastify';

import type { ApiDependencies } from '../dependencies.ts';
import { showsToken } from '../../platform/lifecycle.ts';
import { addRoute, routesOf } from './route.ts';

const TEXT = 'text/plain';

const defineRoute = routesOf('Operations');

const health = defineRoute({
  method: 'GET',
  path: '/healthz',
  operationId: 'getHealth',
  summary: 'Whether the process answers',
  permission: 'public',
  answers: { 200: { description: 'The process answers.', contentType: TEXT, example: 'ok\n' } },
});

const ready = defineRoute({
  method: 'GET',
  path: '/readyz',
  operationId: 'getReadiness',
  summary: 'Whether the process should be sent requests',
  permission: 'public',
  answers: {
    200: { description: 'The process should be sent requests.', contentType: TEXT, example: 'ok\n' },
    503: {
      description: 'The process should not be sent requests: a line for each reason.',
      contentType: TEXT,
      example: 'postgres: not asked yet\n',
    },
  },
});

const metrics = defineRoute({
  method: 'GET',
  path: '/metrics',
  operationId: 'getMetrics',
  summary: 'Metrics for Prometheus; where PARLEY_METRICS_TOKEN is set, for those who show it',
  permission: 'public',
  answers: {
    200: { description: 'The text format of Prometheus.', contentType: TEXT },
    401: { description: 'The installation asks for a token of its own, `Authorization: Bearer …`.', contentType: TEXT },
  },
});

/** Serves `/healthz`, which says that the process answers, and `/readyz`, which says that it should be asked. Neither needs a key. */
export function registerProbes(
  app: FastifyInstance,
  { readiness, registry, metricsToken }: Pick<ApiDependencies, 'readiness' | 'registry' | 'metricsToken'>,
): void {
  addRoute(app, health, async ({ reply }) => reply.type(TEXT).send('ok\n'));
  addRoute(app, ready, async ({ reply }) =>
    reply
      .type(TEXT)
      .code(readiness.isReady ? 200 : 503)
      .send(readiness.isReady ? 'ok\n' : `${readiness.reasons.join('\n')}\n`),
  );
  addRoute(app, metrics, async ({ request, reply }) =>
    showsToken(request.headers.authorization, metricsToken)
      ? reply.type(registry.contentType).send(await registry.metrics())
      : reply.code(401).header('www-authenticate', 'Bearer').type(TEXT).send('metrics need the token of PARLEY_METRICS_TOKEN\n'),
  );
}
