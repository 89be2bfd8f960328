/** States the models of api/validation/testdata in zod, and what the facade's validator answers for them. */
import { z } from 'zod';

import { knowledgeBaseCreate, knowledgeBaseUpdate } from '../../api/knowledge-bases/fields.ts';
import { searchRequest, websiteSubmission } from '../../api/knowledge-bases/schema.ts';
import { phoneNumberCreate, phoneNumberUpdates } from '../../api/phone-numbers/fields.ts';
import { builtinTool, builtinToolUpdates, customTool, customToolUpdate } from '../../api/tools/fields.ts';
import type { ValidationIssue } from '../../api/validation/issue.ts';
import { validateRequest } from '../../api/validation/request.ts';
import { forbidding } from '../../api/validation/validate.ts';

/** A request, and FastAPI's answer: `detail` where it refuses, otherwise what it read. */
export interface Recorded {
  readonly schema: keyof typeof schemas;
  readonly body: string;
  readonly query?: string;
  readonly detail?: readonly ValidationIssue[];
  readonly value?: unknown;
}

const child = z.object({ name: z.string().min(1).max(3), count: z.int() });
const model = z.object({
  text: z.string().nullish(),
  short: z.string().min(2).max(4).nullish(),
  one: z.string().min(1).max(1).nullish(),
  url: z
    .string()
    .regex(/^https?:\/\/.+/)
    .nullish(),
  integer: z.int().min(0).max(5).nullish(),
  number: z.number().min(0).max(1.5).nullish(),
  above: z.number().gt(0.5).lt(2).nullish(),
  flag: z.boolean().nullish(),
  sound: z.enum(['office', 'cafe', 'none']).nullish(),
  single: z.literal('simple').nullish(),
  names: z.array(z.string().max(3)).max(2).nullish(),
  some: z.array(z.int()).min(1).nullish(),
  headers: z.record(z.string(), z.string()).meta({ maxProperties: 2 }).nullish(),
  keys: z.record(z.string().regex(/^[a-z]+$/), z.string()).nullish(),
  free: z.record(z.string(), z.unknown()).nullish(),
  child: child.nullish(),
  children: z.array(child).nullish(),
  either: z.union([z.int(), z.string()]).nullish(),
});
const required = z.object({ a: z.string(), b: z.int(), c: child });
const mail = z.object({ tool_name: z.literal('mail'), sender: z.string().regex(/^\S+@\S+$/), password: z.string() });
const calendar = z.object({
  tool_name: z.literal('calendar'),
  event: z.union([z.int().min(1).max(9), z.string().min(1).max(3)]),
  zone: z.string().nullish(),
});
const schemas = {
  model,
  required,
  json: required,
  everything: required,
  tagged: z.discriminatedUnion('tool_name', [mail, calendar]),
  strict: forbidding(z.object({ tool_name: z.literal('mail'), sender: z.string().nullish() }), ['tool_name', 'event', 'zone']),
  // These models are the routes' own: route_models.py.
  customTool,
  customToolUpdate,
  builtinTool,
  sendEmailUpdate: builtinToolUpdates.SendEmail,
  transferCallUpdate: builtinToolUpdates.TransferCall,
  bookCalendarUpdate: builtinToolUpdates.BookCalendar,
  checkCalendarAvailabilityUpdate: builtinToolUpdates.CheckCalendarAvailability,
  phoneNumber: phoneNumberCreate,
  sipUpdate: phoneNumberUpdates.sip,
  nativeUpdate: phoneNumberUpdates.native,
  carrierUpdate: phoneNumberUpdates.carrier,
  knowledgeBase: knowledgeBaseCreate,
  knowledgeBaseUpdate,
  website: websiteSubmission,
  search: searchRequest,
} as const satisfies Record<string, z.ZodType>;
const query = z.object({ page_size: z.int().min(1).max(100).default(20), dry_run: z.boolean().default(false) });

/** Answers a request with our validator. */
export function ask({ schema, body, query: search }: Recorded): Pick<Recorded, 'detail' | 'value'> {
  const result = validateRequest(
    { body: schemas[schema], ...(schema === 'everything' && { query }) },
    { body: new TextEncoder().encode(body), query: Object.fromEntries(new URLSearchParams(search)) },
  );
  return result.ok ? { value: result.value.body } : { detail: result.issues };
}
