import { describe, expect, it } from 'vitest';

import type { Agent, Tool } from '../../crds/index.ts';
import { storedObject } from '../../test/support/arbitrary-things.ts';
import { memorySnapshot } from '../references/memory-snapshot.ts';
import { findCondition } from '../../crds/kind.ts';
import { planTool } from './plan.ts';

const now = Date.parse('2026-06-01T12:00:00Z');
const minimal = { llm: { model: 'm' }, speechToText: { provider: 'deepgram' }, textToSpeech: { provider: 'elevenlabs' } };
const agentNamed = (name: string, metadata: Readonly<Record<string, unknown>> = {}) =>
  storedObject('Agent', name, minimal, { metadata }) as Agent;
const custom = { type: 'Custom', custom: { function: { name: 'find' }, http: { url: 'https://api.example.com/' } } };
const email = { type: 'SendEmail', sendEmail: { from: 'desk@example.com', passwordSecretRef: { name: 'mail', key: 'k' } } };
const toolFor = (name: string, agents: readonly string[], { spec = custom, age = 0 }: { spec?: object; age?: number } = {}): Tool =>
  storedObject(
    'Tool',
    name,
    { ...spec, agentRefs: agents.map((agent) => ({ name: agent })) },
    { creationTimestamp: new Date(now - age * 60_000).toISOString() },
  ) as Tool;

const agents = [
  agentNamed('desk'),
  agentNamed('night'),
  agentNamed('office'),
  agentNamed('former', { deletionTimestamp: '2026-06-01T11:00:00Z' }),
];

function plan(tool: Tool, ...others: readonly Tool[]) {
  const secrets = [{ namespace: 'acme', name: 'mail', uid: 's', resourceVersion: '1', keys: ['k'] }];
  const { status } = planTool(tool, memorySnapshot({ organizations: ['acme'], agents, tools: [tool, ...others], secrets }), now);
  return { ...status, accepted: findCondition({ status }, 'Accepted'), ready: findCondition({ status }, 'Ready') };
}

describe('the agents of a tool', () => {
  it('say each for itself whether they offer it, and why not', () => {
    const {
      agents: said,
      attachedAgents,
      accepted,
    } = plan(toolFor('younger', ['night', 'desk', 'gone', 'former']), toolFor('older', ['desk', 'office'], { age: 1 }));
    expect(said).toEqual([
      {
        name: 'desk',
        attached: false,
        reason: 'FunctionNameConflict',
        message: 'already has a function "find" from the older Tool acme/older',
      },
      { name: 'former', attached: false, reason: 'AgentNotFound', message: 'is being deleted' },
      { name: 'gone', attached: false, reason: 'AgentNotFound', message: 'does not exist' },
      { name: 'night', attached: true },
    ]);
    expect(attachedAgents).toBe(1);
    expect(accepted).toMatchObject({
      status: 'False',
      reason: 'FunctionNameConflict',
      message:
        'offered by 1 of 4 agents; Agent acme/desk already has a function "find" from the older Tool acme/older; rename the function of this one (spec.custom.function.name) or detach one of the two',
    });
  });

  it('are summed up where several have the function from another tool', () => {
    const { accepted } = plan(
      toolFor('younger', ['night', 'desk', 'office'], { spec: email }),
      toolFor('older', ['desk'], { spec: email, age: 1 }),
      toolFor('oldest', ['office'], { spec: email, age: 2 }),
    );
    expect(accepted?.message).toBe(
      'offered by 1 of 3 agents; 2 agents already have its function from older Tools (status.agents); detach one of the two (spec.agentRefs)',
    );
  });

  it('all offer it where no older tool has its function', () => {
    const { agents: said, ready } = plan(
      toolFor('older', ['desk', 'night'], { age: 1 }),
      toolFor('younger', ['desk', 'night']),
      toolFor('oldest', ['desk', 'night'], { spec: email, age: 2 }),
    );
    expect(said).toEqual([
      { name: 'desk', attached: true },
      { name: 'night', attached: true },
    ]);
    expect(ready).toMatchObject({ status: 'True', message: 'offered by 2 agents' });
  });

  it('are none where it names none', () => {
    expect(plan(toolFor('lonely', []))).toMatchObject({
      agents: [],
      attachedAgents: 0,
      ready: { status: 'True', message: 'usable; no agent is named in spec.agentRefs yet' },
    });
  });
});
