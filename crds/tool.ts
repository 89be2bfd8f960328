import { z } from 'zod';

import { ageColumn, defineKind, readyColumn, reasonColumn, type Resource } from './kind.ts';
import { cel, duration, exactlyOneOf, freeObject, freeValue, header, immutableChoice, keyRef, list, localRef, mapOf, name, text } from './schema.ts';
import { commonStatus } from './status.ts';

/** The variants of a Tool, by the name of their field. */
export const toolVariants = ['custom', 'sendEmail', 'transferCall', 'bookCalendar', 'checkCalendarAvailability'] as const;
export type ToolVariant = (typeof toolVariants)[number];

const params = z.record(z.string(), z.object({ description: text(1500).optional(), value: freeValue().optional() })).meta({ maxProperties: 64 });

const custom = z.object({
  function: z.object({
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/).max(64),
    description: text(4096).optional(),
    parameters: freeObject(64).optional().describe('JSON Schema of the arguments, at most 32 KiB.'),
  }),
  http: z.object({
    url: text(2048).regex(/^https?:\/\/.+/).describe('May hold {name} path parameters and {{name}} placeholders.'),
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
    headers: mapOf(header(), ['name'], 32).optional(),
    timeout: duration('1s', '120s').default('20s'),
    fixedParams: params.optional().describe('Win over what the model says.'),
    runtimeParams: params.optional().describe("Filled from the call's dynamic data."),
  }),
});

const calendar = () =>
  z.object({
    eventTypeID: z.union([z.int(), z.string()]).meta({ 'x-kubernetes-int-or-string': true }),
    apiKeySecretRef: keyRef(),
    timeZone: text(64).default('UTC').describe('IANA name.'),
  });

const spec = cel(
  z.object({
    suspend: z.boolean().optional().describe('Stop reconciling; deletion still works.'),
    agentRefs: mapOf(localRef(), ['name'], 256).optional().describe('The agents that may use this tool.'),
    description: text(1500).optional(),
    messages: z
      .object({ start: text(1000).optional(), delayed: text(1000).optional(), complete: text(1000).optional(), failed: text(1000).optional() })
      .optional()
      .describe('What the agent says while the tool runs.'),
    custom: custom.optional(),
    sendEmail: z.object({ from: name(320), passwordSecretRef: keyRef() }).optional(),
    transferCall: z
      .object({
        to: text(512).regex(/^(\+[1-9][0-9]{1,14}|sips?:.+)$/).describe('E.164 number or sip: URI.'),
        mode: z.enum(['Cold', 'Warm']).default('Cold'),
        showCallerNumber: z.boolean().default(false),
      })
      .optional(),
    bookCalendar: calendar().optional(),
    checkCalendarAvailability: calendar().optional(),
  }),
  exactlyOneOf(toolVariants),
  immutableChoice(toolVariants, 'the variant of a tool'),
);

const status = z.object({
  ...commonStatus,
  type: text(64).optional().describe('The variant: custom, sendEmail, …'),
  functionName: text(64).optional().describe('The name by which the model calls this tool.'),
  attachedTo: list(text(253), 256).optional().describe('Agents that offer this tool, sorted.'),
});

/** Function names of the built-in tools, as the model sees them; a custom tool of the same agent can't take them. */
export const builtinFunctionNames = {
  sendEmail: 'send_email',
  transferCall: 'transfer_call',
  bookCalendar: 'book_calendar',
  checkCalendarAvailability: 'check_calendar_availability',
} as const satisfies Record<Exclude<ToolVariant, 'custom'>, string>;

export const toolKind = defineKind('Tool', 'tools', {
  shortNames: ['ptool'],
  description: 'Something an agent can do in a call: an HTTP API of yours, or a built-in.',
  printerColumns: [
    readyColumn,
    { name: 'Type', type: 'string', jsonPath: '.status.type' },
    { name: 'Function', type: 'string', jsonPath: '.status.functionName' },
    { name: 'Agents', type: 'string', jsonPath: '.status.attachedTo' },
    reasonColumn,
    ageColumn,
  ],
  spec,
  status,
});

export type ToolSpec = z.output<typeof spec>;
export type ToolStatus = z.output<typeof status>;
export type Tool = Resource<ToolSpec, ToolStatus>;
