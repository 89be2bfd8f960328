import type { FastifyInstance } from 'fastify';

import type { Clock } from '../../platform/clock.ts';
import { pollUntil } from '../../platform/poll-until.ts';

export interface ConnectionDrain {
  /** Asks clients to close the connection with each answer. Resolves after a time without requests, or when no connection is left. */
  drain(): Promise<void>;
}

/** Time without a request, in milliseconds, after which the open connections count as idle. */
const QUIET_MS = 1_500;
const LONGEST_MS = 5_000;
const LOOK_MS = 50;

/**
 * Lets clients leave a server before it closes. A connection that is closed by the server while its client sends the next request is an
 * error for that client, and it can't know whether the request was heard. So each answer asks for the connection to be closed by the client,
 * which then goes to another server.
 */
export function connectionDrain(app: FastifyInstance, { clock }: { readonly clock: Clock }): ConnectionDrain {
  let draining = false;
  let connections = 0;
  let lastRequest = clock.monotonic();
  app.server.on('connection', (socket) => {
    connections += 1;
    socket.once('close', () => (connections -= 1));
  });
  app.server.prependListener('request', (_request, response) => {
    lastRequest = clock.monotonic();
    if (draining) response.setHeader('connection', 'close');
  });
  return {
    async drain() {
      draining = true;
      const begun = clock.monotonic();
      const isQuiet = (): boolean => connections === 0 || clock.monotonic() - Math.max(lastRequest, begun) >= QUIET_MS;
      await pollUntil(isQuiet, Boolean, { everyMs: LOOK_MS, withinMs: LONGEST_MS, clock });
    },
  };
}
