import { describe, expect, it } from 'vitest';

import { releaseEvents } from '../../../events/release-events.ts';
import { eventually } from '../../support/eventually.ts';
import { newCallId, watchReleases, type Store } from '../../../store/index.ts';
import { canaryShareOf } from '../../../store/releases/canary-share.ts';
import { failureOf, freshStore, revisionOf, session } from './support.ts';

const named = { org: 'acme', agentName: 'front-desk' } as const;

async function put(store: Store, content: object): Promise<string> {
  const { revision, config } = revisionOf(content);
  await store.agentRevisions.put({ ...named, revision, config });
  return revision;
}

async function serving(store: Store, ...letters: readonly string[]): Promise<readonly string[]> {
  const revisions: string[] = [];
  for (const letter of letters) {
    const revision = await put(store, { letter });
    await store.agentReleases.serve({ ...named, revision, configHash: letter });
    revisions.push(revision);
  }
  return revisions;
}

async function rotateSecret(store: Store, letter: string): Promise<void> {
  const revision = await put(store, { letter, secret: 'rotated' });
  await store.agentReleases.serve({ ...named, revision, configHash: letter });
}

const begin = (store: Store, revision: string, percent: number) =>
  store.agentReleases.change({ ...named, change: { type: 'begin_canary', revision, configHash: 'canary', percent } });

describe('a budget', () => {
  it('is that of all calls of an agent, whatever its release does, and goes', async () => {
    const { store } = await freshStore();
    const budget = { daily: '25.00', currency: 'EUR', timeZone: 'UTC' };
    expect(await store.agentReleases.setBudget({ ...named, budget })).toBeUndefined();
    await serving(store, 'a');
    expect((await store.agentReleases.setBudget({ ...named, budget }))?.budget).toEqual(budget);
    const second = await put(store, { letter: 'b' });
    expect((await begin(store, second, 99))?.budget).toEqual(budget);
    const callIds = Array.from({ length: 20 }, newCallId);
    const chosen = await Promise.all(callIds.map((callId) => store.agentRevisions.servingByName({ ...named, callId })));
    expect(new Set(chosen.map((each) => each?.canary))).toContain(true);
    for (const each of chosen) expect(each?.budget).toEqual(budget);
    await serving(store, 'c');
    expect((await store.agentReleases.state(named))?.budget).toEqual(budget);
    await store.agentReleases.setBudget({ ...named, budget: undefined });
    expect(await store.agentRevisions.servingByName(named)).toMatchObject({ budget: null });
  });
});

describe('a canary', () => {
  it('gets the calls whose ids say so, and no others', async () => {
    const { store } = await freshStore();
    const [first = ''] = await serving(store, 'a');
    const second = await put(store, { letter: 'b' });
    await begin(store, second, 30);
    const ids = Array.from({ length: 300 }, newCallId);
    const chosen = await Promise.all(ids.map((callId) => store.agentRevisions.servingByName({ ...named, callId })));
    expect(chosen.map((each) => each?.revision)).toEqual(ids.map((id) => (canaryShareOf(id) < 30 ? second : first)));
    expect(chosen.map((each) => each?.canary)).toEqual(ids.map((id) => canaryShareOf(id) < 30));
    expect(chosen.find((each) => each?.canary)?.config).toMatchObject({ letter: 'b' });
    expect(await store.agentRevisions.servingByName(named)).toMatchObject({ revision: first, canary: false });
  });

  it('is promoted, with its record and its event', async () => {
    const { store, url } = await freshStore();
    const [first = ''] = await serving(store, 'a');
    const second = await put(store, { letter: 'b' });
    await begin(store, second, 30);
    const after = await store.agentReleases.promote({ ...named, by: 'ada', reason: 'looks good', events: releaseEvents(Date.now()) });
    expect(after).toMatchObject({ revision: second, configHash: 'canary', canary: null });
    const client = await session(url);
    const { rows } = await client.query(
      'SELECT change, revision, replaced, reason, requested_by FROM parley.agent_releases ORDER BY id DESC LIMIT 1',
    );
    expect(rows).toEqual([{ change: 'promoted', revision: second, replaced: first, reason: 'looks good', requested_by: 'ada' }]);
    const { rows: events } = await client.query(
      `SELECT name, agent, workspace, convert_from(body, 'UTF8')::json->'payload' AS payload FROM parley.events JOIN parley.event_bodies USING (id)`,
    );
    expect(events).toEqual([
      {
        name: 'Agent.RevisionServed',
        agent: 'front-desk',
        workspace: null,
        payload: { agent_id: 'front-desk', revision: second, percent: 100, previous_revision: first },
      },
    ]);
  });

  it('refuses what was decided on a former state', async () => {
    const { store } = await freshStore();
    await serving(store, 'a');
    const seen = await begin(store, await put(store, { letter: 'b' }), 30);
    await store.agentReleases.rollback(named);
    expect(await store.agentReleases.change({ ...named, change: { type: 'promote' }, version: seen?.version })).toBeUndefined();
    const revision = await put(store, { letter: 'c' });
    expect(await store.agentReleases.serve({ ...named, revision, version: seen?.version })).toBeUndefined();
    expect(await store.agentReleases.serve({ ...named, revision, version: null })).toBeUndefined();
    expect(await store.agentReleases.state(named)).toMatchObject({ configHash: 'a', canary: null, rolledBack: [{ aborted: false }] });
  });
});

describe('a rollback', () => {
  it('goes back step by step, and never to what was rolled back', async () => {
    const { store } = await freshStore();
    const [first = '', second = ''] = await serving(store, 'a', 'b', 'c');
    expect(await store.agentReleases.rollback({ ...named, reason: 'rude' })).toMatchObject({ revision: second, configHash: 'b' });
    expect(await store.agentReleases.rollback(named)).toMatchObject({ revision: first, rolledBack: [{ reason: 'rude' }, {}] });
    expect(await failureOf(store.agentReleases.rollback(named))).toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('no former revision is left'),
    });
    const fourth = await serving(store, 'd');
    expect(await store.agentReleases.state(named)).toMatchObject({ revision: fourth[0], rolledBack: [{ reason: 'rude' }, {}] });
    expect(await store.agentReleases.rollback(named)).toMatchObject({ revision: first });
  });

  it('never goes to the configuration that serves or was rolled back with other Secrets', async () => {
    const { store } = await freshStore();
    const [first = ''] = await serving(store, 'a', 'b');
    await rotateSecret(store, 'b');
    expect(await store.agentReleases.rollback(named)).toMatchObject({ revision: first, configHash: 'a' });
    expect(await failureOf(store.agentReleases.rollback(named))).toMatchObject({ kind: 'conflict' });
    // A person names the release, in whichever version: it counts again.
    expect(await store.agentReleases.promote(named)).toMatchObject({ configHash: 'b', rolledBack: [] });
    await serving(store, 'c');
    expect(await store.agentReleases.rollback(named)).toMatchObject({ configHash: 'b' });
  });

  it('goes further back after one that named a revision', async () => {
    const { store } = await freshStore();
    const [first = '', second = ''] = await serving(store, 'a', 'b', 'c');
    await rotateSecret(store, 'c');
    await store.agentReleases.rollback({ ...named, to: second });
    expect(await store.agentReleases.rollback(named)).toMatchObject({ revision: first });
  });

  it('goes to a revision that has served, by the beginning of its hash', async () => {
    const { store } = await freshStore();
    const [first = '', , third = ''] = await serving(store, 'a', 'b', 'c');
    expect(await store.agentReleases.rollback({ ...named, to: first.slice(0, 12) })).toMatchObject({ revision: first });
    expect(await failureOf(store.agentReleases.rollback({ ...named, to: first }))).toMatchObject({ kind: 'conflict' });
    const unserved = await put(store, { letter: 'never' });
    for (const to of [unserved, 'f'.repeat(64), '']) {
      expect(await failureOf(store.agentReleases.rollback({ ...named, to }))).toMatchObject({ kind: 'invalid' });
    }
    expect(await store.agentReleases.promote(named)).toMatchObject({ revision: third, rolledBack: [] });
    expect(await failureOf(store.agentReleases.promote(named))).toMatchObject({ kind: 'conflict' });
  });

  it('knows no agent of another organisation, and none that has never served', async () => {
    const { store } = await freshStore();
    await serving(store, 'a', 'b');
    for (const ref of [
      { org: 'other', agentName: 'front-desk' },
      { org: 'acme', agentName: 'nobody' },
    ])
      expect(await failureOf(store.agentReleases.rollback(ref))).toMatchObject({ kind: 'not_found' });
  });

  it('notifies those who watch', async () => {
    const { store } = await freshStore();
    await serving(store, 'a', 'b');
    const seen: object[] = [];
    const listening = Promise.withResolvers<void>();
    const watch = watchReleases({
      database: store.database,
      onChange: (agent) => void seen.push(agent),
      onListening: () => listening.resolve(),
    });
    await listening.promise;
    await store.agentReleases.rollback(named);
    await eventually(() => expect(seen).toEqual([named]));
    await watch.stop();
  });

  it('is one of many at once, and each of them is recorded', async () => {
    const { store } = await freshStore();
    await serving(store, 'a', 'b', 'c', 'd', 'e');
    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => store.agentReleases.rollback(named)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'fulfilled']);
    expect(await store.agentReleases.state(named)).toMatchObject({ configHash: 'a' });
  });
});

describe('the history', () => {
  it('lists revisions with what became of them, page by page', async () => {
    const { store } = await freshStore();
    const [first, second, third] = await serving(store, 'a', 'b', 'c');
    const canary = await put(store, { letter: 'd' });
    const tested = await put(store, { letter: 'e' });
    await begin(store, canary, 5);
    await store.agentReleases.change({ ...named, change: { type: 'abort' }, reason: 'too slow' });
    await store.agentReleases.rollback({ ...named, by: 'ada' });
    const whole = await store.releaseHistory.list({ ...named, pageSize: 10 });
    const states = new Map(whole?.items.map((item) => [item.revision, item.state]));
    expect(Object.fromEntries(states)).toEqual({
      [tested]: 'not_served',
      [canary]: 'rolled_back',
      [third!]: 'rolled_back',
      [second!]: 'serving',
      [first!]: 'superseded',
    });
    expect(whole?.items.find(({ revision }) => revision === canary)?.last).toMatchObject({ change: 'aborted', reason: 'too slow' });
    expect(whole?.items.find(({ revision }) => revision === third)?.last).toMatchObject({ change: 'rolled_back', by: 'ada' });
    const page = await store.releaseHistory.list({ ...named, pageSize: 2 });
    const rest = await store.releaseHistory.list({ ...named, pageSize: 10, after: page?.next });
    expect([...page!.items, ...rest!.items].map(({ revision }) => revision)).toEqual(whole?.items.map(({ revision }) => revision));
    expect(await store.releaseHistory.find({ ...named, prefix: first!.slice(0, 10) })).toMatchObject({
      revision: first,
      config: { letter: 'a' },
    });
    expect(await store.releaseHistory.find({ ...named, prefix: '' })).toBeUndefined();
    expect(await store.releaseHistory.list({ org: 'acme', agentName: 'nobody', pageSize: 1 })).toBeUndefined();
  });

  it('keeps what a rollback may go back to', async () => {
    const { store, url } = await freshStore();
    const [first] = await serving(store, 'a', 'b');
    for (let index = 0; index < 12; index += 1) await put(store, { index });
    await (
      await session(url)
    ).query("SET session_replication_role = replica; UPDATE parley.agent_revisions SET created_at = created_at - interval '60 days'");
    expect(await store.agentRevisions.prune({ org: 'acme' })).toMatchObject({ deleted: 2 });
    expect(await store.agentReleases.rollback(named)).toMatchObject({ revision: first });
  });
});
