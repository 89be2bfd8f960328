import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { Clock, Timer } from '../../platform/clock.ts';
import { ApiError } from './api-error.ts';
import { requestState } from './request-state.ts';

/**
 * Answers for a handler that takes too long, and aborts what it waits for. Fastify's own `handlerTimeout` ends with the body of
 * the request, not with the answer to it. A client that goes away aborts nothing: a write that is carried to its end is cleaner than half of one.
 */
export function registerDeadline(app: FastifyInstance, { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number }): void {
  const timers = new WeakMap<FastifyRequest, Timer>();
  app.addHook('onRequest', (request, reply, done) => {
    timers.set(
      request,
      clock.after(timeoutMs, () => end(request, reply)),
    );
    done();
  });
  app.addHook('onResponse', async (request) => timers.get(request)?.cancel());
}

function end(request: FastifyRequest, reply: FastifyReply): void {
  const error = request.raw.complete
    ? new ApiError('unavailable', 'the request took too long; try again', { retryAfterSeconds: 5 })
    : new ApiError('request_timeout', 'the body took too long to arrive', { headers: { connection: 'close' } });
  requestState(request).abort(error);
  if (reply.sent) return;
  if (reply.raw.headersSent) reply.raw.destroy(error);
  else void reply.send(error);
}
