import type { FastifyInstance } from 'fastify';

import { ApiError } from './api-error.ts';

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Refuses requests from another site's page to routes that say so, before the key is looked at: a name that leads to this server for a
 * moment (DNS rebinding) doesn't make a page one of ours. Programs send no `Origin`. Source: Model Context Protocol 2025-11-25, Streamable
 * HTTP, security warning.
 * @param publicUrl address of this API for clients
 */
export function registerOriginCheck(app: FastifyInstance, publicUrl: string | undefined): void {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  app.addHook('onRequest', async ({ headers: { origin }, routeOptions }) => {
    if (origin === undefined || routeOptions.config.description?.ownOriginsOnly !== true || isOwn(origin)) return;
    throw new ApiError(
      'forbidden',
      'pages of this origin may not send requests here: leave out the header Origin, or set PARLEY_PUBLIC_URL',
    );
  });

  function isOwn(origin: string): boolean {
    const url = URL.parse(origin);
    return url !== null && (url.origin === own || (url.protocol.startsWith('http') && LOOPBACK.has(url.hostname)));
  }
}
