import { describe, expect, it } from 'vitest';

import { digestOfDependencies } from '../../crds/agent-dependencies.ts';
import type { Agent, Tool, WebhookSubscription } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import { storedObject } from '../../test/support/arbitrary-things.ts';
import { stateOf, stateWithReferences } from '../state/resource-state.ts';
import { agentStateOf, States, toolStateOf } from './states.ts';
import type { Views } from './views.ts';

const condition = (type: string, status: string, reason: string) => ({
  type,
  status,
  reason,
  message: `message of ${reason}`,
  lastTransitionTime: '2026-06-01T00:00:00Z',
});

/** @param options.synced reason of `Synced` */
function anAgent(options: { ready?: readonly [string, string]; synced?: string; status?: object; metadata?: object } = {}): Stored<Agent> {
  const { ready = ['True', 'Available'], synced = 'RevisionServed', status, metadata } = options;
  return {
    apiVersion: 'parley.dev/v1beta1',
    kind: 'Agent',
    metadata: { namespace: 'acme', name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '', generation: 2, ...metadata },
    spec: {},
    status: {
      observedGeneration: 2,
      conditions: [condition('Ready', ...ready), condition('Synced', 'True', synced)],
      observedDependenciesDigest: digestOfDependencies({ tools: [], knowledgeBaseUid: undefined }),
      ...status,
    },
  } as unknown as Stored<Agent>;
}

const aTool = (
  generation = 1,
  status: object = { observedGeneration: 1, conditions: [condition('Ready', 'True', 'Available')] },
): Stored<Tool> =>
  ({ ...anAgent(), kind: 'Tool', metadata: { ...anAgent().metadata, uid: 't', generation }, status }) as unknown as Stored<Tool>;

const nothing = { tools: [], knowledgeBaseUid: undefined };

describe('the state of a resource', () => {
  it('is that of its condition Ready', () => {
    expect(stateOf(anAgent())).toEqual({ ready: true, reason: 'Available', message: 'message of Available' });
    expect(stateOf(anAgent({ ready: ['False', 'KnowledgeBaseNotFound'] }))).toMatchObject({
      ready: false,
      reason: 'KnowledgeBaseNotFound',
    });
    const suspended = { observedGeneration: 2, conditions: [condition('Suspended', 'True', 'Suspended')] };
    expect(stateOf(anAgent({ status: suspended }))).toMatchObject({ ready: false, reason: 'Suspended' });
  });

  it.each([
    ['what was changed since the operator looked', { metadata: { generation: 3 } }],
    ['what the operator has never looked at', { status: { observedGeneration: undefined, conditions: undefined } }],
  ])('is not ready for %s', (_what, options) => {
    expect(stateOf(anAgent(options))).toMatchObject({ ready: false, reason: 'Reconciling' });
  });

  it('is not ready while an agent that it names is gone, and keeps the reason of what was not ready', () => {
    const isThere = (name: string): boolean => name === 'a';
    expect(stateWithReferences(anAgent(), ['a'], isThere)).toMatchObject({ ready: true });
    expect(stateWithReferences(anAgent(), ['a', 'b'], isThere)).toMatchObject({ ready: false, reason: 'Reconciling' });
    expect(stateWithReferences(anAgent({ ready: ['False', 'AgentNotFound'] }), ['b'], isThere)).toMatchObject({ reason: 'AgentNotFound' });
  });

  it('is not ready for what is being deleted', () => {
    expect(stateOf(anAgent({ metadata: { deletionTimestamp: '2026-06-01T00:00:00Z' } }))).toMatchObject({
      ready: false,
      reason: 'Deleting',
    });
  });
});

describe('the state of an agent', () => {
  it('names its revisions, where there are any', () => {
    const revisions = { servingRevision: 'one', desiredRevision: 'two' };
    expect(agentStateOf(anAgent({ status: revisions }), nothing)).toMatchObject({ serving_revision: 'one', desired_revision: 'two' });
    expect(agentStateOf(anAgent(), nothing)).not.toHaveProperty('serving_revision');
  });

  it.each([
    ['a tool that was attached', { tools: [aTool()], knowledgeBaseUid: undefined }],
    ['a knowledge base that came back', { tools: [], knowledgeBaseUid: 'kb' }],
  ])('is not ready until the operator has taken in %s', (_what, inputs) => {
    expect(agentStateOf(anAgent(), inputs)).toMatchObject({ ready: false, reason: 'Reconciling' });
    const lacking = anAgent({ ready: ['False', 'ToolNotUsable'], synced: 'RevisionReduced' });
    expect(agentStateOf(lacking, inputs).reason).toBe('Reconciling');
    expect(agentStateOf(anAgent({ status: { observedDependenciesDigest: digestOfDependencies(inputs) } }), inputs).ready).toBe(true);
  });

  it('is not ready until the operator has taken in the change of a tool', () => {
    const before = { status: { observedDependenciesDigest: digestOfDependencies({ tools: [aTool(1)], knowledgeBaseUid: undefined }) } };
    expect(agentStateOf(anAgent(before), { tools: [aTool(2)], knowledgeBaseUid: undefined }).reason).toBe('Reconciling');
  });
});

describe('the state of a tool', () => {
  const inputs = { tools: [aTool()], knowledgeBaseUid: undefined };
  const status = { observedDependenciesDigest: digestOfDependencies(inputs) };

  it('is ready where its agent offers it, also where the agent itself lacks something else', () => {
    expect(toolStateOf(aTool(), anAgent({ status }), inputs).ready).toBe(true);
    const reduced = anAgent({ status, ready: ['False', 'KnowledgeBaseNotFound'], synced: 'RevisionReduced' });
    expect(toolStateOf(aTool(), reduced, inputs).ready).toBe(true);
  });

  it('is not ready where its agent withholds it', () => {
    const withheld = anAgent({ status, ready: ['False', 'SecretNotFound'], synced: 'RevisionWithheld' });
    expect(toolStateOf(aTool(), withheld, inputs)).toMatchObject({
      ready: false,
      reason: 'AgentNotReady',
      message: expect.stringContaining('message of SecretNotFound'),
    });
    expect(toolStateOf(aTool(), anAgent(), inputs).reason).toBe('Reconciling');
  });

  it('is its own where it is not ready itself', () => {
    const unsound = aTool(1, { observedGeneration: 1, conditions: [condition('Ready', 'False', 'FunctionNameConflict')] });
    expect(toolStateOf(unsound, anAgent({ status }), inputs).reason).toBe('FunctionNameConflict');
  });
});

describe('the state of a subscription', () => {
  const states = new States({ agents: { known: () => undefined } } as unknown as Views);
  const spec = { url: 'https://hooks.example.com/', suspend: true, scope: { type: 'AgentRefs', agentRefs: [{ name: 'absent' }] } };
  const subscription = storedObject('WebhookSubscription', 'orders', spec) as Stored<WebhookSubscription>;

  it('that is suspended is ready, once the operator has seen that', () => {
    expect(states.subscription(subscription)).toMatchObject({ ready: false, reason: 'Reconciling' });
    const status = { observedGeneration: 1, conditions: [condition('Suspended', 'True', 'Suspended')] };
    const seen = { ...subscription, status } as Stored<WebhookSubscription>;
    expect(states.subscription(seen)).toEqual({ ready: true, reason: 'Available', message: 'nothing is sent while active is false' });
  });
});
