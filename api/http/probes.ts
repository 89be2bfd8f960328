import type { FastifyInstance } from 'fastify';

import type { ApiDependencies } from '../dependencies.ts';

/** `/healthz` says that the process answers, `/readyz` that it should be asked. Neither needs a key. */
export function registerProbes(app: FastifyInstance, { readiness, registry }: Pick<ApiDependencies, 'readiness' | 'registry'>): void {
  app.get('/healthz', async (_request, reply) => reply.type('text/plain').send('ok\n'));
  app.get('/readyz', async (_request, reply) =>
    reply
      .type('text/plain')
      .code(readiness.isReady ? 200 : 503)
      .send(readiness.isReady ? 'ok\n' : `${readiness.reasons.join('\n')}\n`),
  );
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
}
