import { describe, expect, it } from 'vitest';

import type { Agent, AgentTest } from '../../crds/index.ts';
import type { AgentResult } from '../../store/index.ts';
import { storedObject } from '../../test/support/arbitrary-things.ts';
import { memorySnapshot } from '../references/memory-snapshot.ts';
import { findCondition } from '../../crds/kind.ts';
import { planAgentTest, type ResultsView } from './plan.ts';

const agent = storedObject('Agent', 'desk', {
  llm: { model: 'm' },
  speechToText: { provider: 'deepgram' },
  textToSpeech: { provider: 'elevenlabs' },
}) as Agent;
const snapshot = memorySnapshot({ organizations: ['acme'], agents: [agent] });
const testOf = (names: readonly string[], fields: object = {}) =>
  storedObject('AgentTest', 'hours', {
    agentRefs: names.map((name) => ({ name })),
    type: 'Conversation',
    conversation: [{ type: 'User', user: 'Hi' }],
    ...fields,
  }) as AgentTest;

const result = (agentName: string, runId: string, verdict: AgentResult['verdict']): AgentResult => ({
  agentName,
  runId,
  verdict,
  revision: 'r',
  runState: verdict === null ? 'running' : 'finished',
  createdAt: new Date('2026-06-01T11:59:00.500Z'),
  testName: 'hours',
  digest: 'd',
  required: true,
  mode: 'text',
  passed: verdict === null ? null : 1,
  failed: verdict === null ? null : 2,
  flaky: verdict === null ? null : false,
  message: verdict === 'failed' ? 'turn 1' : null,
  finishedAt: verdict === null ? null : new Date('2026-06-01T12:00:00.500Z'),
});
const known = (...results: readonly AgentResult[]): ResultsView => ({ state: 'known', results });
const plan = (test: AgentTest, view: ResultsView = known()) => planAgentTest(test, snapshot, view, 0);

describe('the status of an AgentTest', () => {
  it('has the newest result of each agent that it names, and the newest run', () => {
    const { status } = plan(
      testOf(['desk', 'night']),
      known(result('desk', 'run_1', 'failed'), result('night', 'run_2', null), result('former', 'run_3', 'passed')),
    );
    expect(status?.lastRun).toEqual({ runID: 'run_2', revision: 'r', agent: 'night', verdict: 'Running' });
    expect(status?.results).toEqual([
      {
        agent: 'desk',
        revision: 'r',
        verdict: 'Failed',
        runID: 'run_1',
        passed: 1,
        failed: 2,
        flaky: false,
        message: 'turn 1',
        finishedAt: '2026-06-01T12:00:00Z',
      },
      { agent: 'night', revision: 'r', verdict: 'Running', runID: 'run_2' },
    ]);
    expect(status?.testedAgents).toEqual(['desk']);
  });

  it('keeps its results while Postgres is away', () => {
    const { status } = plan(testOf(['desk']), known(result('desk', 'run_1', 'passed')));
    const away: ResultsView = { state: 'unavailable', why: 'Postgres does not answer' };
    expect(plan({ ...testOf(['desk']), status: status! }, away).status).toEqual(status);
  });

  it('is Ready where the test can run, whatever came of it', () => {
    expect(findCondition(plan(testOf(['desk']), known(result('desk', 'run_1', 'failed'))), 'Ready')).toMatchObject({
      status: 'True',
      message: 'tests 1 agent',
    });
    expect(findCondition(plan(testOf(['absent'])), 'Ready')).toMatchObject({ status: 'False', reason: 'AgentNotFound' });
    expect(findCondition(plan(testOf(['desk'], { schedule: '99 * * * *' })), 'Accepted')?.message).toContain('spec.schedule is not a cron');
    expect(findCondition(plan(testOf(['desk'], { atEnd: [{ type: 'Ends', ends: 'user_end_call' }] })), 'Accepted')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('did you mean user_ended_call?') as string,
    });
  });
});
