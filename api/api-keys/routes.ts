import type { FastifyInstance } from 'fastify';

import { StoreError } from '../../store/index.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { ApiError, notFound } from '../http/api-error.ts';
import { addRoute } from '../http/route.ts';
import type { PageTokens } from '../pagination/page-token.ts';
import { apiKeyToRest } from './codec.ts';
import { createApiKey, getApiKey, listApiKeys, revokeApiKey } from './descriptions.ts';
import { expirationDaysOf, requireGrantable, requireRevocable } from './grant.ts';

export function registerApiKeys(
  app: FastifyInstance,
  { store, clock }: Pick<ApiDependencies, 'store' | 'clock'>,
  pageTokens: PageTokens,
): void {
  const { apiKeys } = store;

  addRoute(app, createApiKey, async ({ body, caller, reply, timed }) => {
    requireGrantable(caller, body.permissions);
    const key = {
      org: caller.org,
      name: body.name,
      permissions: body.permissions,
      expirationDays: expirationDaysOf(caller, body.expiration_days, clock.now()),
      notAfter: caller.expiresAt,
      userId: body.user_id === undefined ? caller.userId : body.user_id,
      createdByUserId: caller.userId,
      createdByKey: caller.keyId,
    };
    const { record, apiKey } = await timed('db', () => apiKeys.create(key)).catch((error: unknown) => {
      // A replica goes on taking a revoked key for the seconds for which it remembers keys.
      if (error instanceof StoreError && error.kind === 'conflict')
        throw new ApiError('unauthorized', 'this API key is revoked: use another one', { cause: error });
      throw error;
    });
    return reply.code(201).send({ ...apiKeyToRest(record), api_key: apiKey });
  });

  addRoute(app, listApiKeys, async ({ query, caller: { org }, timed }) => {
    const list = `api-keys/${org}`;
    const [createdAt, keyId] = query.page_token === undefined ? [] : pageTokens.read(list, query.page_token);
    const after = createdAt === undefined || keyId === undefined ? undefined : { createdAt: new Date(createdAt), keyId };
    const { items, next } = await timed('db', () => apiKeys.list({ org, pageSize: query.page_size, after }));
    return {
      data: items.map(apiKeyToRest),
      next_page_token: next === undefined ? undefined : pageTokens.write(list, [next.createdAt.toISOString(), next.keyId]),
    };
  });

  addRoute(app, getApiKey, async ({ params, caller: { org }, timed }) =>
    apiKeyToRest(await existing(params.key_id, (keyId) => timed('db', () => apiKeys.get({ org, keyId })))),
  );

  addRoute(app, revokeApiKey, async ({ params, query, caller, timed }) => {
    const { org } = caller;
    // A key's permissions never change, so the key that was checked is the one that is revoked.
    requireRevocable(caller, await existing(params.key_id, (keyId) => timed('db', () => apiKeys.get({ org, keyId }))));
    if (!query.descendants)
      return apiKeyToRest(await existing(params.key_id, (keyId) => timed('db', () => apiKeys.revoke({ org, keyId }))));
    // No key may do more than the one that made it.
    const revoked = await existing(params.key_id, (keyId) => timed('db', () => apiKeys.revokeWithDescendants({ org, keyId })));
    return { ...apiKeyToRest(revoked.record), revoked_descendants: revoked.descendants };
  });
}

/** A text that can't be an id is never looked up, and is answered like an unknown id. */
async function existing<T>(keyId: string, find: (keyId: string) => Promise<T | undefined>): Promise<T> {
  const record = /^[A-Za-z0-9_-]{1,64}$/.test(keyId) ? await find(keyId) : undefined;
  if (record === undefined) throw notFound('API key');
  return record;
}
