import type { FastifyInstance } from 'fastify';

import { sleep, type Clock } from '../../platform/clock.ts';
import { requestState } from './request-state.ts';

/** Statuses for unknown keys, and for keys that have made too many requests. */
const TURNED_AWAY: ReadonlySet<number> = new Set([401, 429]);
/** Delay of such an answer, in milliseconds. */
const WAIT_MS = 250;
/** Most answers that wait at a time: each holds a connection. */
const WAITING_LIMIT = 2_000;

/**
 * Delays the answer to a client that is turned away. A client that asks again at once, whatever `Retry-After` says, then asks a few times a
 * second instead of as often as the server can refuse it, at the cost of all others.
 */
export function registerTurnedAway(app: FastifyInstance, { clock }: { readonly clock: Clock }): void {
  let waiting = 0;
  app.addHook('onSend', async (request, reply, payload) => {
    if (!TURNED_AWAY.has(reply.statusCode) || waiting >= WAITING_LIMIT) return payload;
    waiting += 1;
    await requestState(request).timed('turnedAway', () => sleep(clock, WAIT_MS));
    waiting -= 1;
    return payload;
  });
}
