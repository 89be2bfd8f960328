import { z } from 'zod';

import { eventCatalogue, eventNames, isEventName, type EventName } from '../../events/catalogue.ts';
import { UserError } from '../../platform/user-error.ts';

/** @throws UserError that lists the names */
export function eventNameOf(given: string): EventName {
  if (isEventName(given)) return given;
  const near = eventNames.find((name) => name.toLowerCase() === given.toLowerCase());
  const names = eventNames.map((name) => `\n      ${name.padEnd(36)}${eventCatalogue[name].description}`).join('');
  throw new UserError(`there is no event ${JSON.stringify(given)}`, {
    cure: near === undefined ? `use one of${names}` : `${near} is written so; case matters`,
  });
}

const examples: { readonly [N in EventName]: z.input<(typeof eventCatalogue)[N]['payload']> } = {
  'CallHandler.CallStarted': { call_id: 'call_example', agent_id: 'agent-example', status: 'ongoing', call_type: 'web_call' },
  'CallHandler.CallEnded': {
    call_id: 'call_example',
    agent_id: 'agent-example',
    status: 'ended',
    reason: 'user_ended_call',
    call_type: 'web_call',
    duration_seconds: 61.5,
  },
  'CallHandler.CallTransferred': {
    call_id: 'call_example',
    agent_id: 'agent-example',
    status: 'ended',
    transfer_to: '+15550100',
    reason: 'call_transferred',
  },
  'CallHandler.CallHandedOver': {
    call_id: 'call_example',
    agent_id: 'agent-example',
    status: 'ongoing',
    from_agent_id: 'agent-example',
    to_agent_id: 'billing-example',
  },
  'CallHandler.RecordingReady': { call_id: 'call_example', agent_id: 'agent-example', duration_seconds: 61.5 },
  'CallAnalysis.Completed': { call_id: 'call_example', agent_id: 'agent-example', items: [{ name: 'satisfied', result: true }] },
  'KnowledgeBase.DocumentCompleted': { knowledge_base_id: 'kb-example', document_id: 'doc_example', status: 'completed', chunk_count: 3 },
  'KnowledgeBase.DocumentFailed': {
    knowledge_base_id: 'kb-example',
    document_id: 'doc_example',
    status: 'failed',
    error: { code: 'empty_document', message: 'there is no text in it' },
  },
  'Agent.RevisionServed': { agent_id: 'agent-example', revision: 'b'.repeat(64), percent: 10, previous_revision: 'a'.repeat(64) },
  'Agent.RolledBack': {
    agent_id: 'agent-example',
    revision: 'a'.repeat(64),
    rolled_back_revision: 'b'.repeat(64),
    aborted: true,
    reason: '12.5 % of its 40 calls ended as error, above 5 % (errorPercent)',
  },
  'AgentTest.Completed': {
    test_run_id: 'run_example',
    agent_id: 'agent-example',
    revision: '3f9c'.repeat(16),
    trigger: 'gate',
    verdict: 'failed',
    tests: [
      { name: 'opening-hours', required: true, verdict: 'failed' },
      { name: 'order-status', required: true, verdict: 'passed' },
    ],
    tests_total: 2,
  },
  'Webhook.SubscriptionDisabled': { subscription_id: 'whs-example', reason: 'its address failed for 5 days' },
  'Webhook.Test': { subscription_id: 'whs-example' },
};

/**
 * Returns the given payload, a JSON object of the caller's own making: receivers are tried with what their owner wants to see.
 * Without one it is the event's own example, about the given agent.
 *
 * @throws UserError for anything but a JSON object
 */
export function payloadOf(name: EventName, given: string | undefined, agent: string | undefined): object {
  if (given === undefined) {
    const example = examples[name];
    return agent !== undefined && 'agent_id' in example ? { ...example, agent_id: agent } : example;
  }
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch (error) {
    throw new UserError(`--payload is no JSON: ${(error as Error).message}`, {
      cure: `write a JSON object, e.g. --payload '{"call_id":"call_1"}'`,
    });
  }
  const read = z.record(z.string(), z.unknown()).safeParse(value);
  if (read.success && !Array.isArray(value)) return read.data;
  throw new UserError(
    `--payload is no JSON object: it is ${value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`}`,
    {
      cure: `write a JSON object, e.g. --payload '{"call_id":"call_1"}'`,
    },
  );
}
