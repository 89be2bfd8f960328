/** Runs of agent tests in the cluster have the right results, and end whatever dies. */
import { Context } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { expect, it } from 'vitest';

import { runAgentTests } from '../../../workflows/agent-tests/workflow.ts';
import { testRunWorkflowId, type AgentTestActivities } from '../../../workflows/agent-tests/types.ts';
import { eventually } from '../../support/eventually.ts';
import { undescribedMetrics } from '../../support/metrics-reference.ts';
import { ownTemporal } from '../../support/own-temporal.ts';
import { spawnRole } from '../../support/role-process.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { freshStore, session } from '../store/support.ts';
import { unique, whileWorking } from '../workflows/support.ts';
import { customTool, org, over, requestRun, scriptedProvider, startWorker, storeRevision, workerEnv } from './runs-support.ts';

async function setUp() {
  const { url, store } = await freshStore();
  await store.organizations.create({ name: org });
  return { url, store, provider: await scriptedProvider() };
}

const greets = {
  type: 'Conversation',
  conversation: [{ type: 'User', user: 'Hello?', expect: [{ type: 'Answer', answer: { contains: ['good day'] } }] }],
};

/** Holds answers until they are let go. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, release: resolve };
}

it('hands over to agents as they serve, and not to one that serves nothing', async () => {
  const { url, store, provider } = await setUp();
  provider.chat(({ system, toolResults: [result] }) => {
    if (system.includes('You are billing')) return 'This is billing.';
    return result === undefined ? { toolCalls: [{ name: 'hand_over_to_billing' }] } : `Sorry: ${result.content}`;
  });
  const worker = await startWorker(workerEnv(url, await temporalAddress()));
  const handoffs = [{ agentRef: { name: 'billing' }, when: 'it is about an invoice' }];
  const agent = await storeRevision(store, provider, { spec: { handoffs } });
  const expecting = (...checks: readonly object[]) => ({
    type: 'Conversation',
    conversation: [{ type: 'User', user: 'An invoice!', expect: checks }],
  });
  const before = await over(store, await requestRun(store, agent, { before: expecting({ type: 'Handoff', handoff: 'billing' }) }));
  expect(before.results).toMatchObject([{ verdict: 'error', message: expect.stringContaining('never hands over to "billing"') }]);
  const { revision } = await storeRevision(store, provider, { name: 'billing' });
  await store.agentReleases.serve({ org, agentName: 'billing', revision, configHash: revision });
  const handsOver = expecting({ type: 'Handoff', handoff: 'billing' }, { type: 'Answer', answer: { contains: ['This is billing'] } });
  const after = await over(store, await requestRun(store, agent, { after: handsOver }));
  expect(after.results).toMatchObject([{ verdict: 'passed', message: null }]);
  await worker.stop();
});

it('stores verdicts, transcripts and the first failure of each test, with one event', async () => {
  const { url, store, provider } = await setUp();
  provider.chat(({ lastUser, toolResults }) => {
    if (toolResults.length > 0) return `It has ${String(toolResults[0]?.content)}.`;
    return lastUser.includes('order') ? { toolCalls: [{ name: 'look_up', arguments: { order_id: '42' } }] } : 'Good day!';
  });
  const worker = await startWorker(workerEnv(url, await temporalAddress()));
  const agent = await storeRevision(store, provider, { tools: [customTool('look_up')] });
  const order = {
    required: true,
    tools: [{ name: 'look_up', type: 'Returns', when: { order_id: '42' }, returns: { state: 'shipped' } }],
    type: 'Conversation',
    conversation: [
      {
        type: 'User',
        user: 'Where is my order?',
        expect: [
          { type: 'Tool', tool: { name: 'look_up', arguments: { order_id: '42' } } },
          { type: 'Answer', answer: { contains: ['shipped'] } },
        ],
      },
    ],
  };
  const run = await requestRun(store, agent, {
    greets,
    order,
    refuses: {
      type: 'Conversation',
      conversation: [{ type: 'User', user: 'Hello?', expect: [{ type: 'Answer', answer: { contains: ['closed'] } }] }],
    },
    unknown: {
      tools: [{ name: 'look_up_order', type: 'Returns', returns: 1 }],
      type: 'Conversation',
      conversation: [{ type: 'User', user: 'Hello?', expect: [{ type: 'Answer', answer: { maxWords: 100 } }] }],
    },
    audio: { mode: 'Audio', ...greets },
  });
  const { state, verdict, results } = await over(store, run);
  expect([state, verdict]).toEqual(['finished', 'failed']);
  const of = Object.fromEntries(results.map((result) => [result.testName, result]));
  expect(of['greets']).toMatchObject({ verdict: 'passed', passed: 1, failed: 0, flaky: false, message: null });
  expect(of['order']).toMatchObject({ verdict: 'passed', required: true });
  expect(of['order']?.result).toMatchObject({
    attempts: [{ transcript: [{ role: 'user' }, { role: 'tool', tool: { result: { state: 'shipped' } } }, { role: 'agent' }] }],
  });
  expect(of['refuses']).toMatchObject({
    verdict: 'failed',
    message: expect.stringMatching(/^spec\.conversation\[0\]\.expect\[0\]\.answer.*closed/),
  });
  expect(of['unknown']).toMatchObject({
    verdict: 'error',
    message: expect.stringMatching(/spec\.tools\[0\]\.name.*"look_up_order".*look_up/),
  });
  expect(of['audio']).toMatchObject({ verdict: 'error', message: expect.stringContaining('no media server') });

  const { rows } = await (
    await session(url)
  ).query<{ body: Buffer }>(
    `SELECT b.body FROM parley.outbox o JOIN parley.events e ON e.id = o.event_id JOIN parley.event_bodies b ON b.id = e.id WHERE e.name = 'AgentTest.Completed'`,
  );
  expect(rows.map(({ body }) => (JSON.parse(body.toString()) as { payload: unknown }).payload)).toEqual([
    {
      test_run_id: run.id,
      agent_id: 'receptionist',
      revision: agent.revision,
      trigger: 'request',
      verdict: 'failed',
      tests: [
        { name: 'audio', required: false, verdict: 'error' },
        { name: 'refuses', required: false, verdict: 'failed' },
        { name: 'unknown', required: false, verdict: 'error' },
        { name: 'greets', required: false, verdict: 'passed' },
        { name: 'order', required: true, verdict: 'passed' },
      ],
      tests_total: 5,
    },
  ]);
  const metrics = await worker.registry.metrics();
  expect(metrics).toContain('parley_agent_test_runs_total{trigger="request",verdict="failed"');
  expect(metrics).toMatch(/parley_agent_tests_total\{mode="text",verdict="passed"[^}]*\} 2/);
  expect(await undescribedMetrics('Worker', worker.registry)).toEqual([]);

  const connection = await Connection.connect({ address: await temporalAddress() });
  try {
    const workflowId = testRunWorkflowId({ ...run, id: run.id });
    expect(workflowId).toBe(`test/receptionist/${agent.revision}/${run.id}`);
    expect(await new Client({ connection }).workflow.getHandle(workflowId).result()).toBe('finished');
  } finally {
    await connection.close();
  }
});

it('runs no more tests at a time than it may, and all of them', async () => {
  const { url, store, provider } = await setUp();
  let most = 0;
  const running = new Map<string, ReturnType<typeof held>>();
  const answered = new Set<string>();
  // Runs are told apart by what is asked, because a model that is late is asked again. Each waits until there are as many as there may be,
  // so that one more would meet them.
  provider.chat(async ({ lastUser }) => {
    if (answered.has(lastUser)) return 'Good day!';
    const asked = running.get(lastUser) ?? held();
    running.set(lastUser, asked);
    most = Math.max(most, running.size);
    // The last ones wait for nobody.
    for (const [first, { release }] of running) {
      if (running.size < Math.min(3, 30 - answered.size)) break;
      running.delete(first);
      answered.add(first);
      release();
    }
    await asked.promise;
    return 'Good day!';
  });
  await startWorker(workerEnv(url, await temporalAddress(), { PARLEY_TEST_CONCURRENCY: '3' }));
  const agent = await storeRevision(store, provider);
  const [greeting] = greets.conversation;
  const tests = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [
      `greets-${n}`,
      { type: 'Conversation', conversation: [{ ...greeting, user: `Hello, this is ${n}.` }] },
    ]),
  );
  const { verdict, results } = await over(store, await requestRun(store, agent, tests));
  expect([verdict, results.filter((result) => result.verdict === 'passed').length]).toEqual(['passed', 30]);
  expect(most).toBe(3);
});

it('runs a test of another organisation while those of one have all places', async () => {
  const { url, store, provider } = await setUp();
  const { promise, release } = held();
  const asked = new Set<string>();
  provider.chat(async ({ lastUser }) => {
    asked.add(lastUser);
    if (lastUser !== 'Hello?') await promise;
    return 'Good day!';
  });
  await startWorker(workerEnv(url, await temporalAddress(), { PARLEY_TEST_CONCURRENCY: '2' }));
  const agent = await storeRevision(store, provider);
  const [greeting] = greets.conversation;
  const many = Array.from({ length: 6 }, (_, n) => [
    `greets-${n}`,
    { type: 'Conversation', conversation: [{ ...greeting, user: `This is ${n}.` }] },
  ]);
  const first = await requestRun(store, agent, Object.fromEntries(many));
  await eventually(() => expect(asked.size).toBe(2));
  await store.organizations.create({ name: 'globex' });
  await store.agentRevisions.put({ ...agent, org: 'globex', agentName: first.agentName });
  expect(await over(store, await requestRun(store, agent, { greets }, 'globex'))).toMatchObject({ verdict: 'passed' });
  // The runs of the first organisation that came meanwhile were sent back.
  expect(asked.size).toBe(3);
  release();
  expect(await over(store, first)).toMatchObject({ verdict: 'passed' });
});

it('completes a run when Temporal goes away in the middle of it and comes back', async () => {
  const { url, store, provider } = await setUp();
  const temporal = await ownTemporal();
  await temporal.start();
  const { promise, release } = held();
  provider.chat(async () => {
    await promise;
    return 'Good day!';
  });
  const worker = await startWorker(workerEnv(url, temporal.address));
  const agent = await storeRevision(store, provider);
  const run = await requestRun(store, agent, { greets, 'greets-too': greets });
  await expect.poll(() => provider.inFlight).toBeGreaterThan(0);
  await temporal.stop();
  release();
  // A run that is requested meanwhile waits.
  const later = await requestRun(store, agent, { greets });
  await temporal.start();
  expect(await over(store, run)).toMatchObject({ state: 'finished', verdict: 'passed' });
  expect(await over(store, later)).toMatchObject({ state: 'finished', verdict: 'passed' });
  await worker.stop();
});

it('completes a run whose worker is killed', async () => {
  const { url, store, provider } = await setUp();
  const { promise, release } = held();
  provider.chat(async () => {
    await promise;
    return 'Good day!';
  });
  const env = workerEnv(url, await temporalAddress());
  const agent = await storeRevision(store, provider);
  const worker = spawnRole('worker', env);
  const run = await requestRun(store, agent, { greets });
  await expect.poll(() => provider.inFlight).toBeGreaterThan(0);
  await worker.kill();
  release();
  expect((await store.testRuns.get({ org, id: run.id }))?.state).toBe('running');
  await startWorker(env);
  const { verdict, results } = await over(store, run);
  expect([verdict, results[0]?.passed]).toEqual(['passed', 1]);
});

it('leaves a run that is cancelled, and what it was doing', async () => {
  const { url, store, provider } = await setUp();
  const { promise, release } = held();
  provider.chat(async () => {
    await promise;
    return 'Good day!';
  });
  await startWorker(workerEnv(url, await temporalAddress()));
  const agent = await storeRevision(store, provider);
  const run = await requestRun(store, agent, { greets });
  await expect.poll(() => provider.inFlight).toBeGreaterThan(0);
  await store.database.queryAs(org, "UPDATE parley.test_runs SET state = 'cancelled', finished_at = now() WHERE id = $1", [run.id]);
  // The conversation is closed, and with it the request to the model.
  await eventually(() => expect(provider.requests('chat').at(-1)?.abandoned).toBe(true));
  release();
  const connection = await Connection.connect({ address: await temporalAddress() });
  try {
    expect(await new Client({ connection }).workflow.getHandle(testRunWorkflowId(run)).result()).toBe('gone');
  } finally {
    await connection.close();
  }
  expect(await store.testRuns.get({ org, id: run.id })).toMatchObject({ state: 'cancelled', verdict: null, results: [{ verdict: null }] });
});

it('makes no second attempt at a test that took longer than it may', async () => {
  const began: string[] = [];
  const why: string[] = [];
  const activities: AgentTestActivities = {
    beginRun: () => Promise.resolve([{ testName: 'slow', mode: 'text', longestMs: 2_000 }]),
    evaluateTest: ({ testName }) => {
      began.push(testName);
      return Context.current().cancelled;
    },
    giveUpTest: (_job, message) => Promise.resolve(void why.push(message)),
    finishRun: () => Promise.resolve('finished'),
  };
  const end = await whileWorking({ address: await temporalAddress(), activities }, async (client, taskQueue) => {
    const run = { workflowId: unique('run'), taskQueue, args: [{ org, runId: 'run_1' }] } as const;
    const ended = await client.workflow.execute(runAgentTests, run);
    // An attempt that the worker took may begin after its time.
    await expect.poll(() => began).not.toEqual([]);
    return ended;
  });
  expect([end, began, why]).toEqual(['finished', ['slow'], [expect.stringMatching(/^the test took longer than 2 s, /)]]);
});
