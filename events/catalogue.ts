/** Every event that there is: its name, what it says, and when. REST lists it, subscriptions choose from it, emitters are typed by it. */
import { z } from 'zod';

import { callUsage } from './call-usage.ts';

const callId = z.string().min(1).max(128).describe('The call.');
const agentId = z.string().min(1).max(253).describe('The agent of the call.');
const callStatus = z.enum(['registered', 'ongoing', 'ended', 'error']).describe('State of the call after what happened.');
const callType = z.enum(['web_call', 'phone_call']).describe('How the call came about.');
const releasedAgentId = z.string().min(1).max(253).describe('The agent.');
const revision = z.string().length(64);
const durationSeconds = z.number().min(0).describe('In seconds.');
const knowledgeBaseId = z.string().min(1).max(253).describe('The knowledge base.');
const documentId = z.string().min(1).max(128).describe('The document.');
const testVerdict = z.enum(['passed', 'failed', 'error']).describe('`error`: it could not be evaluated.');
export const MOST_TESTS_NAMED = 100;
const subscriptionId = z.string().min(1).max(253).describe('The subscription.');

const usage = callUsage
  .optional()
  .describe('What the call has used of providers by then, and what that costs; absent where it has used nothing.');

interface EventDefinition<P extends z.ZodObject = z.ZodObject> {
  readonly description: string;
  readonly payload: P;
}

const define = <P extends z.ZodObject>(description: string, payload: P): EventDefinition<P> => ({ description, payload });

export const eventCatalogue = {
  'CallHandler.CallStarted': define(
    'The first media of a call has arrived: the agent and the other side can hear each other.',
    z.strictObject({
      call_id: callId,
      agent_id: agentId,
      status: callStatus,
      call_type: callType,
      direction: z.enum(['inbound', 'outbound']).optional().describe('Which way a phone call goes; absent for web calls.'),
    }),
  ),
  'CallHandler.CallEnded': define(
    'A call is over, in whatever way.',
    z.strictObject({
      call_id: callId,
      agent_id: agentId,
      status: callStatus,
      reason: z.string().min(1).max(128).describe('Why it ended.'),
      call_type: callType,
      duration_seconds: durationSeconds,
      usage,
    }),
  ),
  'CallHandler.CallTransferred': define(
    'A call was transferred.',
    z.strictObject({
      call_id: callId,
      agent_id: agentId,
      status: callStatus,
      transfer_to: z.string().min(1).max(512).describe('A phone number or a SIP address; `deleted` once the call is deleted.'),
      reason: z.string().max(512).describe('Why.'),
    }),
  ),
  'CallHandler.CallHandedOver': define(
    'Another agent has taken over a call.',
    z.strictObject({
      call_id: callId,
      agent_id: agentId,
      status: callStatus,
      from_agent_id: z.string().min(1).max(253).describe('The agent that handed the call over.'),
      to_agent_id: z.string().min(1).max(253).describe('The agent that has taken over.'),
    }),
  ),
  'CallHandler.RecordingReady': define(
    'The recording of a call can be downloaded.',
    z.strictObject({ call_id: callId, agent_id: agentId, duration_seconds: durationSeconds }),
  ),
  'CallAnalysis.Completed': define(
    'What the agent asks of a call afterwards has been found out and stored.',
    z.strictObject({
      call_id: callId,
      agent_id: agentId,
      items: z
        .array(
          z.strictObject({
            name: z.string().min(1).max(128),
            result: z
              .union([z.string().max(16_384), z.number(), z.boolean(), z.null()])
              .describe('Null where the call says nothing of it, and once the call is deleted.'),
          }),
        )
        .max(32),
      usage,
    }),
  ),
  'KnowledgeBase.DocumentCompleted': define(
    'A document can be found.',
    z.strictObject({
      knowledge_base_id: knowledgeBaseId,
      document_id: documentId,
      status: z.literal('completed'),
      chunk_count: z.int().min(0).describe('Chunks that can be found.'),
    }),
  ),
  'KnowledgeBase.DocumentFailed': define(
    'A document could not be taken in.',
    z.strictObject({
      knowledge_base_id: knowledgeBaseId,
      document_id: documentId,
      status: z.literal('failed'),
      error: z.strictObject({ code: z.string().min(1).max(64), message: z.string().max(4096) }).describe('What is wrong with it.'),
    }),
  ),
  'Agent.RevisionServed': define(
    'New calls of an agent start with another revision of it, all of them or, while it is a canary, a part.',
    z.strictObject({
      agent_id: releasedAgentId,
      revision: revision.describe('The revision.'),
      percent: z.int().min(1).max(100).describe('How many of 100 new calls start with it; below 100 while it is a canary.'),
      previous_revision: revision.optional().describe('What they started with before.'),
    }),
  ),
  'Agent.RolledBack': define(
    'A revision of an agent gets no new calls any more: a person rolled it back, or its canary was aborted.',
    z.strictObject({
      agent_id: releasedAgentId,
      revision: revision.describe('What new calls start with.'),
      rolled_back_revision: revision.describe('What none starts with any more.'),
      aborted: z.boolean().describe('Whether it was a canary whose figures were worse than its limits.'),
      reason: z.string().max(1000).optional().describe('Why; of a canary, with the figures.'),
      requested_by: z.string().max(200).optional().describe('The user who asked for it.'),
    }),
  ),
  'AgentTest.Completed': define(
    'A run of tests of an agent is over.',
    z.strictObject({
      test_run_id: z.string().min(1).max(128).describe('The run.'),
      agent_id: agentId,
      revision: z.string().min(1).max(64).describe('The revision of the agent that was tested.'),
      trigger: z.enum(['gate', 'request', 'schedule']).describe('`gate`: the revision was to be served.'),
      verdict: testVerdict,
      tests: z
        .array(z.strictObject({ name: z.string().min(1).max(253), required: z.boolean(), verdict: testVerdict }))
        .max(MOST_TESTS_NAMED)
        .describe(`${MOST_TESTS_NAMED} at most; those that did not pass first.`),
      tests_total: z.int().min(1).describe('How many tests the run had.'),
    }),
  ),
  'Webhook.SubscriptionDisabled': define(
    'A subscription was switched off because its address fails; sent to the other subscriptions.',
    z.strictObject({ subscription_id: subscriptionId, reason: z.string().min(1).max(256) }),
  ),
  'Webhook.Test': define(
    'A test of a subscription was requested; sent to this one alone.',
    z.strictObject({ subscription_id: subscriptionId }),
  ),
} as const satisfies Readonly<Record<string, EventDefinition>>;

export type EventName = keyof typeof eventCatalogue;

export type EventPayload<N extends EventName> = z.output<(typeof eventCatalogue)[N]['payload']>;

export const eventNames = Object.keys(eventCatalogue) as readonly EventName[];

export function isEventName(name: string): name is EventName {
  return Object.hasOwn(eventCatalogue, name);
}
