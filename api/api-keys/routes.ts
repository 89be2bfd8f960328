// oxlint-disable oxc/no-async-endpoint-handlers -- Fastify awaits its handlers; the rule is about Express.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { covers, permissions, type ApiKeyRecord } from '../../store/index.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { ApiError } from '../http/api-error.ts';
import { readRequest } from '../http/read-request.ts';
import { callerOf, requestState } from '../http/request-state.ts';
import { pageQuery } from '../pagination/keyset.ts';
import type { PageTokens } from '../pagination/page-token.ts';
import { issues } from '../validation/issue.ts';
import { withRule } from '../validation/validate.ts';

const apiKeyCreate = z.object({
  name: withRule(z.string().min(1).max(100), (name, loc) =>
    /\p{Cc}/u.test(name) ? [issues.value(loc, 'a name has no control characters')] : [],
  ),
  expiration_days: z.int().min(1).max(365).default(30),
  permissions: z.array(z.enum(permissions)).min(1),
});

interface ById {
  readonly Params: { readonly key_id: string };
}

export function registerApiKeys(app: FastifyInstance, { store }: Pick<ApiDependencies, 'store'>, pageTokens: PageTokens): void {
  const { apiKeys } = store;

  app.post('/v1/api-keys', async (request, reply) => {
    const { body } = readRequest(request, { body: apiKeyCreate });
    const caller = callerOf(request);
    const beyond = body.permissions.filter((permission) => !covers(caller.permissions, permission));
    if (beyond.length > 0) throw new ApiError('forbidden', `a key can grant only what it holds, and this one lacks ${beyond.join(', ')}`);
    const key = {
      org: caller.org,
      name: body.name,
      permissions: body.permissions,
      expirationDays: body.expiration_days,
      createdByUserId: caller.createdByUserId,
    };
    const { record, apiKey } = await requestState(request).timed('store', () => apiKeys.create(key));
    return reply
      .code(201)
      .header('cache-control', 'no-store')
      .send({ ...toRest(record), api_key: apiKey });
  });

  app.get('/v1/api-keys', async (request) => {
    const { query } = readRequest(request, { query: pageQuery });
    const { org } = callerOf(request);
    const list = `api-keys/${org}`;
    const [createdAt, keyId] = query.page_token === undefined ? [] : pageTokens.read(list, query.page_token);
    const after = createdAt === undefined || keyId === undefined ? undefined : { createdAt: new Date(createdAt), keyId };
    const { items, next } = await requestState(request).timed('store', () => apiKeys.list({ org, pageSize: query.page_size, after }));
    return {
      data: items.map(toRest),
      next_page_token: next === undefined ? null : pageTokens.write(list, [next.createdAt.toISOString(), next.keyId]),
    };
  });

  app.get<ById>('/v1/api-keys/:key_id', async (request) => {
    const { org } = callerOf(request);
    return toRest(
      await existing(request.params.key_id, (keyId) => requestState(request).timed('store', () => apiKeys.get({ org, keyId }))),
    );
  });

  app.post<ById>('/v1/api-keys/:key_id/revoke', async (request) => {
    const { org } = callerOf(request);
    return toRest(
      await existing(request.params.key_id, (keyId) => requestState(request).timed('store', () => apiKeys.revoke({ org, keyId }))),
    );
  });
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
