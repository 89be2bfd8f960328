import { z } from 'zod';

import { unstorable } from '../../crds/unstorable.ts';
import { callStatuses } from '../../store/index.ts';
import { pageQuery } from '../pagination/keyset.ts';
import { isObjectName } from '../resources/names.ts';
import { instantOf } from '../validation/instant.ts';
import { issues } from '../validation/issue.ts';
import { withRule } from '../validation/validate.ts';
import { LONGEST_LINK_MINUTES } from './signed-links.ts';

export const MOST_METADATA_KEYS = 50;
export const MAX_CALL_METADATA_BYTES = 16 * 1024;
export const MAX_DYNAMIC_DATA_BYTES = 32 * 1024;

/** Makes a schema for an object of any fields, kept as it is, up to a size. */
function freeObject(what: string, maxBytes: number, meta: Readonly<Record<string, unknown>> = {}) {
  return withRule(z.record(z.string(), z.unknown()).meta(meta), (value, loc) => {
    const [problem] = unstorable(value, loc.slice(1).join('.'));
    if (problem !== undefined) return [issues.value(loc, `${problem.path} ${problem.message}`)];
    const bytes = Buffer.byteLength(JSON.stringify(value));
    return bytes > maxBytes ? [issues.value(loc, `${what} may have ${maxBytes / 1024} KiB, and this has ${bytes} bytes`)] : [];
  });
}

const metadata = freeObject('metadata', MAX_CALL_METADATA_BYTES, {
  id: 'CallMetadataCreate',
  maxProperties: MOST_METADATA_KEYS,
  description: 'Whatever you want to find again with the call: 50 keys and 16 KiB at most.',
});
const dynamicData = freeObject('native_llm_dynamic_data', MAX_DYNAMIC_DATA_BYTES, {
  id: 'DynamicData',
  description:
    'Values for the `{{name}}` placeholders of the agent, 32 KiB at most. The names in its `required_dynamic_data` that it does not look up itself have to be there.',
});
export const callStatus = z.enum(callStatuses).meta({ id: 'CallStatus' });
const agentId = z.string().describe('The `ai_agent_id` of the agent that handles the call.');

export const webCallCreate = z.object({
  ai_agent_id: agentId,
  override_ai_agent_id: z.string().nullish().describe('An agent that talks in place of it.'),
  metadata: metadata.nullish(),
  native_llm_dynamic_data: dynamicData.nullish(),
});

const e164 = z.string().regex(/^\+[1-9]\d{1,14}$/);

export const outboundCallCreate = z.object({
  from_number: e164.describe('A phone number of the organisation, with an `outbound_agent_id`.'),
  to_number: e164.describe('Who is called, with the country code: `+15550199`.'),
  override_ai_agent_id: z.string().nullish().describe('An agent that talks in place of the outbound agent.'),
  metadata: metadata.nullish(),
  native_llm_dynamic_data: dynamicData.nullish(),
});

export type OutboundCallCreate = z.output<typeof outboundCallCreate>;

export type WebCallCreate = z.output<typeof webCallCreate>;

export const time = (text: string) =>
  withRule(z.string().meta({ format: 'date-time' }), (value, loc) =>
    instantOf(value) === undefined ? [issues.value(loc, 'use a date and time of ISO 8601, such as 2026-11-21T09:00:00Z')] : [],
  ).describe(text);

/** Returns the ids that can be names of agents; no call has any other. */
export function agentNamesIn(ids: readonly string[] | undefined): readonly string[] | undefined {
  return ids?.flatMap((list) => list.split(',')).filter(isObjectName);
}

export const callQuery = z.object({
  ai_agent_ids: z
    .array(z.string())
    .max(100)
    .optional()
    .describe(
      'Only calls of these agents, asked for or talking in the stead of another. To be given several times, or with commas between them.',
    ),
  start_time_after: time('Only calls that started then or later. A call that never started counts from when it was made.').optional(),
  start_time_before: time('Only calls that started then or earlier.').optional(),
  end_time_after: time('Only calls that ended then or later.').optional(),
  end_time_before: time('Only calls that ended then or earlier.').optional(),
  call_status: callStatus.optional().describe('Only calls in this state.'),
  sort_direction: z.enum(['asc', 'desc']).default('desc').describe('Order by the time when they were made; `desc` is newest first.'),
  page_size: z.int().min(1).max(1000).default(100).describe('Calls on a page.'),
  page_token: pageQuery.shape.page_token,
});

export type CallQuery = z.output<typeof callQuery>;

export const recordingRequest = z.object({
  call_id: z.string().describe('The `_id` of the call.'),
  expiration_url_in_minutes: z.int().min(1).max(LONGEST_LINK_MINUTES).default(10).describe('How long a signed address is good.'),
});
