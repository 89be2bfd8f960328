import { beforeEach, describe, expect, it } from 'vitest';

import { anAgent } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { kubectl, organization, startFacade, type TestOrganization } from './facade.ts';

const facade = suiteFixture(startFacade);
let org: TestOrganization;

const desired = 'd'.repeat(64);
const serving = '5'.repeat(64);

beforeEach(async () => {
  org = await organization(facade);
  await kubectl(['apply', '-f', '-'], anAgent('receptionist', org.name));
  for (const [name, spec] of [
    ['hours', { required: true }],
    ['order', { mode: 'Audio' }],
    ['asleep', { suspend: true }],
    ['other', { agentRefs: [{ name: 'somebody' }] }],
  ] as const)
    await applyTest(name, spec);
  for (const revision of [desired, serving])
    await facade.store.agentRevisions.put({ org: org.name, agentName: 'receptionist', revision, config: { of: revision } });
  await status({ desiredRevision: desired, servingRevision: serving });
  await eventually(async () => expect((await facade.call('GET', '/readyz')).status).toBe(200));
});

async function applyTest(name: string, spec: object): Promise<void> {
  await kubectl(['apply', '-f', '-'], {
    apiVersion: 'parley.dev/v1beta1',
    kind: 'AgentTest',
    metadata: { name, namespace: org.name },
    spec: { agentRefs: [{ name: 'receptionist' }], type: 'Conversation', conversation: [{ type: 'User', user: 'Hello?' }], ...spec },
  });
}

const status = (of: object): Promise<string> =>
  kubectl(['patch', 'agent', 'receptionist', '-n', org.name, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status: of })]);

const path = '/v2/ai-agents/receptionist/test-runs';

/** The caches of the facade follow kubectl in their own time. */
const request = (body: object = {}) =>
  eventually(async () => {
    const answer = await org.call('POST', path, body);
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  });

describe('a test run over REST', () => {
  it('is requested of all tests that select the agent, for the desired revision, and queued', async () => {
    const run = await eventually(async () => {
      const made = await request();
      expect(made.results).toHaveLength(2);
      return made;
    });
    expect(run).toMatchObject({
      ai_agent_id: 'receptionist',
      revision: desired,
      trigger: 'request',
      state: 'queued',
      requested_by: 'user-1',
      results: [
        { test: 'hours', required: true, mode: 'text', attempts: [] },
        { test: 'order', required: false, mode: 'audio', attempts: [] },
      ],
    });
    expect(run).not.toHaveProperty('verdict');
    const pending = await facade.store.testRuns.pending({ org: org.name, id: run._id });
    expect(pending.map(({ spec }) => (spec as { conversation: unknown }).conversation)).toEqual([
      [{ type: 'User', user: 'Hello?' }],
      [{ type: 'User', user: 'Hello?' }],
    ]);
    expect((await org.call('GET', `/v1/test-runs/${run._id}`)).body).toEqual(run);
  });

  it('is of the tests and the revision that it names', async () => {
    expect(await request({ tests: ['asleep'], revision: 'serving' })).toMatchObject({ revision: serving, results: [{ test: 'asleep' }] });
    expect(await request({ tests: ['hours', 'hours'], revision: serving })).toMatchObject({
      revision: serving,
      results: [{ test: 'hours' }],
    });
  });

  it('shows what came of it, with the transcript', async () => {
    const { _id: id } = await request({ tests: ['hours'] });
    const [test] = await facade.store.testRuns.pending({ org: org.name, id });
    await facade.store.testRuns.start({ org: org.name, id });
    const result = {
      attempts: [
        {
          verdict: 'failed',
          checks: [
            { path: 'spec.conversation[0].expect[0].judge', kind: 'judge', verdict: 'failed', expected: 'x', actual: 'y', reason: 'no' },
          ],
          transcript: [{ role: 'tool', text: 'look_up', atMs: 7, tool: { name: 'look_up', arguments: {}, result: { open: true } } }],
          finishReason: 'user_ended_call',
          durationMs: 12.5,
          callId: 'call_1',
        },
      ],
    };
    const outcome = { verdict: 'failed', passed: 0, failed: 1, flaky: false, message: 'no', result } as const;
    await facade.store.testRuns.recordResult({ org: org.name, id, testName: test!.name }, outcome);
    await facade.store.testRuns.finish({ org: org.name, id });
    const { body } = await org.call('GET', `/v1/test-runs/${id}`);
    expect(body).toMatchObject({
      state: 'finished',
      verdict: 'failed',
      started_at: expect.any(String),
      finished_at: expect.any(String),
      results: [
        {
          test: 'hours',
          verdict: 'failed',
          failed: 1,
          message: 'no',
          attempts: [
            {
              checks: [{ reason: 'no' }],
              transcript: [{ role: 'tool', at_ms: 7, tool: { result: { open: true } } }],
              finish_reason: 'user_ended_call',
              duration_ms: 12.5,
              call_id: 'call_1',
            },
          ],
        },
      ],
    });
  });

  it('says what is wrong with a request', async () => {
    await request();
    const unknown = await org.call('POST', path, { tests: ['hours', 'other', 'nothing'] });
    expect(unknown.status).toBe(422);
    expect(unknown.text).toMatch(/no AgentTest \\"other\\" selects the AI agent; there are: asleep, hours, order/);
    expect((await org.call('POST', path, { revision: 'newest' })).status).toBe(422);
    expect((await org.call('POST', '/v2/ai-agents/nobody/test-runs', {})).status).toBe(404);
    const gone = await org.call('POST', path, { revision: 'e'.repeat(64) });
    expect([gone.status, gone.body.error]).toEqual([409, 'conflict']);
    await status({
      desiredRevision: 'f'.repeat(64),
      conditions: [
        { type: 'Ready', status: 'False', reason: 'Invalid', message: 'the prompt is missing', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
    });
    await eventually(async () => {
      const unsound = await org.call('POST', path, {});
      expect([unsound.status, unsound.text]).toEqual([
        409,
        expect.stringContaining('no desired revision that can be tested: the prompt is missing'),
      ]);
    });
    for (const id of ['run_1', '%00', 'run_019aa1f2-b3c4-7d5e-8f90-a1b2c3d4e5f6'])
      expect((await org.call('GET', `/v1/test-runs/${id}`)).status).toBe(404);
  });

  it('needs an AgentTest that selects the agent', async () => {
    for (const name of ['hours', 'order']) await kubectl(['delete', 'agenttest', name, '-n', org.name]);
    await eventually(async () => {
      const refused = await org.call('POST', path, {});
      expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('no agent test names the AI agent')]);
    });
  });

  it('waits while too many runs of the agent are not over', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push((await request({ tests: ['hours'] }))._id);
    const refused = await org.call('POST', path, {});
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(ids[0]!)]);
    expect(refused.text).toContain('has 20 test runs that are not over');
  });

  it('belongs to its organisation, and takes the permissions of agents', async () => {
    const { _id: id } = await request();
    const other = await organization(facade);
    expect((await other.call('GET', `/v1/test-runs/${id}`)).status).toBe(404);
    expect((await other.call('GET', '/v1/test-runs')).body.data).toEqual([]);
    const reader = await org.keyWith('agents:read');
    expect((await facade.call('GET', `/v1/test-runs/${id}`, { key: reader })).status).toBe(200);
    expect((await facade.call('POST', path, { key: reader, body: {} })).status).toBe(403);
    const callsOnly = await org.keyWith('calls:write');
    expect((await facade.call('GET', '/v1/test-runs', { key: callsOnly })).status).toBe(403);
  });
});

describe('the list of test runs', () => {
  it('is walked page by page, the newest first, with filters', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.unshift((await request({ tests: [n === 2 ? 'order' : 'hours'] }))._id);
    const seen: string[] = [];
    for (let token: string | null = ''; token !== null;) {
      const { body } = await org.call('GET', `/v1/test-runs?page_size=2&page_token=${token}`);
      seen.push(...body.data.map(({ _id }: { _id: string }) => _id));
      expect(body.data[0]).not.toHaveProperty('results');
      token = body.next_page_token;
    }
    expect(seen).toEqual(ids);
    const of = async (query: string) => (await org.call('GET', `/v1/test-runs?${query}`)).body.data.length;
    expect(await of('test=order')).toBe(1);
    expect(await of('ai_agent_id=receptionist&state=queued')).toBe(5);
    expect(await of('ai_agent_id=nobody')).toBe(0);
    expect(await of('state=finished')).toBe(0);
    expect(await of('test=%00')).toBe(0);
    expect((await org.call('GET', '/v1/test-runs?page_token=x')).status).toBe(422);
  });
});
