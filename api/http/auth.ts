import type { FastifyInstance, FastifyRequest } from 'fastify';

import { covers, type Store } from '../../store/index.ts';
import { ApiError } from './api-error.ts';
import type { Caller } from './caller.ts';
import { requestState } from './request-state.ts';

/** Longest credential that is looked at; ours have fewer than 100 characters. */
const maxTokenLength = 512;

/**
 * Checks the key of every request to a known route before its body is read. Tenant headers that a client sends are
 * nobody's business: nothing reads them.
 */
export function registerAuthentication(app: FastifyInstance, apiKeys: Store['apiKeys']): void {
  app.addHook('onRequest', async (request) => {
    const { description } = request.routeOptions.config;
    if (description === undefined) return; // no such route: 404 or 405, whoever asks
    const needed = description.permission;
    if (needed === 'public') return;
    const state = requestState(request);
    const caller = await state.timed('auth', () => authenticate(apiKeys, request));
    state.caller = caller;
    if (!covers(caller.permissions, needed)) throw new ApiError('forbidden', `this API key lacks the permission ${needed}`);
  });
}

async function authenticate(apiKeys: Store['apiKeys'], request: FastifyRequest): Promise<Caller> {
  // Whoever stands between may have looked at the other one.
  if (timesSent(request, 'authorization') > 1) throw unauthorized('send one Authorization header, not several');
  const [, token] = /^bearer +([\x21-\x7e]+) *$/i.exec(request.headers.authorization ?? '') ?? [];
  if (token === undefined || token.length > maxTokenLength) {
    throw unauthorized('send your API key in the header Authorization: Bearer <API_KEY>');
  }
  const result = await apiKeys.authenticate(token);
  if (result.outcome === 'ok') {
    const { keyId, org, permissions, createdByUserId } = result.record;
    return { keyId, org, permissions, createdByUserId };
  }
  throw unauthorized(result.outcome === 'unknown' ? 'this API key is not known' : `this API key is ${result.outcome}: use another one`);
}

function timesSent({ raw }: FastifyRequest, header: string): number {
  return raw.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === header).length;
}

function unauthorized(message: string): ApiError {
  return new ApiError('unauthorized', message, { headers: { 'www-authenticate': 'Bearer' } });
}
