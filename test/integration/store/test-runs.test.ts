import { describe, expect, it } from 'vitest';

import type { RequestedTest, Store, StoredVerdict, TestResultRecord } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { failureOf, freshStore, revisionOf, session } from './support.ts';

const agent = { org: 'acme', agentName: 'front-desk' } as const;
const digestOf = (content: unknown) => revisionOf(content).revision;

const testNamed = (name: string, content: object = {}): RequestedTest => ({
  name,
  digest: digestOf({ name, ...content }),
  required: true,
  mode: 'text',
  spec: content,
});
const [hours, orders] = [testNamed('hours', { type: 'Conversation', conversation: [{ type: 'User', user: 'Hi' }] }), testNamed('orders')];

async function put(store: Store, config: object) {
  const { revision } = revisionOf(config);
  await store.agentRevisions.put({ ...agent, revision, config });
  return { ...agent, revision, configHash: digestOf({ hashOf: config }) };
}

async function cancel(store: Store, { org, id }: { readonly org: string; readonly id: string }) {
  await store.database.queryAs(org, "UPDATE parley.test_runs SET state = 'cancelled', finished_at = now() WHERE id = $1", [id]);
}

async function requested(store: Store, config: object, tests: readonly RequestedTest[] = [hours], trigger: 'gate' | 'request' = 'gate') {
  const run = await store.testRuns.request({ ...(await put(store, config)), trigger }, tests);
  return run!;
}

const resultOf = (results: readonly TestResultRecord[], name: string) => results.find(({ testName }) => testName === name);

const record = (store: Store, run: { readonly org: string; readonly id: string }, test: RequestedTest, verdict: StoredVerdict) =>
  store.testRuns.recordResult(
    { ...run, testName: test.name },
    {
      verdict,
      passed: verdict === 'passed' ? 1 : 0,
      failed: verdict === 'failed' ? 1 : 0,
      flaky: false,
      message: `it ${verdict}`,
      result: { verdict },
    },
  );

describe('a test run', () => {
  it('is requested, found, worked on, and ends with the verdicts of its tests', async () => {
    const { store } = await freshStore();
    const run = await requested(store, { v: 1 }, [orders, hours]);
    expect(run).toMatchObject({ ...agent, state: 'queued', verdict: null, trigger: 'gate', requestedBy: null, startedAt: null });
    expect(await store.testRuns.due({ limit: 10 })).toMatchObject([{ org: agent.org, agentName: agent.agentName, id: run.id }]);
    await store.testRuns.begun({ ...run, lookAgainInMs: 60_000 });
    expect(await store.testRuns.due({ limit: 10 })).toEqual([]);
    expect(await store.testRuns.start(run)).toMatchObject({ state: 'running', startedAt: expect.any(Date) as Date });
    expect(await store.testRuns.pending(run)).toEqual([hours, orders]);
    expect(await record(store, run, hours, 'passed')).toBe(true);
    expect(await store.testRuns.pending(run)).toEqual([orders]);
    expect(await record(store, run, orders, 'failed')).toBe(true);
    expect(await store.testRuns.finish(run)).toMatchObject({ state: 'finished', verdict: 'failed', finishedAt: expect.any(Date) as Date });
    expect(await store.testRuns.get(run)).toMatchObject({
      id: run.id,
      results: [
        { testName: 'hours', verdict: 'passed', message: 'it passed', result: { verdict: 'passed' } },
        { testName: 'orders', verdict: 'failed', passed: 0, failed: 1, flaky: false },
      ],
    });
  });

  it('has one result for each test and one end: the first counts', async () => {
    const { store } = await freshStore();
    const run = await requested(store, { v: 1 });
    expect(await record(store, run, hours, 'failed')).toBe(true);
    expect(await record(store, run, hours, 'passed')).toBe(false);
    expect(await record(store, run, orders, 'passed')).toBe(false);
    expect(await store.testRuns.finish(run)).toMatchObject({ verdict: 'failed' });
    expect(await store.testRuns.finish(run)).toBeUndefined();
    expect(await store.testRuns.start(run)).toBeUndefined();
  });

  it('that ends without the result of a test is an error, and says why', async () => {
    const { store } = await freshStore();
    const run = await requested(store, { v: 1 }, [hours, orders]);
    await record(store, run, hours, 'passed');
    expect(await store.testRuns.finish({ ...run, unevaluated: `no model\0 ${'x'.repeat(3000)}` })).toMatchObject({ verdict: 'error' });
    const { results } = (await store.testRuns.get(run))!;
    expect(resultOf(results, 'orders')).toMatchObject({ verdict: 'error', message: expect.stringMatching(/^no model x+…$/) as string });
  });

  it('that was cancelled takes no result and counts for nothing', async () => {
    const { store } = await freshStore();
    const run = await requested(store, { v: 1 });
    await cancel(store, run);
    expect(await record(store, run, hours, 'passed')).toBe(false);
    expect([await store.testRuns.due({ limit: 10 }), await store.testRuns.evidenceOf(agent)]).toEqual([[], []]);
  });

  it('needs a revision that was stored', async () => {
    const { store } = await freshStore();
    await put(store, { v: 1 });
    const request = store.testRuns.request({ ...agent, revision: digestOf('other'), configHash: digestOf(''), trigger: 'request' }, [
      hours,
    ]);
    expect(await failureOf(request)).toMatchObject({ kind: 'not_found', message: expect.stringContaining('front-desk') as string });
  });

  it('writes the events of its end with it', async () => {
    const { url, store } = await freshStore();
    const run = await requested(store, { v: 1 });
    const id = '01234567-89ab-7cde-8f01-23456789abcd';
    await store.testRuns.finish({
      ...run,
      events: ({ verdict }) => [{ id, org: 'acme', name: 'AgentTest.Completed', body: Buffer.from(verdict ?? '') }],
    });
    const { rows } = await (await session(url)).query<{ body: Buffer }>('SELECT body FROM parley.event_bodies');
    expect(rows.map(({ body }) => body.toString())).toEqual(['error']);
  });
});

describe('a request of the gate', () => {
  it('asks for no test twice that is yet to be evaluated, and for one that was added', async () => {
    const { store } = await freshStore();
    const run = await put(store, { v: 1 });
    const gate = { ...run, trigger: 'gate' } as const;
    const requests = await Promise.all([1, 2, 3].map(() => store.testRuns.request(gate, [hours])));
    expect(requests.filter((made) => made !== undefined)).toHaveLength(1);
    const added = await store.testRuns.request(gate, [hours, orders]);
    expect(await store.testRuns.pending(added!)).toEqual([orders]);
    // Another wording of a test is another test.
    const edited = await store.testRuns.request(gate, [testNamed('hours', { edited: true }), orders]);
    expect((await store.testRuns.pending(edited!)).map(({ name }) => name)).toEqual(['hours']);
    // Somebody who asks gets a run of their own.
    expect(await store.testRuns.request({ ...run, trigger: 'request', requestedBy: 'ada' }, [hours])).toMatchObject({ requestedBy: 'ada' });
  });

  it('cancels what is queued for former configurations, and nothing that runs', async () => {
    const { store } = await freshStore();
    const [first, asked] = [await requested(store, { v: 1 }), await requested(store, { v: 1 }, [orders], 'request')];
    const second = await requested(store, { v: 2 });
    await store.testRuns.start(second);
    await requested(store, { v: 3 });
    const states = await Promise.all([first, asked, second].map(async (run) => (await store.testRuns.get(run))?.state));
    expect(states).toEqual(['cancelled', 'queued', 'running']);
    // A cancelled run is asked for again when it is wanted again.
    expect(await requested(store, { v: 1 })).toMatchObject({ state: 'queued' });
  });
});

it('a run is refused to a user while 20 runs of the agent are not over, with their names', async () => {
  const { store } = await freshStore();
  const first = await requested(store, { v: 1 }, [hours], 'request');
  await store.testRuns.start(first);
  const more = [];
  for (let n = 1; n < 20; n += 1) more.push(await requested(store, { v: 1 }, [hours], 'request'));
  const run = { ...(await put(store, { v: 1 })), requestedBy: 'ada' };
  const refused = await failureOf(store.testRuns.request({ ...run, trigger: 'request' }, [orders]));
  expect(refused).toMatchObject({ kind: 'conflict', message: expect.stringContaining('front-desk has 20 test runs') as string });
  for (const { id } of [first, ...more]) expect((refused as Error).message).toContain(id);
  // A revision that is to be served is tested all the same.
  expect(await store.testRuns.request({ ...run, trigger: 'gate' }, [orders])).toMatchObject({ trigger: 'gate' });
  for (const each of more.slice(0, 2)) await store.testRuns.finish(each);
  expect(await store.testRuns.request({ ...run, trigger: 'request' }, [orders])).toMatchObject({ requestedBy: 'ada' });
});

describe('the evidence of an agent', () => {
  const evidence = async (store: Store) =>
    (await store.testRuns.evidenceOf(agent)).map(({ newest, pending }) => [newest?.verdict, newest?.errors, pending?.runId]);

  it('is the newest result of each test and configuration, and what is yet to come', async () => {
    const { store } = await freshStore();
    const ended = async (verdict: StoredVerdict) => {
      const run = await requested(store, { v: 1 }, [hours], 'request');
      await record(store, run, hours, verdict);
      await store.testRuns.finish(run);
      return run;
    };
    expect(await evidence(store)).toEqual([]);
    await ended('passed');
    expect(await evidence(store)).toEqual([['passed', 0, undefined]]);
    await ended('error');
    const last = await ended('error');
    expect(await evidence(store)).toEqual([['error', 2, undefined]]);
    const again = await requested(store, { v: 1 });
    expect(await evidence(store)).toEqual([['error', 2, again.id]]);
    await store.testRuns.start(again);
    await store.testRuns.begun({ ...again, lookAgainInMs: 3_600_000 });
    expect(await store.testRuns.evidenceOf(agent)).toEqual([
      {
        configHash: last.configHash,
        testName: hours.name,
        digest: hours.digest,
        newest: { verdict: 'error', message: 'it error', runId: last.id, finishedAt: expect.any(Date) as Date, errors: 2 },
        pending: { runId: again.id, dueAt: expect.any(Date) as Date },
      },
    ]);
    const [known] = await store.testRuns.evidenceOf(agent);
    expect(known!.pending!.dueAt.getTime() - known!.newest!.finishedAt.getTime()).toBeGreaterThanOrEqual(3_600_000);
    await record(store, again, hours, 'failed');
    expect(await evidence(store)).toEqual([['failed', 0, undefined]]);
  });

  it('holds for every revision with the same configuration, and for no other agent', async () => {
    const { store } = await freshStore();
    const first = await requested(store, { v: 1 });
    await record(store, first, hours, 'passed');
    await requested(store, { v: 2 });
    const known = await store.testRuns.evidenceOf(agent);
    expect(known.map(({ configHash, newest }) => `${configHash === first.configHash} ${newest?.verdict}`).toSorted()).toEqual([
      'false undefined',
      'true passed',
    ]);
    expect(await store.testRuns.evidenceOf({ org: 'acme', agentName: 'other-desk' })).toEqual([]);
    expect(await store.testRuns.evidenceOf({ org: 'other', agentName: agent.agentName })).toEqual([]);
  });

  it('goes with the agent', async () => {
    const { url, store } = await freshStore();
    const run = await requested(store, { v: 1 });
    await store.agentReleases.serve(run);
    const second = await requested(store, { v: 2 });
    await store.agentReleases.retire(agent);
    expect((await store.testRuns.get(second))?.state).toBe('cancelled');
    await (await session(url)).query("UPDATE parley.agent_serving SET retired_at = now() - interval '31 days'");
    await store.agentRevisions.prune({ org: 'acme' });
    expect([await store.testRuns.get(run), await store.testRuns.get(second)]).toEqual([undefined, undefined]);
  });
});

it('lists runs page by page, the newest first, by agent, test and state', async () => {
  const { store } = await freshStore();
  const runs = [];
  for (const test of [hours, orders, hours]) runs.push(await requested(store, { v: 1 }, [test], 'request'));
  await store.testRuns.finish(runs[0]!);
  const ids = async (filter: object) => (await store.testRuns.list({ org: 'acme', pageSize: 10, ...filter })).items.map(({ id }) => id);
  const [first, second, third] = runs.map(({ id }) => id);
  expect(await ids({})).toEqual([third, second, first]);
  expect(await ids({ testName: 'hours' })).toEqual([third, first]);
  expect(await ids({ state: 'finished' })).toEqual([first]);
  expect(await ids({ agentName: 'other' })).toEqual([]);
  const page = await store.testRuns.list({ org: 'acme', pageSize: 2 });
  expect([page.items.length, page.next]).toEqual([2, second]);
  expect(await store.testRuns.list({ org: 'acme', pageSize: 2, after: page.next })).toMatchObject({
    items: [{ id: first }],
    next: undefined,
  });
});

it('says of a test the newest result of each agent', async () => {
  const { store } = await freshStore();
  const run = await requested(store, { v: 1 });
  await record(store, run, hours, 'passed');
  const cancelled = await requested(store, { v: 1 }, [hours], 'request');
  await cancel(store, cancelled);
  const of = () => store.testRuns.resultsOf({ org: 'acme', testName: hours.name });
  expect(await of()).toMatchObject([{ agentName: 'front-desk', runId: run.id, verdict: 'passed', passed: 1 }]);
  const again = await requested(store, { v: 2 });
  expect(await of()).toMatchObject([{ runId: again.id, revision: again.revision, verdict: null, runState: 'queued' }]);
});

it('prunes old runs, but for the newest result of each test', async () => {
  const { url, store } = await freshStore();
  const runs = [];
  for (const tests of [[hours], [hours, orders], [hours]]) {
    const run = await requested(store, { v: 1 }, tests, 'request');
    for (const test of tests) await record(store, run, test, 'passed');
    await store.testRuns.finish(run);
    runs.push(run);
  }
  await requested(store, { v: 1 }, [orders], 'request');
  expect(await store.testRuns.prune({ org: 'acme' })).toBe(0);
  await (
    await session(url)
  ).query("UPDATE parley.test_runs SET finished_at = finished_at - interval '31 days' WHERE finished_at IS NOT NULL");
  expect(await store.testRuns.prune({ org: 'acme' })).toBe(1);
  expect(await store.testRuns.get(runs[0]!)).toBeUndefined();
  expect((await store.testRuns.evidenceOf(agent)).map(({ newest }) => newest?.verdict)).toEqual(['passed', 'passed']);
});

it('reports each change with the agent that it is about', async () => {
  const { store } = await freshStore();
  const changes: string[] = [];
  let listening = 0;
  const listener = store.testRuns.listen({
    onChange: ({ org, name }) => void changes.push(`${org}/${name}`),
    onListening: () => void (listening += 1),
  });
  try {
    await eventually(() => expect(listening).toBe(1));
    const run = await requested(store, { v: 1 });
    await store.testRuns.start(run);
    await record(store, run, hours, 'passed');
    await store.testRuns.finish(run);
    await eventually(() => expect(changes).toEqual(Array.from({ length: 4 }, () => 'acme/front-desk')));
  } finally {
    await listener.stop();
  }
});
