import { z } from 'zod';

import { isUserId, permissions } from '../../store/index.ts';
import { routesOf } from '../http/route.ts';
import { pageQuery } from '../pagination/keyset.ts';
import { sentAs } from '../validation/unknown-fields.ts';
import { issues } from '../validation/issue.ts';
import { trimmed } from '../validation/normalize.ts';
import { withRule } from '../validation/validate.ts';

const defineRoute = routesOf('API keys');
const params = { key_id: 'The `key_id`.' };

/** A name that people see; spaces alone are none. */
const label = z.string().min(1).max(100).regex(/\S/);

const apiKeyCreate = z
  .object({
    name: trimmed(
      withRule(label.describe('What the key is for; without control characters. Spaces around it are dropped.'), (name, loc) =>
        /\p{Cc}/u.test(name) ? [issues.value(loc, 'a name has no control characters')] : [],
      ),
    ),
    expiration_days: z
      .int()
      .min(1)
      .max(365)
      .optional()
      .describe(
        '30 where absent, or as long as the key that makes it: no key outlives its maker, and more days than that has left are 422.',
      ),
    user_id: withRule(z.string().min(1).max(200), (user, loc) =>
      isUserId(user) ? [] : [issues.value(loc, 'a user has 1 to 200 characters, and no control characters')],
    )
      .nullish()
      .describe('Whom the key acts for: what is made with it records this user. Absent, that of the key that makes it; null for no user.'),
    permissions: z
      .array(z.enum(permissions).meta({ id: 'Permission' }))
      .min(1)
      .describe(
        'A key can grant only what it holds. `write` implies `read`. `calls:create` makes web calls and sees those that the same key has made, and no others. `calls:control` steers calls that go on and takes them over, `calls:listen` hears them; `calls:write` implies neither.',
      ),
  })
  .meta({ id: 'ApiKeyCreate' });

const timestamp = z.iso.datetime();

const apiKeyFields = z.object({
  key_id: z.string().describe('Id of the key; not the key itself.'),
  name: z.string().describe('What the key is for.'),
  permissions: z.array(z.string()).describe('What the key may do.'),
  expiration_date: sentAs(timestamp.describe('Until when the key is accepted.'), 'expiration_days'),
  created_at: timestamp.describe('When it was made.'),
  revoked: z.boolean().describe('Whether it was revoked: no replica accepts it any more.'),
  user_id: z.string().optional().describe('The user that the key acts for; absent where there is none.'),
  created_by_user_id: z
    .string()
    .optional()
    .describe('The user of the key that made this one; absent for a key that was made at the command line.'),
  created_by_key: z.string().optional().describe('Id of the key that made it; absent for a key that was made at the command line.'),
  last_four: z.string().describe('The end of the key, to distinguish keys.'),
});
const apiKeyAnswer = apiKeyFields.meta({ id: 'ApiKey' });
const newApiKeyAnswer = apiKeyFields
  .extend({ api_key: z.string().describe('The key itself. It is shown here and never again.') })
  .meta({ id: 'CreatedApiKey' });

const apiKeyList = z
  .object({
    data: z.array(apiKeyAnswer).describe('The keys on this page.'),
    next_page_token: z.string().optional().describe('For `page_token` of the next page; absent on the last one.'),
  })
  .meta({ id: 'ApiKeyList' });

const example = {
  key_id: 'key_019aa1f2-b3c4-7d5e-8f90-a1b2c3d4e5f6',
  name: 'ci',
  permissions: ['agents:read'],
  expiration_date: '2026-12-21T04:00:00.000Z',
  created_at: '2026-11-21T04:00:00.000Z',
  revoked: false,
  user_id: 'user-1',
  created_by_key: 'key_019aa1f0-a2b3-7c4d-8e5f-6071a2b3c4d5',
  last_four: 'x7Qd',
};

export const createApiKey = defineRoute({
  method: 'POST',
  path: '/v1/api-keys/',
  operationId: 'createApiKey',
  summary: 'Make an API key',
  permission: 'api_keys:write',
  body: apiKeyCreate,
  bodyExamples: { 'a key that reads agents for a week': { name: 'ci', expiration_days: 7, permissions: ['agents:read'] } },
  answers: {
    201: {
      description: 'The key, in clear this once.',
      schema: newApiKeyAnswer,
      identifies: { key_id: 'key_id' },
      example: { ...example, api_key: 'pk_k3xq5w7z_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P_x7Qd' },
    },
  },
});

export const listApiKeys = defineRoute({
  method: 'GET',
  path: '/v1/api-keys/',
  operationId: 'listApiKeys',
  summary: 'List API keys, newest first',
  permission: 'api_keys:read',
  query: pageQuery,
  answers: {
    200: {
      description: 'A page of API keys.',
      schema: apiKeyList,
      example: { data: [example] },
    },
  },
});

export const getApiKey = defineRoute({
  method: 'GET',
  path: '/v1/api-keys/:key_id',
  operationId: 'getApiKey',
  summary: 'Get an API key',
  permission: 'api_keys:read',
  params,
  answers: { 200: { description: 'What is known of the key; never the key itself.', schema: apiKeyAnswer, example } },
});

export const revokeApiKey = defineRoute({
  method: 'POST',
  path: '/v1/api-keys/:key_id/revoke',
  operationId: 'revokeApiKey',
  summary: 'Revoke an API key, for good',
  description:
    'Within 5 seconds no replica accepts it any more. Revoking again changes nothing. A key revokes itself and those that may do no more than it. With `descendants=true` the keys that it has made go with it, those that these have made, and so on.',
  permission: 'api_keys:write',
  params,
  query: z.object({
    descendants: z.boolean().default(false).describe('Revoke the keys that it has made, too, directly or through others.'),
  }),
  answers: {
    200: {
      description: 'The key, revoked.',
      schema: apiKeyFields
        .extend({
          revoked_descendants: z
            .int()
            .min(0)
            .optional()
            .describe('How many other keys were revoked with it; only with `descendants=true`.'),
        })
        .meta({ id: 'RevokedApiKey' }),
      example: { ...example, revoked: true },
    },
  },
});
