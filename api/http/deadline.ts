import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { Clock, Timer } from '../../platform/clock.ts';
import { ApiError } from './api-error.ts';
import { requestState } from './request-state.ts';

/** Slowest rate at which an upload may come, in bytes a second: 50 MB take 53 minutes then. */
const SLOWEST_LINE = 16 * 1024;
/** Time in which the rest of a body is read and thrown away once the answer is out, in milliseconds. */
const LINGER_MS = 30_000;

/**
 * Ends a handler that takes too long with an answer, and aborts its work. Fastify's own `handlerTimeout` ends with the body of the request,
 * not with the answer to it. A client that goes away aborts nothing: a completed write is cleaner than half of one. An upload has its time
 * once it is there; until then it has to keep coming, and an answer that is sent as it is read has to keep going.
 */
export function registerDeadline(app: FastifyInstance, { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number }): void {
  const timers = new WeakMap<FastifyRequest, Timer>();
  const arm = (request: FastifyRequest, ms: number, then: () => void): void => {
    timers.get(request)?.cancel();
    timers.set(request, clock.after(ms, then));
  };

  app.addHook('onRequest', (request, reply, done) => {
    const { form, streamed } = request.routeOptions.config.description ?? {};
    if (form === undefined && streamed === undefined) watchAnswer(request, reply);
    else watchUpload(request, reply);
    done();
  });
  app.addHook('onResponse', async (request) => {
    timers.get(request)?.cancel();
    // A client that is answered early may read only when it has sent everything: Node throws the rest away meanwhile, within reason.
    const { raw } = request;
    if (!raw.complete) arm(request, LINGER_MS, () => void (raw.complete || raw.destroy()));
  });

  /** Extends the time while the client takes in the answer: one of many parts may take longer than a request. */
  function watchAnswer(request: FastifyRequest, reply: FastifyReply): void {
    const { socket } = request.raw;
    const before = socket.bytesWritten;
    arm(request, timeoutMs, () => {
      if (reply.raw.headersSent && request.routeOptions.config.description?.streamsEvents) return;
      const enough = socket.bytesWritten - before >= (SLOWEST_LINE * timeoutMs) / 1000;
      if (reply.raw.headersSent && enough) watchAnswer(request, reply);
      else end(request, reply);
    });
  }

  function watchUpload(request: FastifyRequest, reply: FastifyReply): void {
    const { raw } = request;
    const { socket } = raw;
    const [startedAt, startBytes] = [clock.monotonic(), socket.bytesRead];
    let [bytes, movedAt] = [startBytes, startedAt];
    const look = (): void => {
      const now = clock.monotonic();
      if (socket.bytesRead > bytes) [bytes, movedAt] = [socket.bytesRead, now];
      const earned = ((bytes - startBytes) / SLOWEST_LINE) * 1000;
      if (now - movedAt >= timeoutMs || now - startedAt >= timeoutMs + earned) over(request, reply);
      else arm(request, timeoutMs / 10, look);
    };
    arm(request, timeoutMs / 10, look);
    raw.once('end', () => {
      if (request.routeOptions.config.description?.streamed !== undefined) watchEntries(request, reply);
      else if (!reply.raw.writableEnded) arm(request, timeoutMs, () => over(request, reply));
    });
  }

  /** Extends the time as long as results come: many entries take long. */
  function watchEntries(request: FastifyRequest, reply: FastifyReply): void {
    const { socket } = request.raw;
    const before = socket.bytesWritten;
    if (reply.raw.writableEnded) return;
    arm(request, timeoutMs, () => {
      if (socket.bytesWritten > before) watchEntries(request, reply);
      else over(request, reply);
    });
  }

  function over(request: FastifyRequest, reply: FastifyReply): void {
    if (request.routeOptions.config.description?.streamed === undefined) return end(request, reply);
    // The reader of the entries ends with the signal, and answers: it may have begun to.
    requestState(request).abort(timeoutOf(request));
    arm(request, LINGER_MS, () => void reply.raw.destroy());
  }
}

function end(request: FastifyRequest, reply: FastifyReply): void {
  const error = timeoutOf(request);
  requestState(request).abort(error);
  if (reply.sent) return;
  if (reply.raw.headersSent) reply.raw.destroy(error);
  else void reply.send(error);
}

function timeoutOf({ raw }: FastifyRequest): ApiError {
  return raw.complete
    ? new ApiError('unavailable', 'the request took too long; try again', { retryAfterSeconds: 5 })
    : new ApiError('request_timeout', 'the body took too long to arrive', { headers: { connection: 'close' } });
}
