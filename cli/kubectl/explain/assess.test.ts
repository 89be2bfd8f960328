import { expect, it } from 'vitest';

import type { Condition } from '../../../kube/types.ts';
import { memorySnapshot } from '../../../operator/references/memory-snapshot.ts';
import { storedObject } from '../../../test/support/arbitrary-things.ts';
import { assess } from './assess.ts';

const condition = (type: string, status: Condition['status'], reason: string, message: string): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

it.each([
  ['TestsFailed', 'RevisionFailedTests', 'RevisionFailedTests', /Correct the agent or the AgentTest; .*spec\.release\.skipTests/],
  ['TestsNotRun', 'RevisionAwaitsTests', 'TestsNotRun', /Correct what the message names/],
  ['TestsRunning', 'RevisionAwaitsTests', 'TestsRunning', /Wait/],
])('says of an agent held back by %s which test it is, and what to do', (tested, synced, named, cure) => {
  const message = 'AgentTest hours: the answer lacks "nine"';
  const spec = { llm: { model: 'm' }, speechToText: { provider: 'openai' }, textToSpeech: { provider: 'openai' } };
  const conditions = [
    condition('Ready', 'False', synced, message),
    condition('Tested', tested === 'TestsFailed' ? 'False' : 'Unknown', tested, message),
    condition('Synced', 'False', synced, message),
  ];
  const agent = storedObject('Agent', 'desk', spec);
  const object = { ...agent, status: { observedGeneration: agent.metadata.generation, conditions } };
  const snapshot = memorySnapshot({ organizations: ['acme'], agents: [object as never] });
  expect(assess({ object: object as never, snapshot, notes: [], operator: { state: 'leading' } }, 0)).toMatchObject({
    ready: false,
    summary: 'its required tests have not passed',
    problems: [{ reason: named, message, cure: expect.stringMatching(cure) as string }],
  });
});

it.each([
  ['True', 'TrunksReady', true, 'it is in use', []],
  ['False', 'TrunksWithheld', true, 'it is in use', []],
  ['Unknown', 'MediaServerNotConfigured', true, 'it is in use', ['MediaServerNotConfigured']],
  ['False', 'MediaServerUnavailable', false, 'the operator is held up', []],
] as const)('takes from the operator what the media server has of a number: %s %s', (status, reason, ready, summary, remarks) => {
  const number = storedObject('PhoneNumber', 'desk', { number: '+15550100', type: 'SIP', sip: {} });
  const conditions = [
    condition('Ready', ready ? 'True' : 'False', ready ? 'Available' : reason, 'm'),
    condition('Synced', status, reason, 'in its words'),
  ];
  const object = { ...number, status: { observedGeneration: number.metadata.generation, conditions } } as never;
  const snapshot = memorySnapshot({ organizations: ['acme'], phoneNumbers: [object] });
  expect(assess({ object, snapshot, notes: [], operator: { state: 'leading' } }, 0)).toMatchObject({
    ready,
    summary,
    problems: ready ? [] : [{ reason, message: 'in its words' }],
    remarks: remarks.map((remark) => ({ reason: remark, message: 'in its words' })),
  });
});

it('says that a release was taken back, whatever else is wrong', () => {
  const spec = {
    llm: { model: 'm', apiKeySecretRef: { name: 'gone', key: 'k' } },
    speechToText: { provider: 'openai' },
    textToSpeech: { provider: 'openai' },
  };
  const agent = storedObject('Agent', 'desk', spec);
  const conditions = [condition('Progressing', 'False', 'CanaryAborted', 'too many errors')];
  const object = { ...agent, status: { observedGeneration: agent.metadata.generation, conditions } } as never;
  const snapshot = memorySnapshot({ organizations: ['acme'], agents: [object] });
  expect(assess({ object, snapshot, notes: [], operator: { state: 'leading' } }, 0)).toMatchObject({
    problems: [{ reason: 'SecretNotFound' }],
    remarks: [{ condition: 'Progressing', reason: 'CanaryAborted', message: 'too many errors' }],
  });
});

it('says that no operator answers a deletion, once one would have', () => {
  const deletedAt = Date.parse('2026-06-01T12:00:00Z');
  const spec = { llm: { model: 'm' }, speechToText: { provider: 'openai' }, textToSpeech: { provider: 'openai' } };
  const agent = storedObject('Agent', 'desk', spec);
  const object = { ...agent, metadata: { ...agent.metadata, deletionTimestamp: '2026-06-01T12:00:00Z' } } as never;
  const explained = (afterMs: number) =>
    assess({ object, snapshot: memorySnapshot({ organizations: ['acme'] }), notes: [], operator: { state: 'none' } }, deletedAt + afterMs);
  expect(explained(1_000).problems).toEqual([]);
  expect(explained(61_000)).toMatchObject({
    summary: 'it is being deleted',
    problems: [
      { message: expect.stringContaining('no operator answers: no operator is running'), cure: expect.stringContaining('kubectl patch') },
    ],
  });
});

it('shows of a test that is ready what its last runs complained of', () => {
  const test = storedObject('AgentTest', 'hours', {
    agentRefs: [{ name: 'desk' }],
    type: 'Conversation',
    conversation: [{ type: 'User', user: 'Hi', expect: [{ type: 'Answer', answer: { contains: ['nine'] } }] }],
  });
  const result = (agent: string, verdict: string, message?: string) => ({
    agent,
    revision: 'a'.repeat(64),
    verdict,
    runID: 'run',
    message,
  });
  const object = {
    ...test,
    status: {
      observedGeneration: test.metadata.generation,
      conditions: [condition('Ready', 'True', 'Available', 'tests 3 agents')],
      results: [result('desk', 'Failed', 'the answer lacks "nine"'), result('porter', 'Error', 'no key'), result('night', 'Passed')],
    },
  } as never;
  const spec = { llm: { model: 'm' }, speechToText: { provider: 'openai' }, textToSpeech: { provider: 'openai' } };
  const snapshot = memorySnapshot({ organizations: ['acme'], agents: [storedObject('Agent', 'desk', spec) as never] });
  expect(assess({ object, snapshot, notes: [], operator: { state: 'leading' } }, 0)).toMatchObject({
    ready: true,
    remarks: [
      { condition: 'Last run on desk', reason: 'Failed', message: 'the answer lacks "nine"' },
      { condition: 'Last run on porter', reason: 'Error', message: 'no key' },
    ],
  });
});
