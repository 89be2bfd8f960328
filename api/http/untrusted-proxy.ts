import type { FastifyInstance } from 'fastify';

import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';

/** Time between two warnings, in milliseconds: any client can send the header. */
const EVERY_MS = 3_600_000;

/** Warns, once in a while, of an `X-Forwarded-For` that isn't believed: a proxy that PARLEY_TRUSTED_PROXIES doesn't name, or a client that pretends. */
export function warnOfUntrustedProxies(app: FastifyInstance, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }): void {
  let quietUntil = -Infinity;
  app.addHook('onRequest', (request, _reply, done) => {
    const { remoteAddress } = request.socket;
    // The header's address replaces `ip` only where the proxy is trusted.
    if (request.headers['x-forwarded-for'] !== undefined && request.ip === remoteAddress && clock.monotonic() >= quietUntil) {
      quietUntil = clock.monotonic() + EVERY_MS;
      logger.warn(
        { proxy: remoteAddress },
        'ignored X-Forwarded-For of a peer that is not trusted: if it is your proxy, name it in PARLEY_TRUSTED_PROXIES',
      );
    }
    done();
  });
}
