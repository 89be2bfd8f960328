/**
 * Takes a change of an agent from a branch to all calls, with a real API server, operator, worker, Temporal and api and a scripted model:
 * the story of docs/agents/tests-in-the-cluster.md.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';

import { createLogger } from '../../../platform/logging.ts';
import { anAgent, type TestManifest } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFolder } from '../../support/folders.ts';
import { startProviderServer } from '../../support/provider-server.ts';
import { run } from '../../support/run.ts';
import type { RunningRole } from '../../support/running-role.ts';
import { parleyEntry } from '../../support/stack.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { realMediaServer } from '../api/calls-support.ts';
import { startFacade } from '../api/facade.ts';
import { condition, startCluster, type AnyObject } from '../operator/harness.ts';
import { startWorkerRole } from '../workflows/support.ts';
import { workerEnv } from './runs-support.ts';

const cluster = suiteFixture(startCluster);
const provider = suiteFixture(startProviderServer);
const facade = suiteFixture(async () =>
  startFacade({
    database: { url: cluster.databaseUrl },
    kubeconfig: cluster.addresses.kubeconfigs.api,
    calls: { mediaServer: await realMediaServer() },
  }),
);
const folder = suiteFolder();
let worker: RunningRole;

beforeAll(async () => {
  await cluster.operator({ env: { PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' } });
  // The model does what its prompt says.
  provider.chat(({ system, lastUser }) => (lastUser.includes('hours') ? (/Say: (.*)/.exec(system)?.[1] ?? 'Pardon?') : 'Pardon?'));
  worker = await startWorkerRole(
    workerEnv(cluster.databaseUrl, await temporalAddress(), { KUBECONFIG: cluster.addresses.kubeconfigs.worker }),
    createLogger({ role: 'worker', level: 'error' }),
  );
});
afterAll(() => worker?.stop());

const agentThatSays = (org: string, words: string, spec: object = {}): TestManifest =>
  anAgent('desk', org, {
    llm: { provider: 'openai_compatible', model: 'm', baseURL: provider.url, systemPrompt: `Say: ${words}` },
    ...spec,
  });

const hoursTest = (org: string, spec: object = {}): TestManifest => ({
  apiVersion: 'parley.dev/v1beta1',
  kind: 'AgentTest',
  metadata: { name: 'hours', namespace: org },
  spec: {
    agentRefs: [{ name: 'desk' }],
    required: true,
    type: 'Conversation',
    conversation: [
      { type: 'User', user: 'What are your opening hours?', expect: [{ type: 'Answer', answer: { contains: ['nine', 'six'] } }] },
    ],
    ...spec,
  },
});

async function anOrganization() {
  const org = await cluster.organization('story');
  const { store } = facade;
  await store.organizations.create({ name: org }).catch(() => undefined);
  const { apiKey: key } = await store.apiKeys.create({ org, name: 'test', permissions: ['*'], expirationDays: 1, userId: 'ada' });
  const parley = (...args: readonly string[]) =>
    run(process.execPath, [parleyEntry, ...args], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        KUBECONFIG: cluster.addresses.kubeconfig,
        PARLEY_URL: facade.url,
        PARLEY_API_KEY: key,
        PARLEY_ORG: org,
      },
    });
  const until = (check: (agent: AnyObject) => boolean): Promise<AnyObject> => cluster.until('Agent', org, 'desk', check);
  return { org, key, parley, until };
}

const servingOf = ({ status }: AnyObject) => status?.['servingRevision'] as string | undefined;
const desiredOf = ({ status }: AnyObject) => status?.['desiredRevision'] as string | undefined;

describe('a change of an agent', () => {
  it('is tested in its branch, held back where it fails, and released where it passes', async () => {
    const { org, key, parley, until } = await anOrganization();
    const branch = async (words: string): Promise<void> => {
      await writeFile(join(folder, 'agent.yaml'), stringify(agentThatSays(org, words)));
      await writeFile(join(folder, 'test.yaml'), stringify(hoursTest(org)));
    };

    // The first revision serves once it has passed.
    await cluster.apply(hoursTest(org), agentThatSays(org, 'we are open from nine to six'));
    const good = servingOf(await cluster.ready('Agent', org, 'desk'));
    // The result decides, a moment before the run is over.
    await eventually(async () => {
      const { items } = await facade.store.testRuns.list({ org, pageSize: 10 });
      expect(items).toMatchObject([{ revision: good, trigger: 'gate', verdict: 'passed' }]);
    });

    // A bad prompt is red in its branch, without a cluster.
    await branch('we are never open');
    const red = await parley('test', 'agent.yaml', 'test.yaml', '--live');
    expect([red.code, red.stdout]).toEqual([1, expect.stringContaining('we are never open')]);

    // A bad prompt that is applied all the same is not served, and the calls go on with the last good revision.
    await cluster.apply(agentThatSays(org, 'we are never open'));
    const held = await cluster.reason('Agent', org, 'desk', 'Tested', 'TestsFailed');
    expect(servingOf(held)).toBe(good);
    expect(desiredOf(held)).not.toBe(good);
    expect(condition(held, 'Tested')?.message).toMatch(/hours failed: spec\.conversation\[0\]\.expect\[0\]\.answer/);
    const call = await facade.call('POST', '/v1/calls/create-web-call', { key, body: { ai_agent_id: 'desk' } });
    expect((await facade.store.calls.calls.get({ org, id: call.body._id }))?.revision).toBe(good);

    // The command says so on request, in the terminal and over REST.
    const asked = await parley('test', 'agent/desk', '-n', org, '--junit', join(folder, 'report.xml'));
    expect([asked.code, asked.stdout]).toEqual([1, expect.stringMatching(/✗ hours[^]*agent\s+│ we are never open[^]*0 passed, 1 failed/)]);
    expect((await parley('test', 'agent/desk', '-n', org, '--revision', 'serving')).code).toBe(0);
    const { body: runs } = await facade.call('GET', '/v1/test-runs?state=finished', { key });
    expect(runs.data.map(({ trigger, verdict }: { trigger: string; verdict: string }) => [trigger, verdict])).toEqual([
      ['request', 'passed'],
      ['request', 'failed'],
      ['gate', 'failed'],
      ['gate', 'passed'],
    ]);

    // The fixed prompt is green, tried on some calls, and promoted.
    await branch('we are open from nine to six, also on Mondays');
    expect((await parley('test', 'agent.yaml', 'test.yaml', '--live')).code).toBe(0);
    const release = { release: { canary: { percent: 50, for: '1h', minCalls: 1 } } };
    await cluster.apply(agentThatSays(org, 'we are open from nine to six, also on Mondays', release));
    const tried = await until(({ status }) => status?.['canary'] !== undefined);
    expect(servingOf(tried)).toBe(good);
    expect(condition(tried, 'Tested')).toMatchObject({ status: 'True', reason: 'TestsPassed' });
    expect((await parley('promote', 'agent/desk', '-n', org)).code).toBe(0);
    const promoted = await until((agent) => servingOf(agent) !== good && servingOf(agent) === desiredOf(agent));
    expect(servingOf(promoted)).toBe((tried.status?.['canary'] as { revision: string } | undefined)?.revision);
  });

  it('awaits its required tests while they run, and is served by none that was not run', async () => {
    const { org, until } = await anOrganization();
    const { promise, resolve: release } = Promise.withResolvers<void>();
    const slow = await startProviderServer();
    try {
      slow.chat(async () => {
        await promise;
        return 'from nine to six';
      });
      const agent = anAgent('desk', org, { llm: { provider: 'openai_compatible', model: 'm', baseURL: slow.url } });
      await cluster.apply(hoursTest(org), agent);
      await expect.poll(() => slow.inFlight).toBeGreaterThan(0);
      const waiting = await cluster.reason('Agent', org, 'desk', 'Tested', 'TestsRunning');
      expect(servingOf(waiting)).toBeUndefined();
      release();
      expect(servingOf(await until((object) => servingOf(object) !== undefined))).toBeDefined();
    } finally {
      release();
      await slow.close();
    }
  });
});

describe('a schedule', () => {
  it('tests what is served when it is due, shows it, and is not undone by it', async () => {
    const { org } = await anOrganization();
    let words = 'from nine to six';
    const drifting = await startProviderServer();
    try {
      drifting.chat(() => words);
      const agent = anAgent('desk', org, { llm: { provider: 'openai_compatible', model: 'm', baseURL: drifting.url } });
      await cluster.apply(hoursTest(org, { schedule: '* * * * *' }), agent);
      const serving = servingOf(await cluster.ready('Agent', org, 'desk'));
      // The model of the provider becomes another one.
      words = 'we have closed for good';
      const scheduled = await eventually(async () => {
        const { items } = await facade.store.testRuns.list({ org, pageSize: 10 });
        // The first may have been due before the model was another one.
        const found = items.find(({ trigger, verdict }) => trigger === 'schedule' && verdict === 'failed');
        if (found === undefined) throw new Error(`no scheduled run has failed: ${JSON.stringify(items)}`);
        return found;
      });
      expect(scheduled).toMatchObject({ revision: serving });
      const test = await cluster.until(
        'AgentTest',
        org,
        'hours',
        ({ status }) => (status?.['lastRun'] as { verdict?: string } | undefined)?.verdict === 'Failed',
      );
      expect(test.status?.['results']).toMatchObject([{ agent: 'desk', verdict: 'Failed', revision: serving }]);
      expect(servingOf(await cluster.get('Agent', org, 'desk'))).toBe(serving);
    } finally {
      await drifting.close();
    }
  });
});
