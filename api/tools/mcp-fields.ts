/** An MCP server in REST. Pure. */
import { z } from 'zod';

import { originOf } from '../../crds/address.ts';
import type { Tool, ToolSpec } from '../../crds/index.ts';
import { saidWhen } from '../../crds/tool.ts';
import { choice, milliseconds, secret, unlessEmpty } from '../codec/conversions.ts';
import { field, group, type Conversion } from '../codec/fields.ts';
import { present, type Draft } from '../codec/present.ts';
import { distinctTexts, named, text } from '../codec/schemas.ts';
import { headersField } from './headers-field.ts';
import { eachMessage, eachStoredMessage, messageName } from './message-fields.ts';

const address = text(2048).regex(/^https?:\/\//);
const toolNames = distinctTexts(named(128), 128, 'names');
const DIGEST = /^sha256:[0-9a-f]{64}$/;

const serverOrigin = ({ mcp }: Draft<ToolSpec>) => ({ server_url: originOf(mcp?.url ?? '') });

/** A list of names; an empty one is as good as none. */
const namesList: Conversion = {
  read: (stored) => stored,
  write: (sent: readonly string[], { stored }) => unlessEmpty(sent, stored),
  below: { '.*': '.*' },
};

type Texts = Partial<ReturnType<typeof eachMessage<string | null>>>;
interface StoredTexts {
  readonly name: string;
  readonly messages?: Partial<ReturnType<typeof eachStoredMessage<string>>>;
}

const ABOUT = 'What the agent says for one tool of the server.';
const textsCreate = z
  .object(eachMessage((moment) => text(1000).nullish().describe(saidWhen[moment])))
  .meta({ id: 'McpToolMessagesCreate', description: ABOUT });
const texts = z
  .object(eachMessage((moment) => z.string().optional().describe(saidWhen[moment])))
  .meta({ id: 'McpToolMessages', description: ABOUT });

/** By name of the tool in REST, a list in the resource. */
const messagesByTool: Conversion = {
  read: (stored: readonly StoredTexts[]) =>
    Object.fromEntries(stored.map(({ name, messages }) => [name, present(eachMessage((moment) => messages?.[moment]))])),
  write: (sent: Readonly<Record<string, Texts>>, { stored }) =>
    unlessEmpty(
      Object.entries(sent).map(([name, one]) => ({
        name,
        messages: present(eachStoredMessage((moment) => one[messageName(moment)] ?? undefined)),
      })),
      stored,
    ),
};

const oauth = group(
  {
    token_url: field({ path: 'mcp.oauth.tokenURL', create: address, update: address.optional(), answer: z.string() }),
    client_id: field({ path: 'mcp.oauth.clientID', create: named(256), update: named(256).optional(), answer: z.string() }),
    client_secret: field({
      path: 'mcp.oauth.clientSecretRef',
      as: secret,
      create: named(4096),
      update: named(4096).optional(),
      answer: z.string().optional().describe('`"********"` unless the key names the permission `secrets:read`.'),
      // The server gets the access tokens that the secret is exchanged for.
      sentTo: (spec: Draft<ToolSpec>) => ({ token_url: originOf(spec.mcp?.oauth?.tokenURL ?? ''), ...serverOrigin(spec) }),
    }),
    scope: field({ path: 'mcp.oauth.scope', create: text(1024).nullish(), answer: z.string().optional() }),
  },
  { name: 'McpOAuth', path: 'mcp.oauth', about: 'OAuth client credentials, for a server that wants access tokens.' },
);

const updatePolicy = z.enum(['pinned', 'follow']).meta({ id: 'McpUpdatePolicy' });

/** The server, and what its status says of it. */
export const mcpDefinition = {
  server_url: field({ path: 'mcp.url', create: address, update: address.optional(), answer: z.string() }),
  headers: headersField('mcp.headers', serverOrigin),
  oauth: { ...oauth, create: oauth.create.nullish(), update: oauth.update.nullish(), answer: oauth.answer.optional() },
  include: field({ path: 'mcp.include', as: namesList, create: toolNames.nullish(), answer: z.array(z.string()).optional() }),
  exclude: field({ path: 'mcp.exclude', as: namesList, create: toolNames.nullish(), answer: z.array(z.string()).optional() }),
  prefix: field({
    path: 'mcp.prefix',
    create: z
      .string()
      .regex(/^[a-zA-Z0-9_-]{0,32}$/)
      .nullish(),
    answer: z.string().optional(),
  }),
  timeout_ms: field({ path: 'mcp.timeout', as: milliseconds, create: z.int().min(1_000).max(120_000).nullish(), answer: z.int() }),
  update_policy: field({
    path: 'mcp.updatePolicy',
    as: choice({ pinned: 'Pinned', follow: 'Follow' }),
    create: updatePolicy
      .nullish()
      .describe(
        '`pinned`: a list of tools that the server changes waits until you accept it in `digest`; `follow`: agents get it as a new revision.',
      ),
    answer: updatePolicy,
  }),
  digest: field({
    path: 'mcp.digest',
    create: z.string().regex(DIGEST).nullish().describe('The list of tools to use: set it to `latest_digest` to accept a changed list.'),
    answer: z.string().optional(),
  }),
  tool_messages: field({
    path: 'mcp.tools',
    as: messagesByTool,
    create: z
      .record(named(128), textsCreate)
      .meta({ id: 'McpMessagesByToolCreate', maxProperties: 128 })
      .nullish()
      .describe('For single tools, by their name at the server, instead of the messages below.'),
    answer: z.record(z.string(), texts).optional(),
  }),
  functions: field({
    answer: z
      .array(z.string())
      .optional()
      .describe('The names by which the model calls the tools of the server; absent until it has been asked.'),
    read: ({ status }: Tool) => status?.mcp?.functions,
  }),
  used_digest: field({
    answer: z.string().optional().describe('Of the list of tools that agents use.'),
    read: ({ status }: Tool) => status?.mcp?.digest,
  }),
  latest_digest: field({
    answer: z.string().optional().describe('Of the list that the server has now; another one than `used_digest` waits to be accepted.'),
    read: ({ status }: Tool) => status?.mcp?.latestDigest,
  }),
} as const;
