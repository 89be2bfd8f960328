import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Counter } from 'prom-client';

import type { Store } from '../../store/index.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { limitHeaders, tightestOf } from '../limits/headers.ts';
import { RateLimiter } from '../limits/rate-limiter.ts';
import { ApiError } from './api-error.ts';
import type { Caller } from './caller.ts';
import { meets } from './permissions.ts';
import { requestState, type RequestState } from './request-state.ts';
import type { RouteDescription } from './route.ts';

/** Longest credential that is looked up, in characters; ours have fewer than 100. */
const MAX_TOKEN_LENGTH = 512;

/** Header for clients behind a proxy that takes the Authorization header off for itself, as a Kubernetes API server's does. */
const KEY_HEADER = 'x-parley-api-key';

/**
 * Checks the key of every request to a known route, its permissions and its rate limits, before the body is read. Tenant headers of clients
 * are ignored.
 */
export function registerAuthentication(app: FastifyInstance, dependencies: ApiDependencies): void {
  const { store, clock, logger, limits, registry, signing } = dependencies;
  const limiter = new RateLimiter({
    classes: limits.classes,
    exchangeMs: limits.exchangeMs,
    clock,
    logger,
    ...(limits.exchangeMs > 0 && { exchange: store.rateLimits }),
  });
  const limited = new Counter({
    name: 'parley_rate_limited_total',
    help: 'Requests that were turned away, by the limit that they were over.',
    labelNames: ['class'],
    registers: [registry],
  });

  app.addHook('onRequest', async (request, reply) => {
    const { description } = request.routeOptions.config;
    if (description === undefined) return; // there is no such route: 404 or 405 for every caller
    const needed = description.permission;
    if (needed === 'public') return;
    const state = requestState(request);
    const caller = await state.timed('auth', () => authenticate(store.apiKeys, request));
    state.caller = caller;
    await signing.load();
    const permitted = mayUse(caller, description);
    const countRequest: RequestState['countRequest'] = (over) => {
      // A request without permission counts against the key's own limits alone: the organisation's other keys shouldn't pay for it.
      const decision = limiter.take(caller, description, permitted ? 'all' : 'key');
      if (over === 'wait') return decision;
      const headers = limitHeaders(decision);
      if (!decision.allowed) {
        const tightest = tightestOf(decision.limits)?.class;
        const whose = tightest?.of === 'organization' ? 'your organisation has' : 'this API key has';
        const { perSecond = 0, burst = 0 } = tightest?.limit ?? {};
        const rate = `${perSecond} a second and ${burst} at once`;
        const name = tightest?.name ?? '';
        state.limitedBy = name;
        limited.inc({ class: name });
        throw new ApiError('rate_limited', `${whose} made too many requests: ${rate} are possible; see the header Retry-After`, {
          headers,
        });
      }
      void reply.headers(headers);
      return decision;
    };
    state.countRequest = countRequest;
    if (!description.countsLater) countRequest('refuse');
    if (!permitted) throw new ApiError('forbidden', `this API key lacks the permission ${needed}`);
  });
  app.addHook('onClose', () => limiter.stop());
}

/** Returns whether the key is enough for the route, at least for objects that the key itself has made. */
export function mayUse({ permissions }: Caller, { permission, permissionForOwn }: RouteDescription): boolean {
  if (permission === 'public' || meets(permissions, permission)) return true;
  return permissionForOwn !== undefined && meets(permissions, permissionForOwn);
}

/** Returns the API key as it was sent. @throws ApiError `unauthorized` */
export function tokenOf(request: FastifyRequest): string {
  // Two headers are ambiguous: a proxy in between may have checked the other one.
  if (timesSent(request, 'authorization') > 1) throw unauthorized('send one Authorization header, not several');
  const behindProxy = request.headers.authorization === undefined && timesSent(request, KEY_HEADER) === 1;
  const credential = behindProxy ? `Bearer ${String(request.headers[KEY_HEADER])}` : request.headers.authorization;
  const [, token] = /^bearer +([\x21-\x7e]+) *$/i.exec(credential ?? '') ?? [];
  if (token === undefined || token.length > MAX_TOKEN_LENGTH) {
    throw unauthorized('send your API key in the header Authorization: Bearer <API_KEY>');
  }
  return token;
}

async function authenticate(apiKeys: Pick<Store['apiKeys'], 'authenticate'>, request: FastifyRequest): Promise<Caller> {
  const result = await apiKeys.authenticate(tokenOf(request));
  switch (result.outcome) {
    case 'ok': {
      const { keyId, org, permissions, userId, expirationDate } = result.record;
      return { keyId, org, permissions, userId, expiresAt: expirationDate };
    }
    case 'malformed':
    case 'unknown':
      throw unauthorized('this API key is not known');
    default:
      throw unauthorized(`this API key is ${result.outcome}: use another one`);
  }
}

function timesSent({ raw }: FastifyRequest, header: string): number {
  return raw.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === header).length;
}

function unauthorized(message: string): ApiError {
  return new ApiError('unauthorized', message, { headers: { 'www-authenticate': 'Bearer' } });
}
