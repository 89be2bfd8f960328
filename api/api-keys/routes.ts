import type { FastifyInstance } from 'fastify';

import { covers, type ApiKeyRecord } from '../../store/index.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { ApiError } from '../http/api-error.ts';
import { addRoute } from '../http/route.ts';
import type { PageTokens } from '../pagination/page-token.ts';
import { createApiKey, getApiKey, listApiKeys, revokeApiKey } from './descriptions.ts';

export function registerApiKeys(app: FastifyInstance, { store }: Pick<ApiDependencies, 'store'>, pageTokens: PageTokens): void {
  const { apiKeys } = store;

  addRoute(app, createApiKey, async ({ body, caller, reply, timed }) => {
    const beyond = body.permissions.filter((permission) => !covers(caller.permissions, permission));
    if (beyond.length > 0) throw new ApiError('forbidden', `a key can grant only what it holds, and this one lacks ${beyond.join(', ')}`);
    const key = {
      org: caller.org,
      name: body.name,
      permissions: body.permissions,
      expirationDays: body.expiration_days,
      createdByUserId: caller.createdByUserId,
    };
    const { record, apiKey } = await timed('db', () => apiKeys.create(key));
    return reply.code(201).send({ ...toRest(record), api_key: apiKey });
  });

  addRoute(app, listApiKeys, async ({ query, caller: { org }, timed }) => {
    const list = `api-keys/${org}`;
    const [createdAt, keyId] = query.page_token === undefined ? [] : pageTokens.read(list, query.page_token);
    const after = createdAt === undefined || keyId === undefined ? undefined : { createdAt: new Date(createdAt), keyId };
    const { items, next } = await timed('db', () => apiKeys.list({ org, pageSize: query.page_size, after }));
    return {
      data: items.map(toRest),
      next_page_token: next === undefined ? null : pageTokens.write(list, [next.createdAt.toISOString(), next.keyId]),
    };
  });

  addRoute(app, getApiKey, async ({ params, caller: { org }, timed }) =>
    toRest(await existing(params.key_id, (keyId) => timed('db', () => apiKeys.get({ org, keyId })))),
  );

  addRoute(app, revokeApiKey, async ({ params, caller: { org }, timed }) =>
    toRest(await existing(params.key_id, (keyId) => timed('db', () => apiKeys.revoke({ org, keyId })))),
  );
}

/** What can't be an id is never asked for, and is as unknown as any other. */
async function existing(keyId: string, find: (keyId: string) => Promise<ApiKeyRecord | undefined>): Promise<ApiKeyRecord> {
  const record = /^[A-Za-z0-9_-]{1,64}$/.test(keyId) ? await find(keyId) : undefined;
  if (record === undefined) throw new ApiError('not_found', 'API key not found');
  return record;
}

function toRest(record: ApiKeyRecord) {
  return {
    key_id: record.keyId,
    name: record.name,
    permissions: record.permissions,
    expiration_date: record.expirationDate.toISOString(),
    created_at: record.createdAt.toISOString(),
    revoked: record.revoked,
    created_by_user_id: record.createdByUserId,
    last_four: record.lastFour,
  };
}
