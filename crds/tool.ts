import { z } from 'zod';

import { toolMethods } from './http-method.ts';
import { ageColumn, defineKind, readyColumn, reasonColumn, suspendColumn, type Resource } from './kind.ts';
import {
  atomic,
  cel,
  duration,
  emptyByDefault,
  freeObject,
  freeValue,
  headerList,
  immutable,
  list,
  localRef,
  mapOf,
  mapTo,
  name,
  secretKeyRef,
  setOf,
  text,
  unionOf,
  url,
} from './schema.ts';
import { commonStatus, suspend, timestamp } from './status.ts';

const toolMembers = {
  Custom: 'custom',
  MCP: 'mcp',
  SendEmail: 'sendEmail',
  TransferCall: 'transferCall',
  BookCalendar: 'bookCalendar',
  CheckCalendarAvailability: 'checkCalendarAvailability',
} as const;
export type ToolType = keyof typeof toolMembers;
/** Parley itself carries these out. */
export type BuiltinToolType = Exclude<ToolType, 'Custom' | 'MCP'>;

/** A value from the dynamic data is made into one of these. */
export const parameterTypes = ['string', 'number', 'integer', 'boolean', 'object', 'array'] as const;

const param = z.object({
  description: text(1500).optional().describe('What the parameter means.'),
  value: freeValue().optional().describe('Any JSON value; strings may hold {{name}} placeholders.'),
});
const runtimeParam = param.extend({
  type: z.enum(parameterTypes).optional().describe('A text that can be read as this type is sent as such.'),
  required: z.boolean().optional().describe('Without a value nothing is requested.'),
});

const custom = z.object({
  function: z
    .object({
      name: z
        .string()
        .max(64)
        .regex(/^[a-zA-Z0-9_-]{1,64}$/)
        .describe('The name by which the model calls it; unique among the tools of an agent.'),
      description: text(4096).optional().describe('When and how the model should use it.'),
      parameters: freeObject(64).optional().describe('JSON Schema of the arguments, at most 32 KiB.'),
    })
    .describe('What the model sees.'),
  http: z
    .object({
      url: text(2048)
        .regex(/^https?:\/\/.+/)
        .describe('May hold {name} path parameters and {{name}} placeholders.'),
      method: z
        .enum(toolMethods)
        .default('GET')
        .describe('GET, HEAD, OPTIONS and DELETE send parameters in the query, the others as JSON.'),
      headers: headerList().optional().describe('Headers that are sent with the request.'),
      timeout: duration('1s', '120s').default('20s').describe('Limit of the whole request.'),
      fixedParams: mapTo(param, 64).optional().describe('Values that override what the model says.'),
      runtimeParams: mapTo(runtimeParam, 64).optional().describe("Filled from the call's dynamic data."),
    })
    .describe('What is requested when the model calls it.'),
});

/** How long a tool runs before its `delayed` message is said, in milliseconds. */
export const DELAYED_AFTER_MS = 5_000;

export const saidWhen = {
  start: 'What the agent says when the tool starts.',
  delayed: 'What the agent says once when the tool has no answer after 5 s.',
  complete: 'What the agent says when the tool has succeeded.',
  failed: 'What the agent says when the tool failed.',
} as const;

const toolMessages = () =>
  z.object({
    start: text(1000).optional().describe(saidWhen.start),
    delayed: text(1000).optional().describe(saidWhen.delayed),
    complete: text(1000).optional().describe(saidWhen.complete),
    failed: text(1000).optional().describe(saidWhen.failed),
  });

const serverToolName = () => name(128);

/** Ways in which a changed list of tools comes into service. */
export const updatePolicies = ['Pinned', 'Follow'] as const;

const mcp = cel(
  z.object({
    url: url().describe('Address of the server: streamable HTTP.'),
    headers: headerList().optional().describe('Headers that are sent with every request.'),
    oauth: z
      .object({
        tokenURL: url().describe('Token endpoint of the authorization server.'),
        clientID: name(256).describe('The client that asks for tokens.'),
        clientSecretRef: secretKeyRef().describe('Secret of the client.'),
        scope: text(1024).optional().describe('Scopes to ask for, separated by spaces.'),
      })
      .optional()
      .describe('OAuth client credentials, for a server that wants access tokens.'),
    include: setOf(serverToolName(), 128).optional().describe('Names of the tools to offer; all of the server where absent.'),
    exclude: setOf(serverToolName(), 128).optional().describe('Names of tools not to offer, also of those included.'),
    prefix: text(32)
      .regex(/^[a-zA-Z0-9_-]*$/)
      .optional()
      .describe('Put before the name of each tool, for servers whose tools have the same names.'),
    timeout: duration('1s', '120s').default('20s').describe('Limit of a whole call of a tool.'),
    updatePolicy: z
      .enum(updatePolicies)
      .default('Pinned')
      .describe('Pinned: a list of tools that the server changes waits until you accept it; Follow: agents get it as a new revision.'),
    digest: z
      .string()
      .max(71)
      .regex(/^sha256:[0-9a-f]{64}$/)
      .optional()
      .describe('The list of tools to use, by its digest in the status: set it to that of the newest list to accept it.'),
    tools: mapOf(
      z.object({
        name: serverToolName().describe('Its name at the server.'),
        messages: atomic(toolMessages()).optional().describe('Said instead of the messages of the Tool, one by one.'),
      }),
      ['name'],
      128,
    )
      .optional()
      .describe('What differs for single tools of the server.'),
  }),
  {
    rule: "!has(self.digest) || self.updatePolicy == 'Pinned'",
    message: 'digest pins the list of tools: remove it, or the updatePolicy that follows the server',
    fieldPath: '.digest',
  },
);

const calendar = () =>
  z.object({
    eventTypeID: name(64).describe('Event type at Cal.com: its number, or user/event as in its address.'),
    apiKeySecretRef: secretKeyRef().describe('API key of the Cal.com account.'),
    timeZone: text(64).default('UTC').describe('IANA name of the time zone in which times are said and understood.'),
  });

const spec = cel(
  z.object({
    suspend,
    type: z
      .enum(Object.keys(toolMembers) as [ToolType, ...ToolType[]])
      .describe('What the tool is; the field of the same name (custom with Custom) holds its settings. Immutable.'),
    agentRefs: mapOf(localRef(), ['name'], 256).optional().describe('The agents that may use this tool.'),
    description: text(1500).optional().describe('A note for people; for a built-in tool also its description for the model.'),
    messages: emptyByDefault(toolMessages()).describe('What the agent says while the tool runs.'),
    sensitive: z
      .boolean()
      .optional()
      .describe(
        'Whether its arguments and results, and the keys that are pressed for it, are stored nowhere. The model gets a reference in place of the keys. false where absent.',
      ),
    custom: custom.optional().describe('An HTTP API of yours.'),
    mcp: mcp.optional().describe('The tools of an MCP server.'),
    sendEmail: z
      .object({
        from: name(320).describe('Address of the sender.'),
        passwordSecretRef: secretKeyRef().describe("App password of the sender's account."),
      })
      .optional()
      .describe("Sends an e-mail by SMTP, through the mail server of the sender's domain."),
    transferCall: z
      .object({
        to: text(512)
          .regex(/^(\+[1-9][0-9]{1,14}|sips?:.+)$/)
          .describe('E.164 number or sip: URI.'),
        mode: z.enum(['Cold', 'Warm']).default('Cold').describe('Warm: the agent speaks to the other side first.'),
        callerID: z
          .enum(['Agent', 'Caller'])
          .default('Agent')
          .describe('Whose number the other side of a warm transfer sees: that of the agent, or that of the caller.'),
      })
      .optional()
      .describe('Hands the call over.'),
    bookCalendar: calendar().optional().describe('Books a slot in a Cal.com calendar.'),
    checkCalendarAvailability: calendar().optional().describe('Says which slots of a Cal.com calendar are free.'),
  }),
  ...unionOf(toolMembers),
  immutable('type'),
);

const mcpChange = z.object({
  tool: text(128).describe('Its name at the server.'),
  change: z.enum(['Added', 'Removed', 'Changed']).describe('Against the list that agents use.'),
  before: text(500).optional().describe('Beginning of the description that agents use.'),
  after: text(500).optional().describe("Beginning of the server's description now."),
  parametersChanged: z.boolean().optional().describe('Whether the JSON Schema of its arguments differs.'),
});

const mcpStatus = z.object({
  digest: text(71).optional().describe('The digest of the list of tools that agents use.'),
  latestDigest: text(71)
    .optional()
    .describe('The digest of the list that the server has now; another one waits to be accepted in spec.mcp.digest.'),
  fetchedAt: timestamp().optional().describe('When the server had a new list for the first time, or one at all.'),
  functions: list(text(64), 128).optional().describe('The names by which the model calls its tools, sorted.'),
  changes: list(mcpChange, 32).optional().describe('How the two lists differ; the first 32.'),
});

const agentStatus = z.object({
  name: name(253).describe('Name of the agent, as in spec.agentRefs.'),
  attached: z.boolean().describe('Whether the agent offers this tool: the agent exists, and no older tool has the function name there.'),
  reason: text(64).optional().describe('Why it does not offer the tool, for programs: AgentNotFound or FunctionNameConflict.'),
  message: text(512).optional().describe('Why it does not offer the tool, for people: a predicate of the agent.'),
});

const status = z.object({
  ...commonStatus,
  functionName: text(64)
    .optional()
    .describe('The name by which the model calls this tool; a tool of type MCP has several, in mcp.functions.'),
  attachedAgents: z.int().min(0).max(256).optional().describe('How many agents offer this tool.'),
  agents: mapOf(agentStatus, ['name'], 256).optional().describe('Whether each agent of spec.agentRefs offers this tool, sorted by name.'),
  mcp: atomic(mcpStatus).optional().describe('What the MCP server offers.'),
});

/** Function names of the built-in tools, as the model sees them; a custom tool of the same agent can't take them. */
export const builtinFunctionNames = {
  SendEmail: 'send_email',
  TransferCall: 'transfer_call',
  BookCalendar: 'book_calendar',
  CheckCalendarAvailability: 'check_calendar_availability',
} as const satisfies Record<BuiltinToolType, string>;

/** Functions that every agent may have, without a Tool. */
export const callFunctionNames = ['search_knowledge_base', 'collect_digits', 'send_digits', 'end_call'] as const;

export const toolKind = defineKind('Tool', 'tools', {
  shortNames: ['ptool'],
  description: 'Something an agent can do in a call: an HTTP API of yours, the tools of an MCP server, or a built-in.',
  printerColumns: [
    // A tool has no display name: people and models know it by its function.
    { name: 'Function', type: 'string', jsonPath: '.status.functionName' },
    readyColumn,
    reasonColumn,
    suspendColumn,
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    { name: 'Agents', type: 'integer', jsonPath: '.status.attachedAgents' },
    ageColumn,
  ],
  spec,
  status,
});

export type ToolSpec = z.output<typeof spec>;
export type ToolStatus = z.output<typeof status>;
export type Tool = Resource<ToolSpec, ToolStatus>;
