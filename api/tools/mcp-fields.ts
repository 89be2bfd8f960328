/** Lists every field of an MCP server in REST. Pure. */
import { z } from 'zod';

import { originOf } from '../../crds/address.ts';
import { toolKind, type Tool, type ToolSpec } from '../../crds/index.ts';
import { choice, entries, headers, listUnlessEmpty, milliseconds, secret } from '../codec/conversions.ts';
import { fieldsOf } from '../codec/fields-of.ts';
import type { Draft } from '../codec/draft.ts';
import { schemaAt } from '../codec/rest-schema.ts';
import { volatile } from '../validation/unknown-fields.ts';
import { eachMessage } from './message-fields.ts';

const serverOrigin = ({ mcp }: Draft<ToolSpec>) => ({ server_url: originOf(mcp?.url ?? '') });

const { field, answered, group } = fieldsOf<typeof toolKind.spec, Tool>(toolKind.spec);
const serverTool = fieldsOf(schemaAt(toolKind.spec, 'mcp.tools.*'));

const oauth = group(
  {
    token_url: field('mcp.oauth.tokenURL'),
    client_id: field('mcp.oauth.clientID'),
    client_secret: field('mcp.oauth.clientSecretRef', {
      as: secret,
      // The server gets the access tokens for which the secret is exchanged.
      sentTo: (spec) => ({ token_url: originOf(spec.mcp?.oauth?.tokenURL ?? ''), ...serverOrigin(spec) }),
    }),
    scope: field('mcp.oauth.scope'),
  },
  { name: 'McpOAuth', path: 'mcp.oauth' },
);

/** The fields of the server, and those of its status. */
export const mcpDefinition = {
  server_url: field('mcp.url'),
  headers: field('mcp.headers', { as: headers(() => 'header'), empty: {}, sentTo: serverOrigin }),
  oauth,
  include: field('mcp.include', { as: listUnlessEmpty }),
  exclude: field('mcp.exclude', { as: listUnlessEmpty }),
  prefix: field('mcp.prefix'),
  timeout_ms: field('mcp.timeout', { as: milliseconds }),
  update_policy: field('mcp.updatePolicy', {
    as: choice({ pinned: 'Pinned', follow: 'Follow' }),
    id: 'McpUpdatePolicy',
    text: '`pinned`: a list of tools that the server changes waits until you accept it in `digest`; `follow`: agents get it as a new revision.',
  }),
  digest: field('mcp.digest', { text: 'The list of tools to use: set it to `latest_digest` to accept a changed list.' }),
  tool_messages: field('mcp.tools', {
    as: entries(
      eachMessage((moment) => serverTool.field(`messages.${moment}`)),
      { name: 'McpToolMessages', about: 'What the agent says for one tool of the server.', listed: true },
    ),
    id: 'McpMessagesByToolCreate',
    text: 'For single tools, by their name at the server, instead of the messages below.',
  }),
  functions: answered(
    volatile(
      z
        .array(z.string())
        .optional()
        .describe('The names by which the model calls the tools of the server; absent until it has been asked.'),
    ),
    ({ status }) => status?.mcp?.functions,
  ),
  used_digest: answered(
    volatile(z.string().optional().describe('The digest of the list of tools that agents use.')),
    ({ status }) => status?.mcp?.digest,
  ),
  latest_digest: answered(
    volatile(
      z
        .string()
        .optional()
        .describe('The digest of the list that the server has now; another one than `used_digest` waits to be accepted.'),
    ),
    ({ status }) => status?.mcp?.latestDigest,
  ),
} as const;
