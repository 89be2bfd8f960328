/** Releases go through the front door: resources are applied, calls are created over REST, a real operator decides. */
import { beforeAll, describe, expect, it } from 'vitest';

import { canaryShareOf } from '../../../store/releases/canary-share.ts';
import type { FinishReason } from '../../../store/index.ts';
import { anAgent, aSecret, aTool } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { parleyHere } from '../../support/parley-command.ts';
import type { Finished } from '../../support/run.ts';
import type { RunningRole } from '../../support/running-role.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { realMediaServer } from '../api/calls-support.ts';
import { startFacade, type RestAnswer } from '../api/facade.ts';
import { condition, startCluster, toolsOffered, type AnyObject } from '../operator/harness.ts';

const cluster = suiteFixture(startCluster);
const facade = suiteFixture(async () =>
  startFacade({
    database: { url: cluster.databaseUrl },
    kubeconfig: cluster.addresses.kubeconfigs.api,
    calls: { mediaServer: await realMediaServer() },
  }),
);
let operator: RunningRole;

beforeAll(async () => {
  operator = await cluster.operator();
});

interface Desk {
  readonly org: string;
  /** Runs `parley …` as a person of the organisation does. */
  readonly parley: (...args: readonly string[]) => Promise<Finished>;
  readonly call: (method: string, path: string, body?: unknown) => Promise<RestAnswer>;
  readonly apply: (prompt: string, release?: object, more?: object) => Promise<void>;
  readonly until: (check: (agent: AnyObject) => boolean) => Promise<AnyObject>;
  /** Creates a web call over REST. @returns its row */
  readonly newCall: () => Promise<{ readonly id: string; readonly revision: string; readonly canary: boolean }>;
  /** Creates calls until so many are the canary's, and returns those. */
  readonly canaryCalls: (count: number) => Promise<readonly string[]>;
  readonly end: (ids: readonly string[], reason: FinishReason) => Promise<void>;
}

const revisions = ({ status }: AnyObject) => [status?.['servingRevision'], status?.['desiredRevision']] as const;
/** A digest that no revision has. */
const MISSING = 'ab'.repeat(32);
const reasonOf = (agent: AnyObject, type: string) => condition(agent, type)?.reason;
const settled = (agent: AnyObject): boolean => {
  const [serving, desired] = revisions(agent);
  return serving !== undefined && serving === desired && agent.status?.observedGeneration === agent.metadata.generation;
};

async function aDesk(): Promise<Desk> {
  const org = await cluster.organization('release');
  const { store } = facade;
  await store.organizations.create({ name: org });
  await store.organizations.limitLiveCalls(org, 10_000);
  const { apiKey: key } = await store.apiKeys.create({ org, name: 'test', permissions: ['*'], expirationDays: 1, userId: 'ada' });
  const call: Desk['call'] = (method, path, body) => facade.call(method, path, { key, ...(body !== undefined && { body }) });
  const newCall: Desk['newCall'] = async () => {
    const { status, body, text } = await call('POST', '/v1/calls/create-web-call', { ai_agent_id: 'desk' });
    if (status !== 201) throw new Error(`no call: ${text}`);
    const row = await store.calls.calls.get({ org, id: body._id });
    return { id: row!.id, revision: row!.revision, canary: row!.canary };
  };
  return {
    org,
    parley: (...args) =>
      // The plugin goes by the kubeconfig, the other commands by PARLEY_ORG.
      parleyHere(args[0] === 'kubectl' ? [...args, '-n', org] : args, {
        KUBECONFIG: cluster.addresses.kubeconfig,
        PARLEY_URL: facade.url,
        PARLEY_API_KEY: key,
        PARLEY_ORG: org,
      }),
    call,
    newCall,
    apply: (prompt, release, more) =>
      cluster.apply(
        anAgent('desk', org, { llm: { provider: 'openai', model: 'm', systemPrompt: prompt }, ...(release && { release }), ...more }),
      ),
    until: (check) => cluster.until('Agent', org, 'desk', check),
    async canaryCalls(count) {
      const ids: string[] = [];
      while (ids.length < count) {
        const made = await newCall();
        if (made.canary) ids.push(made.id);
      }
      return ids;
    },
    async end(ids, reason) {
      for (const id of ids) await store.calls.calls.end({ org, id, reason, events: () => [] });
    },
  };
}

const canary = (more: object = {}) => ({ canary: { percent: 50, for: '1h', minCalls: 3, abortOn: { errorPercent: 40 }, ...more } });

/** Sets an agent up with a first revision that serves and a second one as its canary. */
async function withCanary(more: object = {}): Promise<{ readonly desk: Desk; readonly first: string; readonly second: string }> {
  const desk = await aDesk();
  await desk.apply('Be kind.', canary(more));
  const [first] = revisions(await desk.until(settled));
  await desk.apply('Be brief.', canary(more));
  const agent = await desk.until((object) => reasonOf(object, 'Progressing') === 'CanaryRunning');
  return { desk, first: String(first), second: String(revisions(agent)[1]) };
}

describe('a canary', () => {
  it('gets the calls that the hash of their id gives it; calls that have begun keep their revision', async () => {
    const desk = await aDesk();
    await desk.apply('Be kind.', canary({ percent: 30 }));
    const [first] = revisions(await desk.until(settled));
    const before = await desk.newCall();
    await desk.apply('Be brief.', canary({ percent: 30 }));
    const agent = await desk.until((object) => reasonOf(object, 'Progressing') === 'CanaryRunning');
    expect(condition(agent, 'Ready')).toMatchObject({
      status: 'True',
      message: expect.stringContaining('30 % of new calls start with revision'),
    });
    expect([condition(agent, 'Synced'), condition(agent, 'Progressing')]).toMatchObject([
      { status: 'True', reason: 'CanaryRunning' },
      { status: 'True', reason: 'CanaryRunning' },
    ]);
    expect(agent.status).toMatchObject({ servingRevision: first, canary: { revision: revisions(agent)[1], percent: 30 } });
    const calls = await Promise.all(Array.from({ length: 60 }, () => desk.newCall()));
    for (const { id, revision, canary: tried } of calls) {
      expect(tried).toBe(canaryShareOf(id) < 30);
      expect(revision).toBe(tried ? revisions(agent)[1] : first);
    }
    expect(calls.some((call) => call.canary)).toBe(true);
    expect((await facade.store.calls.calls.get({ org: desk.org, id: before.id }))?.revision).toBe(first);
  });

  it('is promoted after its time and its calls', async () => {
    const { desk, second } = await withCanary({ for: '1s' });
    await desk.end(await desk.canaryCalls(3), 'user_ended_call');
    const agent = await desk.until(settled);
    expect(revisions(agent)[0]).toBe(second);
    expect([condition(agent, 'Synced')?.status, condition(agent, 'Progressing'), agent.status?.['canary']]).toEqual([
      'True',
      expect.objectContaining({ status: 'False', reason: 'RevisionServed' }),
      undefined,
    ]);
  });

  it('is aborted by its errors, says the numbers, and stays so over a restart until the spec changes', async () => {
    const { desk, first, second } = await withCanary();
    const calls = await desk.canaryCalls(4);
    await desk.end(calls.slice(0, 2), 'user_ended_call');
    // A failure that is not the revision's fault counts for nothing.
    await desk.end(calls.slice(2, 3), 'user_connection_failure');
    const one = calls.at(3)!;
    const more = await desk.canaryCalls(1);
    await desk.end([one], 'unknown_error');
    expect(reasonOf(await cluster.get('Agent', desk.org, 'desk'), 'Progressing')).toBe('CanaryRunning');
    await desk.end(more, 'unknown_error');
    await eventually(async () =>
      expect((await facade.store.agentRevisions.servingByName({ org: desk.org, agentName: 'desk', callId: one }))?.revision).toBe(first),
    );
    const agent = await desk.until((object) => reasonOf(object, 'Progressing') === 'CanaryAborted');
    const message = '50 % of its 4 calls ended as error, above 40 % (errorPercent)';
    expect(condition(agent, 'Progressing')).toMatchObject({ status: 'False', message: expect.stringContaining(message) });
    expect(condition(agent, 'Ready')).toMatchObject({ status: 'False', reason: 'CanaryAborted' });
    expect(revisions(agent)).toEqual([first, second]);
    const later = await Promise.all(Array.from({ length: 20 }, () => desk.newCall()));
    expect(new Set(later.map(({ revision }) => revision))).toEqual(new Set([first]));

    await operator.stop();
    operator = await cluster.operator();
    await desk.apply('Be brief.', canary());
    expect(await desk.newCall()).toMatchObject({ revision: first });
    const { body } = await desk.call('GET', '/v2/ai-agents/desk/revisions');
    expect(body.data).toMatchObject([
      { revision: second, state: 'rolled_back', last_change: { change: 'aborted', reason: message }, figures: { calls: 4, errors: 2 } },
      { revision: first, state: 'serving' },
    ]);
    await desk.apply('Be brief and kind.', canary());
    await desk.until((object) => reasonOf(object, 'Progressing') === 'CanaryRunning');
  });

  it('is shown, compared and promoted by who has a key', async () => {
    const { desk, first, second } = await withCanary();
    const [before, after] = [first.slice(0, 12), second.slice(0, 12)];
    const history = await desk.parley('kubectl', 'history', 'agent/desk');
    expect(history).toMatchObject({ code: 0, stderr: '' });
    expect(history.stdout).toMatch(new RegExp(`${after} +canary 50%.*canary_began.*\n${before} +serving`));
    const diff = await desk.parley('diff', 'desk');
    expect(diff).toMatchObject({ code: 1, stdout: expect.stringContaining(`--- ${before}\n+++ ${after}\n`) });
    expect(diff.stdout).toMatch(/^-systemPrompt: Be kind\.\n\+systemPrompt: Be brief\.$/m);
    const explained = await desk.parley('kubectl', 'explain', 'agent/desk');
    expect(explained).toMatchObject({ code: 0, stdout: expect.stringContaining(`; 50 % of new calls start with ${after}`) });
    expect(explained.stdout).toContain('Progressing: CanaryRunning');
    const promoted = await desk.parley('promote', 'agent/desk', '--reason', 'looks good');
    expect(promoted).toMatchObject({ code: 0, stdout: `agent/desk serves revision ${after}: all new calls start with it\n` });
    expect(revisions(await desk.until(settled))[0]).toBe(second);
    const refused = await desk.parley('promote', 'agent/desk');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('there is nothing to promote') });
    expect(await desk.parley('history', 'agent/nobody')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/AI agent not found\n {2}→ `kubectl get agents/),
    });
  });
});

describe('a rollback', () => {
  it('reaches every call that is created after it, also under load, and GitOps does not undo it', async () => {
    const desk = await aDesk();
    await desk.apply('Be kind.');
    const [first] = revisions(await desk.until(settled));
    await desk.apply('Be rude.');
    const [second] = revisions(await desk.until((object) => settled(object) && revisions(object)[0] !== first));
    let [isRolledBack, stop] = [false, false];
    const made: { readonly afterwards: boolean; readonly revision: string }[] = [];
    const callers = Array.from({ length: 8 }, async () => {
      while (!stop) {
        const afterwards = isRolledBack;
        made.push({ afterwards, ...(await desk.newCall()) });
      }
    });
    await eventually(() => expect(made.length).toBeGreaterThan(20));
    const answer = await desk.call('POST', '/v2/ai-agents/desk/rollback', { reason: 'rude' });
    isRolledBack = true;
    expect([answer.status, answer.body.serving_revision]).toEqual([200, first]);
    await eventually(() => expect(made.filter(({ afterwards }) => afterwards).length).toBeGreaterThan(40));
    stop = true;
    await Promise.all(callers);
    expect(new Set(made.filter(({ afterwards }) => afterwards).map(({ revision }) => revision))).toEqual(new Set([first]));
    expect(made.some(({ revision }) => revision === second)).toBe(true);

    const agent = await desk.until((object) => reasonOf(object, 'Progressing') === 'RolledBack');
    expect(condition(agent, 'Progressing')?.message).toMatch(/it was rolled back by ada at .*: rude/);
    expect(revisions(agent)).toEqual([first, second]);
    await desk.apply('Be rude.');
    expect((await desk.newCall()).revision).toBe(first);
    await desk.apply('Be nice.');
    expect(revisions(await desk.until(settled))[0]).not.toBe(first);
  });

  it('works with --store while the API server answers nothing, and the operator learns of it', async () => {
    const desk = await aDesk();
    await desk.apply('Be kind.');
    const [first] = revisions(await desk.until(settled));
    await desk.apply('Be rude.');
    const [second] = revisions(await desk.until((object) => settled(object) && revisions(object)[0] !== first));
    const parley = (...args: readonly string[]) =>
      parleyHere([...args, '--store', '--org', desk.org], {
        DATABASE_URL: cluster.databaseUrl,
        KUBECONFIG: '/nonexistent',
        PARLEY_URL: undefined,
        PARLEY_API_KEY: undefined,
      });
    await cluster.withoutApiServer(async () => {
      const done = await parley('rollback', 'agent/desk', '--reason', 'rude');
      expect(done).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining(`serves revision ${String(first).slice(0, 12)}`) });
      expect((await desk.newCall()).revision).toBe(first);
      const history = await parley('history', 'desk');
      expect(history.stdout).toMatch(new RegExp(`${String(second).slice(0, 12)} +rolled_back.*\n${String(first).slice(0, 12)} +serving`));
      const diff = await parley('diff', 'desk', String(first).slice(0, 10), String(second).slice(0, 10));
      expect(diff).toMatchObject({ code: 1, stdout: expect.stringMatching(/^-systemPrompt: Be kind\.\n\+systemPrompt: Be rude\.$/m) });
      expect(await parley('rollback', 'desk')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('no former revision is left to go back to'),
      });
    });
    const agent = await desk.until((object) => reasonOf(object, 'Progressing') === 'RolledBack');
    expect(revisions(agent)).toEqual([first, second]);
    expect(await parley('promote', 'desk')).toMatchObject({ code: 0 });
    expect(revisions(await desk.until(settled))[0]).toBe(second);
  });

  it('is refused where there is nothing to go back to, nothing to promote, and for agents of others', async () => {
    const desk = await aDesk();
    await desk.apply('Be kind.');
    await desk.until(settled);
    const answers = await Promise.all([
      desk.call('POST', '/v2/ai-agents/desk/rollback', {}),
      desk.call('POST', '/v2/ai-agents/desk/promote', {}),
      desk.call('POST', '/v2/ai-agents/desk/rollback', { revision: 'ab'.repeat(6) }),
      desk.call('POST', '/v2/ai-agents/nobody/rollback', {}),
      desk.call('GET', '/v2/ai-agents/nobody/revisions'),
      desk.call('GET', '/v2/ai-agents/desk/revisions/ab'),
      desk.call('POST', '/v2/ai-agents/desk/rollback', { revision: 'not a hash' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([409, 409, 422, 404, 404, 404, 422]);
  });
});

describe('an agent that is treated as clusters treat it', () => {
  const orders = (org: string) => aTool('orders', org, { agentRefs: [{ name: 'desk' }] });
  /** Replaces the object as `kubectl replace --force` does. */
  const replace = async (org: string, kind: 'Agent' | 'Tool', name: string): Promise<void> => {
    const { apiVersion, spec } = await cluster.get(kind, org, name);
    await cluster.remove(kind, org, name);
    await eventually(() => expect(cluster.get(kind, org, name)).rejects.toMatchObject({ notFound: true }));
    await cluster.apply({ apiVersion, kind, metadata: { namespace: org, name }, ...(spec && { spec }) });
  };

  it('keeps what was rolled back out: over a tool, a name, another rollback and itself being made again', async () => {
    const desk = await aDesk();
    await desk.apply('Be kind.');
    const [first] = revisions(await desk.until(settled));
    await desk.apply('Be rude.');
    await desk.until((object) => settled(object) && revisions(object)[0] !== first);
    await cluster.apply(orders(desk.org));
    await desk.until((object) => settled(object) && toolsOffered(object) === 1);
    await desk.call('POST', '/v2/ai-agents/desk/rollback', { revision: first, reason: 'rude' });
    await desk.until((object) => reasonOf(object, 'Progressing') === 'RolledBack');
    const still = async (what: string): Promise<void> => {
      const { metadata } = await cluster.get('Agent', desk.org, 'desk');
      await desk.until((object) => object.metadata.uid === metadata.uid && reasonOf(object, 'Progressing') === 'RolledBack');
      expect((await desk.newCall()).revision, what).toBe(first);
    };
    await replace(desk.org, 'Tool', 'orders');
    await still('a tool was replaced');
    await cluster.remove('Tool', desk.org, 'orders');
    await desk.until((object) => toolsOffered(object) === 0);
    await still('a tool is gone');
    await desk.apply('Be rude.', undefined, { displayName: 'Front desk' });
    await desk.until((object) => object.status?.observedGeneration === object.metadata.generation);
    await still('the agent was renamed');
    await replace(desk.org, 'Agent', 'desk');
    await still('the agent was replaced');
    await operator.stop();
    operator = await cluster.operator();
    await still('the operator was restarted');
    const promoted = await desk.parley('promote', 'agent/desk');
    expect(promoted).toMatchObject({ code: 0 });
    expect(revisions(await desk.until(settled))[0]).not.toBe(first);
  });

  it('goes on with its canary, its pin and its spending when it is made again', async () => {
    const { desk, first, second } = await withCanary();
    const calls = await desk.canaryCalls(1);
    const agent = { org: desk.org, agentName: 'desk' };
    const before = await facade.store.agentReleases.state(agent);
    await replace(desk.org, 'Agent', 'desk');
    const again = await desk.until((object) => reasonOf(object, 'Progressing') === 'CanaryRunning');
    expect(again.status).toMatchObject({ servingRevision: first, canary: { revision: second, percent: 50 } });
    expect((await facade.store.agentReleases.state(agent))?.canary).toEqual(before?.canary);
    await desk.end(calls, 'user_ended_call');
    expect((await facade.store.releaseFigures.of({ ...agent, revision: second })).calls).toBe(1);
    await desk.apply('Be anything.', { pin: { revision: second } });
    await desk.until((object) => reasonOf(object, 'Synced') === 'RevisionPinned');
    await replace(desk.org, 'Agent', 'desk');
    await desk.until((object) => reasonOf(object, 'Synced') === 'RevisionPinned');
    expect((await desk.newCall()).revision).toBe(second);
  });

  it('takes no call where its pin names nothing, unless that is passed over', async () => {
    const desk = await aDesk();
    await desk.apply('Be kind.', { pin: { revision: MISSING } });
    const held = await desk.until((object) => reasonOf(object, 'Ready') === 'PinNotFound');
    expect(revisions(held)[0]).toBeUndefined();
    await desk.apply('Be kind.', { pin: { revision: MISSING, onMissing: 'Serve' } });
    const agent = await desk.until((object) => reasonOf(object, 'Synced') === 'PinPassedOver' && revisions(object)[0] !== undefined);
    expect(condition(agent, 'Ready')?.status).toBe('True');
    expect((await desk.newCall()).revision).toBe(agent.status?.['desiredRevision']);
  });

  it('makes nothing new of a Secret that is touched, or made again with the same values', async () => {
    const desk = await aDesk();
    const secret = (apiKey: string, touched: string) => {
      const made = aSecret('keys', { apiKey, other: touched }, desk.org);
      return { ...made, metadata: { ...made.metadata, annotations: { touched } } };
    };
    const llm = { provider: 'openai', model: 'm', systemPrompt: 'Be kind.', apiKeySecretRef: { name: 'keys', key: 'apiKey' } };
    await cluster.apply(secret('one', '0'));
    await desk.apply('', undefined, { llm });
    const [first] = revisions(await desk.until(settled));
    for (const touched of ['1', '2', '3']) await cluster.apply(secret('one', touched));
    await cluster.remove('Secret', desk.org, 'keys');
    await desk.until((object) => reasonOf(object, 'Reconciling') === 'WaitingForReferences' && condition(object, 'Stalled') === undefined);
    await cluster.apply(secret('one', '4'));
    expect(revisions(await desk.until((object) => reasonOf(object, 'Ready') === 'Available'))).toEqual([first, first]);
    await cluster.apply(secret('two', '4'));
    const [second] = revisions(await desk.until((object) => settled(object) && revisions(object)[0] !== first));
    const { items } = (await facade.store.releaseHistory.list({ org: desk.org, agentName: 'desk', pageSize: 10 }))!;
    expect(items.map(({ revision }) => revision)).toEqual([second, first]);
  });

  it('takes no call once it is gone, although nobody could say so', async () => {
    const { org } = await aDesk();
    const ghost = { org, agentName: 'ghost', revision: 'a'.repeat(64) };
    await facade.store.agentRevisions.put({ ...ghost, config: {} });
    await facade.store.agentReleases.serve(ghost);
    await operator.stop();
    operator = await cluster.operator();
    await eventually(async () => expect(await facade.store.agentRevisions.servingByName(ghost)).toBeUndefined());
  });
});

describe('a pin', () => {
  it('serves a former revision until it is removed, and says where it names none', async () => {
    const desk = await aDesk();
    await desk.apply('Be kind.');
    const [first] = revisions(await desk.until(settled));
    await desk.apply('Be brief.');
    const [second] = revisions(await desk.until((object) => settled(object) && revisions(object)[0] !== first));
    await desk.apply('Be brief.', { pin: { revision: first } });
    const pinned = await desk.until((object) => revisions(object)[0] === first && reasonOf(object, 'Synced') === 'RevisionPinned');
    expect(condition(pinned, 'Ready')).toMatchObject({ status: 'True' });
    expect((await desk.newCall()).revision).toBe(first);
    await desk.apply('Be anything.', { pin: { revision: first } });
    await desk.until((object) => revisions(object)[1] !== second && reasonOf(object, 'Synced') === 'RevisionPinned');
    expect((await desk.newCall()).revision).toBe(first);
    await desk.apply('Be brief.', { pin: { revision: MISSING } });
    const held = await desk.until((object) => reasonOf(object, 'Ready') === 'PinNotFound');
    expect(revisions(held)).toEqual([first, second]);
    expect((await desk.newCall()).revision).toBe(first);
    await desk.apply('Be brief.', { pin: { revision: MISSING, onMissing: 'Serve' } });
    await desk.until((object) => reasonOf(object, 'Synced') === 'PinPassedOver' && settled(object));
    expect((await desk.newCall()).revision).toBe(second);
  });

  it('is completed over REST, and refused where it means no revision', async () => {
    const desk = await aDesk();
    await desk.apply('Be kind.');
    const [first] = revisions(await desk.until(settled));
    const pin = (revision: string) => desk.call('PUT', '/v2/ai-agents/desk?force=true', { release: { pin: revision } });
    expect((await pin(String(first).slice(0, 8))).body.release).toEqual({ pin: first });
    expect((await cluster.get('Agent', desk.org, 'desk')).spec?.['release']).toEqual({ pin: { revision: first, onMissing: 'Hold' } });
    expect(await pin('ab'.repeat(6))).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'release', 'pin'] }] } });
  });
});

it('holds no budget back', async () => {
  const desk = await aDesk();
  await desk.apply('Be kind.');
  const [first] = revisions(await desk.until(settled));
  const pin = { revision: first };
  await desk.apply('Be brief.', { pin }, { budget: { daily: '0', currency: 'EUR' } });
  const create = () => desk.call('POST', '/v1/calls/create-web-call', { ai_agent_id: 'desk' });
  await eventually(async () => expect((await create()).body).toMatchObject({ error: 'budget_exceeded' }));
  await desk.apply('Be brief.', { pin }, { budget: { daily: '1.00', currency: 'EUR' } });
  await eventually(async () => expect((await create()).status).toBe(201));
  expect((await desk.newCall()).revision).toBe(first);
});

it('reports what serves and what was rolled back as events', async () => {
  const { desk, first, second } = await withCanary();
  await desk.call('POST', '/v2/ai-agents/desk/rollback', { reason: 'too slow' });
  const rows = await facade.store.database.asOrganization(desk.org, (transaction) =>
    transaction.query<{ name: string; payload: object }>(
      `SELECT name, convert_from(body, 'UTF8')::json->'payload' AS payload FROM parley.events JOIN parley.event_bodies USING (id) ORDER BY id`,
    ),
  );
  expect(rows.rows).toEqual([
    { name: 'Agent.RevisionServed', payload: { agent_id: 'desk', revision: first, percent: 100 } },
    { name: 'Agent.RevisionServed', payload: { agent_id: 'desk', revision: second, percent: 50 } },
    {
      name: 'Agent.RolledBack',
      payload: { agent_id: 'desk', revision: first, rolled_back_revision: second, aborted: false, reason: 'too slow', requested_by: 'ada' },
    },
  ]);
});
