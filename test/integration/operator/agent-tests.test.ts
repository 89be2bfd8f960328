import { beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { AgentStatus, AgentTest, AgentTestStatus } from '../../../crds/index.ts';
import { requestedTest } from '../../../crds/requested-test.ts';
import type { StoredVerdict, TestRunRecord } from '../../../store/index.ts';
import { anAgent, anAgentTest, aSecret } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { parleyHere } from '../../support/parley-command.ts';
import { run } from '../../support/run.ts';
import type { RunningRole } from '../../support/running-role.ts';
import { query } from '../../support/sql.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { condition, startCluster, type AnyObject } from './harness.ts';

const cluster = suiteFixture(startCluster);
let operator: RunningRole;
let org: string;
beforeAll(async () => {
  operator = await cluster.operator();
});
beforeEach(async () => {
  org = await cluster.organization();
});

const prompt = (systemPrompt: string) => ({ llm: { provider: 'openai', model: 'm', systemPrompt } });
const statusOf = (object: AnyObject) => object.status as AgentStatus;
const agent = () => cluster.get('Agent', org, 'desk');

/** Returns the newest run of the agent that is not over. */
const liveRun = () =>
  eventually(async () => {
    const { items } = await cluster.store.testRuns.list({ org, pageSize: 10 });
    const live = items.find(({ state }) => state === 'queued' || state === 'running');
    if (live === undefined) throw new Error(`no run: ${JSON.stringify(items)}`);
    return live;
  });

/** Evaluates a run as a worker does. */
async function evaluate(live: TestRunRecord, verdict: StoredVerdict, message = `it ${verdict}`): Promise<void> {
  const { testRuns } = cluster.store;
  await testRuns.start(live);
  for (const { name } of await testRuns.pending(live)) {
    const [passed, failed] = [verdict === 'passed' ? 1 : 0, verdict === 'failed' ? 1 : 0];
    await testRuns.recordResult({ ...live, testName: name }, { verdict, passed, failed, flaky: false, message, result: { verdict } });
  }
  await testRuns.finish(live);
}

const explain = (name: string) => parleyHere(['explain', name, '-n', org], { KUBECONFIG: cluster.addresses.kubeconfig });

describe('an agent with a required test', () => {
  it('serves a new revision once it has passed, and keeps the former one where it fails', async () => {
    await cluster.apply(anAgentTest('hours', 'desk', org), anAgent('desk', org, prompt('one')));
    const waiting = await cluster.reason('Agent', org, 'desk', 'Tested', 'TestsRunning');
    expect(condition(waiting, 'Ready')).toMatchObject({ status: 'False', reason: 'RevisionAwaitsTests' });
    expect(statusOf(waiting).servingRevision).toBeUndefined();
    const first = await liveRun();
    expect(first).toMatchObject({ agentName: 'desk', revision: statusOf(waiting).desiredRevision, trigger: 'gate', state: 'queued' });
    await evaluate(first, 'passed');
    const served = await cluster.ready('Agent', org, 'desk');
    expect(condition(served, 'Tested')).toMatchObject({ status: 'True', reason: 'TestsPassed' });
    expect(statusOf(served).servingRevision).toBe(first.revision);

    await cluster.apply(anAgent('desk', org, prompt('broken')));
    const second = await liveRun();
    await evaluate(second, 'failed', 'turn 1: the answer lacks "nine"');
    const held = await cluster.reason('Agent', org, 'desk', 'Tested', 'TestsFailed');
    expect(condition(held, 'Tested')?.message).toContain('AgentTest hours failed: turn 1: the answer lacks "nine"');
    expect(condition(held, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'RevisionFailedTests',
      message: expect.stringContaining('(calls continue with the last valid revision)') as string,
    });
    expect(condition(held, 'Stalled')?.status).toBe('True');
    expect(statusOf(held)).toMatchObject({ desiredRevision: second.revision, servingRevision: first.revision });
    const explained = await explain('agent/desk');
    expect(explained.code).toBe(1);
    expect(explained.stdout).toContain('turn 1: the answer lacks "nine"');

    await cluster.apply(anAgent('desk', org, prompt('fixed')));
    await evaluate(await liveRun(), 'passed');
    const fixed = await cluster.ready('Agent', org, 'desk');
    expect(statusOf(fixed).servingRevision).toBe(statusOf(fixed).desiredRevision);

    // What passed before needs no other run.
    await cluster.apply(anAgent('desk', org, prompt('one')));
    await cluster.until('Agent', org, 'desk', ({ status }) => status?.['servingRevision'] === first.revision);
    expect(await explain('agent/desk')).toMatchObject({ code: 0 });
  });

  it('serves the one revision whose tests are skipped by the command in the message, with an Event', async () => {
    await cluster.apply(anAgentTest('hours', 'desk', org), anAgent('desk', org, prompt('one')));
    await evaluate(await liveRun(), 'failed');
    const failed = await cluster.reason('Agent', org, 'desk', 'Tested', 'TestsFailed');
    const { desiredRevision: revision = '' } = statusOf(failed);
    const command = /to serve it all the same: kubectl (patch .*) -p '([^']+)'/.exec((await explain('agent/desk')).stdout);
    expect(command?.[1]).toBe(`patch agents.parley.dev desk -n ${org} --type=merge`);
    await run(cluster.addresses.kubectl, [
      `--kubeconfig=${cluster.addresses.kubeconfig}`,
      ...command![1]!.split(' '),
      '-p',
      command![2]!.replace('<why>', 'the model of the tests is away'),
    ]);
    const served = await cluster.ready('Agent', org, 'desk');
    expect(condition(served, 'Tested')).toMatchObject({ status: 'True', reason: 'TestsSkipped' });
    expect(statusOf(served)).toMatchObject({ desiredRevision: revision, servingRevision: revision });
    const skipped = `revision ${revision.slice(0, 12)}`;
    await eventually(async () => {
      const { items } = await cluster.client<AnyObject & { reason?: string; note?: string }>('Event').listAll({ namespace: org });
      expect(items.filter(({ reason }) => reason === 'TestsSkipped').map(({ note }) => note)).toEqual([
        `the required AgentTests of ${skipped} are skipped: the model of the tests is away`,
      ]);
    });

    await cluster.apply(anAgent('desk', org, prompt('two')));
    const held = await cluster.reason('Agent', org, 'desk', 'Tested', 'TestsRunning');
    expect(condition(held, 'Tested')?.message).toContain(`spec.release.skipTests is for ${skipped}`);
    expect(statusOf(held).servingRevision).toBe(statusOf(served).servingRevision);
  });

  it('serves a rotated Secret at once', async () => {
    const llm = { provider: 'openai', model: 'm', apiKeySecretRef: { name: 'keys', key: 'apiKey' } };
    await cluster.apply(aSecret('keys', { apiKey: 'one' }, org), anAgentTest('hours', 'desk', org), anAgent('desk', org, { llm }));
    await evaluate(await liveRun(), 'passed');
    const { servingRevision } = statusOf(await cluster.ready('Agent', org, 'desk'));
    await cluster.apply(aSecret('keys', { apiKey: 'two' }, org));
    await cluster.until('Agent', org, 'desk', ({ status }) => status?.['servingRevision'] !== servingRevision);
    await cluster.ready('Agent', org, 'desk');
    const [first, ...others] = (await cluster.store.testRuns.list({ org, pageSize: 10 })).items;
    expect(others).toEqual([]);

    // This holds also when a test of the serving revision fails by now, as one may that runs by a schedule.
    const test = (await cluster.get('AgentTest', org, 'hours')) as unknown as AgentTest;
    await evaluate(
      (await cluster.store.testRuns.request({ ...first!, trigger: 'schedule', requestedBy: undefined }, [requestedTest(test)]))!,
      'failed',
    );
    const red = statusOf(await cluster.reason('Agent', org, 'desk', 'Tested', 'TestsFailed')).servingRevision;
    await cluster.apply(aSecret('keys', { apiKey: 'three' }, org));
    await cluster.until('Agent', org, 'desk', ({ status }) => status?.['servingRevision'] !== red);
    expect(condition(await cluster.ready('Agent', org, 'desk'), 'Tested')?.reason).toBe('TestsFailed');
  });

  it('stays in service when a test is added later, and says what came of it', async () => {
    await cluster.apply(anAgent('desk', org));
    const before = statusOf(await cluster.ready('Agent', org, 'desk')).servingRevision;
    await cluster.apply(anAgentTest('hours', 'desk', org));
    await evaluate(await liveRun(), 'failed');
    const red = await cluster.reason('Agent', org, 'desk', 'Tested', 'TestsFailed');
    expect(condition(red, 'Ready')?.status).toBe('True');
    expect(statusOf(red).servingRevision).toBe(before);
    await cluster.remove('AgentTest', org, 'hours');
    await cluster.until('Agent', org, 'desk', (object) => condition(object, 'Tested') === undefined);
  });

  it('waits for a test that could not be evaluated, which is tried again', async () => {
    await cluster.apply(anAgentTest('hours', 'desk', org), anAgent('desk', org));
    await evaluate(await liveRun(), 'error', 'the model does not answer');
    const finish = (at: string) =>
      query(cluster.databaseUrl, `UPDATE parley.test_results SET finished_at = now() + $2::interval WHERE org = $1`, [org, at]);
    await finish('1 hour');
    const held = await cluster.reason('Agent', org, 'desk', 'Tested', 'TestsNotRun');
    expect(condition(held, 'Tested')?.message).toMatch(/could not be evaluated: the model does not answer.*the next attempt is at 20/);
    expect(condition(held, 'Ready')).toMatchObject({ status: 'False', reason: 'RevisionAwaitsTests' });
    const explained = await explain('agent/desk');
    expect(explained.stdout).toMatch(/TestsNotRun[^]*the model does not answer[^]*Correct what the message names/);
    // The next attempt is due.
    await finish('-15 s');
    await operator.stop();
    operator = await cluster.operator();
    await evaluate(await liveRun(), 'passed');
    await cluster.ready('Agent', org, 'desk');
  });

  it('waits for one that is not accepted, or suspended, and says which', async () => {
    const wrong = { conversation: [{ type: 'User', user: 'Hi', expect: [{ type: 'Answer', answer: { matches: '(' } }] }] };
    await cluster.apply(
      anAgentTest('hours', 'desk', org, wrong),
      anAgentTest('orders', 'desk', org, { suspend: true }),
      anAgent('desk', org),
    );
    const held = await cluster.reason('Agent', org, 'desk', 'Synced', 'RevisionFailedTests');
    expect(condition(held, 'Tested')?.message).toContain('spec.conversation[0].expect[0].answer.matches is not a regular expression');
    expect(condition(held, 'Tested')?.message).toContain('AgentTest orders is required and suspended');
    expect((await cluster.store.testRuns.list({ org, pageSize: 10 })).items).toEqual([]);
  });

  it('is decided about in the same way by another operator', async () => {
    await cluster.apply(anAgentTest('hours', 'desk', org), anAgent('desk', org));
    const live = await liveRun();
    await operator.stop();
    await evaluate(live, 'failed');
    operator = await cluster.operator();
    await cluster.reason('Agent', org, 'desk', 'Tested', 'TestsFailed');
    expect(statusOf(await agent()).servingRevision).toBeUndefined();
    expect((await cluster.store.testRuns.list({ org, pageSize: 10 })).items).toHaveLength(1);
  });
});

describe('an AgentTest', () => {
  const testStatus = async () => (await cluster.get('AgentTest', org, 'hours')).status as AgentTestStatus;

  it('shows what came of it for each agent', async () => {
    await cluster.apply(anAgent('desk', org), anAgentTest('hours', 'desk', org, { agentRefs: [{ name: 'desk' }, { name: 'later' }] }));
    await cluster.reason('AgentTest', org, 'hours', 'ResolvedRefs', 'AgentNotFound');
    const live = await liveRun();
    await eventually(async () => expect((await testStatus()).lastRun).toMatchObject({ runID: live.id, agent: 'desk', verdict: 'Running' }));
    await evaluate(live, 'failed', 'turn 1: too long');
    await eventually(async () =>
      expect(await testStatus()).toMatchObject({
        testedAgents: ['desk'],
        lastRun: { runID: live.id, verdict: 'Failed' },
        results: [{ agent: 'desk', revision: live.revision, verdict: 'Failed', passed: 0, failed: 1, message: 'turn 1: too long' }],
      }),
    );
    await cluster.apply(anAgent('later', org));
    await cluster.ready('AgentTest', org, 'hours');
    const { code, stdout } = await explain('ptest/hours');
    expect(code).toBe(0);
    expect(stdout).toContain(`AgentTest ${org}/hours is ready: it is in use.\n`);
    expect(stdout).toMatch(/Last run on desk: Failed\n +turn 1: too long\n/);
  });

  it('says what is wrong with it', async () => {
    await cluster.apply(
      anAgent('desk', org),
      anAgentTest('hours', 'desk', org, { judge: { provider: 'openai', model: 'm', baseURL: 'https://[' } }),
    );
    const wrong = await cluster.reason('AgentTest', org, 'hours', 'Accepted', 'InvalidSpec');
    expect(condition(wrong, 'Ready')).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
    const judge = { provider: 'openai', model: 'm', apiKeySecretRef: { name: 'keys', key: 'apiKey' } };
    await cluster.apply(anAgentTest('hours', 'desk', org, { judge }));
    await cluster.reason('AgentTest', org, 'hours', 'ResolvedRefs', 'SecretNotFound');
    await cluster.apply(aSecret('keys', { apiKey: 'k' }, org));
    await cluster.ready('AgentTest', org, 'hours');
  });
});
