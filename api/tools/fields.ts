/** Lists every field of tools in REST: of custom tools and of each built-in one. Pure. */
import { z } from 'zod';

import { originOf } from '../../crds/address.ts';
import { builtinFunctionNames, toolKind, type BuiltinToolType, type Tool, type ToolSpec, type ToolType } from '../../crds/index.ts';
import { localRef } from '../../crds/schema.ts';
import type { Stored } from '../../kube/types.ts';
import { isSip, sipOriginOf } from '../../calls/sip/termination.ts';
import { choice, entries, headers, secret, whether } from '../codec/conversions.ts';
import {
  answerShape,
  bringsSecrets,
  createShape,
  fieldNamesOf,
  inOrder,
  readFields,
  secretRefsOf,
  updateShape,
  writeFields,
  type Conversion,
  type Encoding,
  type Fields,
  type Decoding,
} from '../codec/fields.ts';
import { fieldsOf } from '../codec/fields-of.ts';
import type { Draft } from '../codec/draft.ts';
import { answerSchema, bodySchema, schemaAt, without } from '../codec/rest-schema.ts';
import type { KeyRef, SecretValues } from '../codec/secrets.ts';
import { writtenAt } from '../resources/written-at.ts';
import { STATE, stateFields } from '../state/answers.ts';
import type { ResourceState } from '../state/resource-state.ts';
import { issues, type Loc, type ValidationIssue } from '../validation/issue.ts';
import { inAnyCase } from '../validation/normalize.ts';
import { volatile } from '../validation/unknown-fields.ts';
import { forbidding, withRule } from '../validation/validate.ts';
import { eachMessage } from './message-fields.ts';
import { mcpDefinition } from './mcp-fields.ts';

interface ToolReading extends Decoding {
  readonly state: ResourceState;
}

const toolState = volatile(
  z
    .object({
      ...stateFields,
      reason: stateFields.reason.describe(
        `${stateFields.reason.description ?? ''} \`AgentNotReady\`: the tool is sound, and its agent does not offer it.`,
      ),
    })
    .meta({ id: 'ToolState', description: STATE }),
);

const { field, answered, restField, group } = fieldsOf<typeof toolKind.spec, Stored<Tool>, ToolReading>(toolKind.spec);
const fixedParam = fieldsOf(schemaAt(toolKind.spec, 'custom.http.fixedParams.*'));
const runtimeParam = fieldsOf(schemaAt(toolKind.spec, 'custom.http.runtimeParams.*'));

/** The four texts that every tool has. */
const messages = eachMessage((moment) => field(`messages.${moment}`));

/** Without the pattern: that there is no such tool, or what a name has to be, is said in words. */
const objectName = without(bodySchema(localRef().shape.name), 'string_format');

const toolId = restField({
  create: objectName
    .nullish()
    .describe('Name of a new tool, in the form of a Kubernetes name; made up where absent. In an update it is that of the path.'),
  answer: z.string().describe('Name of the Tool resource in the namespace of the organisation.'),
  read: ({ metadata }) => metadata.name,
});

const description = field('description');

/** What is stored of a tool's calls is the same question for each type. */
const sensitive = { sensitive: field('sensitive') };

const kept = {
  created_at: answered(z.iso.datetime().describe('When it was made.'), ({ metadata }) => metadata.creationTimestamp),
  updated_at: answered(volatile(z.iso.datetime().describe('When the definition was last changed, by whatever means.')), writtenAt),
  state: answered(toolState, (_, { state }) => state),
};

const PARAM_VALUE = 'Any JSON value; texts may hold `{{name}}` placeholders.';

const parameters = group(
  {
    fixed_params: field('custom.http.fixedParams', {
      as: entries(
        { description: fixedParam.field('description'), value: fixedParam.field('value', { text: PARAM_VALUE }) },
        { name: 'FixedParameter' },
      ),
      id: 'FixedParametersCreate',
      empty: {},
    }),
    runtime_params: field('custom.http.runtimeParams', {
      as: entries(
        {
          description: runtimeParam.field('description'),
          value: runtimeParam.field('value', { text: PARAM_VALUE }),
          type: runtimeParam.field('type', {
            id: 'ParameterType',
            text: 'A text in the dynamic data that can be read as this type is sent as such.',
          }),
          required: runtimeParam.field('required', {
            text: 'Whether a value is needed: without one nothing is requested, and the tool fails.',
          }),
        },
        { name: 'RuntimeParameter' },
      ),
      id: 'RuntimeParametersCreate',
      empty: {},
    }),
  },
  { name: 'CustomToolParameters', about: 'Parameters of the request that the model does not choose.', required: false },
);

const TOOL_TYPE = 'Always `custom`.';
const TOOL_NAME = 'Which of the built-in tools it is.';

/** The fields that describe a custom tool to the model, and those of its request. */
const definition = {
  function_tool: group(
    {
      name: field('custom.function.name'),
      description: field('custom.function.description'),
      parameters: field('custom.function.parameters', { id: 'FunctionParametersCreate', empty: {} }),
    },
    { name: 'FunctionTool', path: 'custom.function' },
  ),
  additional_tool_info: group(
    {
      tool_type: restField({
        create: z.literal('custom').nullish().describe(TOOL_TYPE),
        answer: z.literal('custom').describe(TOOL_TYPE),
        read: () => 'custom' as const,
      }),
      api: group(
        {
          endpoint: field('custom.http.url'),
          headers: field('custom.http.headers', {
            as: headers(() => 'header'),
            empty: {},
            sentTo: ({ custom }) => ({ endpoint: originOf(custom?.http?.url ?? '') }),
          }),
          method: field('custom.http.method', { id: 'ToolMethod', body: inAnyCase }),
          parameters,
        },
        { name: 'CustomToolApi', path: 'custom.http' },
      ),
    },
    { name: 'CustomToolInfo', about: 'The HTTP API that is called.' },
  ),
};

const toolName = <const N extends string>(name: N) =>
  restField({ create: z.literal(name).describe(TOOL_NAME), answer: z.literal(name).describe(TOOL_NAME), read: () => name });

const LARGEST_EVENT_TYPE = 2_147_483_647;

/** Answers the number of an event type as a number, and its name as a text. */
const eventType: Conversion<string, number | string> = {
  body: (stored) => z.union([z.int().min(1).max(LARGEST_EVENT_TYPE), bodySchema(stored)]),
  answer: (stored) => z.union([z.int(), answerSchema(stored)]),
  read: (stored) => (/^[1-9][0-9]*$/.test(stored) && Number(stored) <= LARGEST_EVENT_TYPE ? Number(stored) : stored),
  write: String,
};

const calendar = <const N extends string>(name: N, member: 'bookCalendar' | 'checkCalendarAvailability') => ({
  tool_name: toolName(name),
  event_type_id: field(`${member}.eventTypeID`, {
    as: eventType,
    text: 'Event type at Cal.com: its number, which is answered as a number, or `user/event` as in its address.',
  }),
  cal_api_key: field(`${member}.apiKeySecretRef`, { as: secret }),
  timezone: field(`${member}.timeZone`),
});

const builtin = {
  sendEmail: {
    tool_name: toolName('send_email'),
    from_email: field('sendEmail.from', { body: (from) => from.regex(/^[^\s@]+@[^\s@]+$/) }),
    app_password: field('sendEmail.passwordSecretRef', {
      as: secret,
      // The sender's domain determines the mail server; calendars have one address for the installation.
      sentTo: ({ sendEmail: { from: sender = '' } = {} }) => ({
        from_email: sender.slice(sender.lastIndexOf('@') + 1).toLowerCase(),
      }),
    }),
  },
  transferCall: {
    tool_name: toolName('transfer_call'),
    transfer_to: field('transferCall.to', {
      // A call that is transferred to a SIP address goes through the trunk of its number, whose login is stored.
      uses: ({ transferCall: { to: target } = {} }) =>
        target === undefined ? [] : [{ id: 'trunk', origin: isSip(target) ? { transfer_to: sipOriginOf(target) } : undefined }],
    }),
    transfer_type: field('transferCall.mode', { as: choice({ cold_transfer: 'Cold', warm_transfer: 'Warm' }), id: 'TransferType' }),
    display_phone_number: field('transferCall.callerID', {
      as: whether('Caller', 'Agent'),
      text: 'Whether the other side sees the number of the caller.',
    }),
  },
  bookCalendar: calendar('book_calendar', 'bookCalendar'),
  checkCalendarAvailability: calendar('check_calendar_availability', 'checkCalendarAvailability'),
} as const;

const common = { tool_id: toolId, tool_description: description, ...messages, ...sensitive, ...kept };
const sendEmail = { ...builtin.sendEmail, ...common };
const transferCall = { ...builtin.transferCall, ...common };
const bookCalendar = { ...builtin.bookCalendar, ...common };
const checkCalendarAvailability = { ...builtin.checkCalendarAvailability, ...common };
const custom = { tool_id: toolId, ...definition, ...messages, ...sensitive, ...kept };
const mcp = { tool_id: toolId, tool_description: description, ...mcpDefinition, ...messages, ...sensitive, ...kept };
const fieldsByType = {
  Custom: custom,
  MCP: mcp,
  SendEmail: sendEmail,
  TransferCall: transferCall,
  BookCalendar: bookCalendar,
  CheckCalendarAvailability: checkCalendarAvailability,
} as const satisfies Record<ToolType, Fields>;

/** A body that makes a custom tool, as the contract describes it. */
export const customTool = z.object(createShape(custom));

/** A body that changes a custom tool. Absent fields keep their value, at every level; `null` brings back the default. */
export const customToolUpdate = z.object(updateShape(custom));

export const customToolAnswer = z.object(answerShape(custom)).meta({ id: 'CustomTool' });

/** A body that makes an MCP server, whose tools an agent gets. */
export const mcpTool = z.object(createShape(mcp));

/** A body that changes an MCP server. Absent fields keep their value, at every level; `null` brings back the default. */
export const mcpToolUpdate = z.object(updateShape(mcp));

export const mcpToolAnswer = z.object(answerShape(mcp)).meta({ id: 'McpTool' });

const ownFields = [...new Set(Object.values(builtin).flatMap((fields) => Object.keys(fields)))];

/** Bodies that make a built-in tool. Fields of the other types are refused. */
export const builtinTool = z.discriminatedUnion('tool_name', [
  forbidding(z.object(createShape(sendEmail)).meta({ id: 'SendEmailToolCreate' }), ownFields),
  forbidding(z.object(createShape(transferCall)).meta({ id: 'TransferCallToolCreate' }), ownFields),
  forbidding(z.object(createShape(bookCalendar)).meta({ id: 'BookCalendarToolCreate' }), ownFields),
  forbidding(z.object(createShape(checkCalendarAvailability)).meta({ id: 'CheckCalendarAvailabilityToolCreate' }), ownFields),
]);

/** Bodies by the stored type, whose `tool_name` they may repeat. Absent fields stay, `null` brings back the default. */
export const builtinToolUpdates = {
  SendEmail: forbidding(z.object(updateShape(sendEmail)).meta({ id: 'SendEmailToolUpdate' }), ownFields),
  TransferCall: forbidding(z.object(updateShape(transferCall)).meta({ id: 'TransferCallToolUpdate' }), ownFields),
  BookCalendar: forbidding(z.object(updateShape(bookCalendar)).meta({ id: 'BookCalendarToolUpdate' }), ownFields),
  CheckCalendarAvailability: forbidding(
    z.object(updateShape(checkCalendarAvailability)).meta({ id: 'CheckCalendarAvailabilityToolUpdate' }),
    ownFields,
  ),
} as const satisfies Record<BuiltinToolType, z.ZodObject>;

export const builtinToolAnswer = z
  .discriminatedUnion('tool_name', [
    z.object(inOrder(answerShape(sendEmail), ['tool_id'])).meta({ id: 'SendEmailTool' }),
    z.object(inOrder(answerShape(transferCall), ['tool_id'])).meta({ id: 'TransferCallTool' }),
    z.object(inOrder(answerShape(bookCalendar), ['tool_id'])).meta({ id: 'BookCalendarTool' }),
    z.object(inOrder(answerShape(checkCalendarAvailability), ['tool_id'])).meta({ id: 'CheckCalendarAvailabilityTool' }),
  ])
  .meta({ id: 'BuiltinTool' });

export type CustomTool = z.output<typeof customTool>;
export type CustomToolUpdate = z.output<typeof customToolUpdate>;
export type McpTool = z.output<typeof mcpTool>;
export type McpToolUpdate = z.output<typeof mcpToolUpdate>;
export type BuiltinToolCreate = z.output<typeof builtinTool>;
export type BuiltinToolUpdate = z.output<(typeof builtinToolUpdates)[BuiltinToolType]>;

/** The most tools of an agent that REST attaches. */
export const MAX_TOOLS = 64;

/**
 * An item of `llm.tools`: a tool that exists, by `tool_id`, or a new custom tool, by its definition. With both, the tool of that id is made
 * where there is none, and a tool of the agent is updated; a built-in tool appears in this form in `llm.tools`.
 */
export const inlineTool = withRule(
  z
    .object({
      tool_id: objectName.nullish().describe('The id of an existing tool, or the name of a new one.'),
      function_tool: definition.function_tool.create.nullish(),
      additional_tool_info: definition.additional_tool_info.create.nullish(),
      tool_description: description.create.describe('The description of a built-in tool.'),
      ...createShape({ ...messages, ...sensitive }),
    })
    .meta({ id: 'InlineTool' }),
  requireDefinition,
);

export type InlineTool = z.output<typeof inlineTool>;

function requireDefinition(
  tool: { readonly tool_id?: unknown; readonly function_tool?: unknown; readonly additional_tool_info?: unknown },
  loc: Loc,
): ValidationIssue[] {
  if (typeof tool.tool_id === 'string') return [];
  return (['function_tool', 'additional_tool_info'] as const)
    .filter((name) => (tool[name] ?? undefined) === undefined)
    .map((name) => issues.missing([...loc, name]));
}

const attachedCustom = { tool_id: toolId, ...definition, ...messages, ...sensitive };
const attachedBuiltin = {
  tool_id: toolId,
  tool_name: answered(z.string().optional().describe(TOOL_NAME), ({ spec }) => functionNameOf(spec)),
  tool_description: description,
  ...messages,
  ...sensitive,
};

/** An item of an agent's `llm.tools`. */
export const attachedTool = z
  .union([
    z.object(answerShape(attachedCustom)).meta({ id: 'AttachedCustomTool', description: 'A custom tool.' }),
    z.object(answerShape(attachedBuiltin)).meta({ id: 'AttachedBuiltinTool', description: 'A built-in tool.' }),
  ])
  .meta({ id: 'AttachedTool' });

export const toolFieldNames = Object.assign({}, ...Object.values(fieldsByType).map(fieldNamesOf)) as ReturnType<typeof fieldNamesOf>;

export function builtinTypeOf({ type }: Draft<ToolSpec>): BuiltinToolType | undefined {
  return type === 'Custom' || type === 'MCP' ? undefined : type;
}

/** Builds the tool object of the contract: the fields of its own type, and none of another. */
export function toolToRest(tool: Stored<Tool>, reading: ToolReading): Readonly<Record<string, unknown>> {
  return readFields(inOrder<Fields>(fieldsByType[tool.spec.type], ['tool_id']), tool, reading);
}

/** Builds a tool's item in `llm.tools` of an agent: the fields that identify it, and for a custom one its definition. */
export function attachedToolToRest(tool: Tool, secrets: SecretValues): Readonly<Record<string, unknown>> {
  return readFields(tool.spec.type === 'Custom' ? attachedCustom : attachedBuiltin, tool, { secrets });
}

export type ToolBody = CustomTool | CustomToolUpdate | McpTool | McpToolUpdate | InlineTool | BuiltinToolCreate | BuiltinToolUpdate;

/** Writes the fields of a request into the spec. @see writeFields */
export function toolFromRest(body: ToolBody, previous: ToolSpec | undefined, encoding: Encoding): Draft<ToolSpec> {
  // In `llm.tools`, null for a part of the definition leaves it as it is.
  const sent = Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== null || !(name in definition)));
  const type = previous?.type ?? typeOf(body);
  const spec: Draft<ToolSpec> = { type, ...writeFields(fieldsByType[type], sent, previous, encoding) };
  // The API server keeps an empty object, too: then the last text can be taken out without the object, which may be another manager's.
  return previous?.messages === undefined ? spec : { messages: {}, ...spec };
}

function typeOf(body: ToolBody): ToolType {
  if ('server_url' in body) return 'MCP';
  const name = 'tool_name' in body ? body.tool_name : undefined;
  return (Object.keys(builtinFunctionNames) as BuiltinToolType[]).find((type) => builtinFunctionNames[type] === name) ?? 'Custom';
}

/** Returns whether a request may hold a secret that is stored already. */
export function toolBringsSecrets(body: ToolBody): boolean {
  return Object.values(fieldsByType).some((fields) => bringsSecrets(fields, body));
}

/** Returns the name by which the model calls a tool; undefined for an MCP server, whose tools have names of their own. */
export function functionNameOf(spec: Draft<ToolSpec>): string | undefined {
  const type = builtinTypeOf(spec);
  return type === undefined ? spec.custom?.function?.name : builtinFunctionNames[type];
}

export function toolSecretRefs(spec: Draft<ToolSpec>): readonly KeyRef[] {
  return Object.values(fieldsByType).flatMap((fields) => secretRefsOf(fields, spec));
}
