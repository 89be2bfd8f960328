import { describe, expect, it } from 'vitest';

import type { Store } from '../../../store/index.ts';
import { registerCall } from './calls-support.ts';
import { failureOf, freshStore, revisionOf, session, storeAt } from './support.ts';

const frontDesk = { org: 'acme', agentName: 'front-desk' } as const;

async function put(
  store: Store,
  config: unknown,
  agent: { readonly org: string; readonly agentName: string } = frontDesk,
): Promise<string> {
  const { revision } = revisionOf(config);
  await store.agentRevisions.put({ ...agent, revision, config });
  return revision;
}

describe('put', () => {
  it('stores once, says nothing to the same again, and refuses other content under the same name', async () => {
    const { url, store } = await freshStore();
    const config = { b: [1, 2.5, null, true], a: { ключ: 'значение', long: 'x'.repeat(100_000) } };
    const revision = await put(store, config);
    await put(store, config);
    expect(await store.agentRevisions.get({ ...frontDesk, revision })).toEqual({
      agentName: 'front-desk',
      revision,
      config,
      createdAt: expect.any(Date),
    });
    // Keys in another order are the same content.
    await store.agentRevisions.put({ ...frontDesk, revision, config: { a: config.a, b: config.b } });
    expect(await failureOf(store.agentRevisions.put({ ...frontDesk, revision, config: { other: true } }))).toMatchObject({
      kind: 'conflict',
      retryable: false,
    });
    expect((await (await session(url)).query('SELECT count(*)::int AS n FROM parley.agent_revisions')).rows).toEqual([{ n: 1 }]);
  });

  it('makes the organisation’s row, because a label alone makes a namespace one', async () => {
    const { store } = await freshStore();
    await put(store, {});
    expect(await store.organizations.get('acme')).toMatchObject({ name: 'acme', displayName: '' });
  });

  it('refuses what can’t be stored, with the reason', async () => {
    const { store } = await freshStore();
    expect(await failureOf(put(store, { prompt: 'a\u0000b' }))).toMatchObject({ kind: 'invalid' });
    expect(await failureOf(put(store, { prompt: 'x'.repeat(9_000_000) }))).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('front-desk'),
    });
    expect(await failureOf(store.agentRevisions.put({ ...frontDesk, agentName: 'n', revision: 'not-a-digest', config: {} }))).toMatchObject(
      {
        kind: 'invalid',
      },
    );
  });

  it('is never changed afterwards, by any role', async () => {
    const { url, store } = await freshStore();
    await put(store, {});
    await expect((await session(url)).query("UPDATE parley.agent_revisions SET config = '{}'")).rejects.toMatchObject({
      message: expect.stringContaining('immutable'),
    });
  });
});

describe('serve', () => {
  it('moves on to a new revision, goes back to an old one, and keeps its moment for the same one', async () => {
    const { url, store } = await freshStore();
    const [first, second] = [await put(store, { v: 1 }), await put(store, { v: 2 })];
    const began = await store.agentReleases.serve({ ...frontDesk, revision: first });
    const { rows: before } = await (await session(url)).query('SELECT xmin FROM parley.agent_serving');
    expect(await store.agentReleases.serve({ ...frontDesk, revision: first })).toEqual(began);
    const { rows: after } = await (await session(url)).query('SELECT xmin FROM parley.agent_serving');
    expect(after).toEqual(before);
    const moved = await store.agentReleases.serve({ ...frontDesk, revision: second });
    expect(await store.agentRevisions.servingByName(frontDesk)).toEqual({
      agentName: 'front-desk',
      revision: second,
      config: { v: 2 },
      activeSince: moved?.activeSince,
      canary: false,
      budget: null,
    });
    await store.agentReleases.serve({ ...frontDesk, revision: first });
    expect(await store.agentRevisions.servingByName(frontDesk)).toMatchObject({
      revision: first,
      config: { v: 1 },
    });
  });

  it('wants the revision to be there, in this organisation and of this agent', async () => {
    const { store } = await freshStore();
    const revision = await put(store, {});
    for (const ref of [
      { ...frontDesk, revision: 'f'.repeat(64) },
      { ...frontDesk, agentName: 'back-desk', revision },
      { ...frontDesk, org: 'other', revision },
    ]) {
      expect(await failureOf(store.agentReleases.serve(ref))).toMatchObject({ kind: 'not_found' });
    }
    expect(await store.agentRevisions.servingByName(frontDesk)).toBeUndefined();
    expect(await store.agentRevisions.servingByName({ org: 'acme', agentName: 'a\u0000b' })).toBeUndefined();
  });

  it('is refused to all but one of twenty that begin at once', async () => {
    const { url, store } = await freshStore();
    const stores = [store, storeAt(url), storeAt(url)];
    const served = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const through = stores[index % stores.length] ?? store;
        return through.agentReleases.serve({ ...frontDesk, revision: await put(through, { index }), version: null });
      }),
    );
    expect(served.filter((state) => state !== undefined)).toHaveLength(1);
  });
});

describe('retire', () => {
  it('takes the agent off the air; calls that run can still read their revision, and its successor goes on', async () => {
    const { store } = await freshStore();
    const revision = await put(store, {});
    const before = await store.agentReleases.serve({ ...frontDesk, revision, configHash: 'a' });
    expect(await store.agentReleases.retire({ ...frontDesk, version: -1 })).toBe(false);
    for (const _time of ['first', 'repeated']) expect(await store.agentReleases.retire(frontDesk)).toBe(true);
    expect(await store.agentRevisions.servingByName(frontDesk)).toBeUndefined();
    expect(await failureOf(store.agentReleases.rollback(frontDesk))).toMatchObject({ kind: 'not_found' });
    expect(await store.agentRevisions.get({ ...frontDesk, revision })).toBeDefined();
    expect(await store.agentReleases.state(frontDesk)).toMatchObject({ revision, retiredAt: expect.any(Date) });
    const after = await store.agentReleases.change({ ...frontDesk, change: { type: 'revive' } });
    expect(after).toEqual({ ...before, version: after?.version, activeSince: after?.activeSince });
    expect(await store.agentRevisions.servingByName(frontDesk)).toMatchObject({ revision });
  });

  it('takes off the air whatever is not among the living', async () => {
    const { store } = await freshStore();
    const others = [
      { org: 'acme', agentName: 'night-desk' },
      { org: 'other', agentName: 'front-desk' },
    ];
    for (const agent of [frontDesk, ...others])
      await store.agentReleases.serve({ ...agent, revision: await put(store, { of: agent.agentName }, agent) });
    expect(await store.agentReleases.retireOthers(['acme/front-desk'], 'acme')).toEqual([others[0]]);
    expect(await store.agentRevisions.servingByName(others[1]!)).toBeDefined();
    expect(await store.agentReleases.retireOthers(['acme/front-desk'])).toEqual([others[1]]);
    expect(await store.agentReleases.retireOthers(['acme/front-desk'])).toEqual([]);
    expect(await store.agentRevisions.servingByName(frontDesk)).toBeDefined();
  });

  it('removes at once what never served, and knows nothing of other organisations', async () => {
    const { store } = await freshStore();
    const revision = await put(store, {});
    await store.agentReleases.retire({ ...frontDesk, org: 'other' });
    expect(await store.agentRevisions.get({ ...frontDesk, revision })).toBeDefined();
    await store.agentReleases.retire(frontDesk);
    expect(await store.agentRevisions.get({ ...frontDesk, revision })).toBeUndefined();
  });
});

describe('prune', () => {
  it('keeps what serves, the newest ten of each agent and everything that is young; in batches', async () => {
    const { store, url } = await freshStore();
    const revisions: string[] = [];
    for (let v = 0; v < 25; v += 1) revisions.push(await put(store, { v }));
    // They lie a second apart. Revisions are immutable even for the superuser; only as a replica does the server let history be aged.
    await (
      await session(url)
    ).query(
      "SET session_replication_role = replica; UPDATE parley.agent_revisions SET created_at = created_at - (25 - (config->>'v')::int) * interval '1 second'",
    );
    const serving = revisions[2] ?? '';
    await store.agentReleases.serve({ ...frontDesk, revision: serving });
    const other = { org: 'acme', agentName: 'back-office' };
    const others = await Promise.all(Array.from({ length: 5 }, (_, v) => put(store, { other: v }, other)));
    const foreign = await put(store, { v: 0 }, { ...frontDesk, org: 'other' });

    expect(await store.agentRevisions.prune({ org: 'acme' })).toEqual({ deleted: 0, more: false });
    expect(await store.agentRevisions.prune({ org: 'acme', keepForMs: 0, limit: 10 })).toEqual({ deleted: 10, more: true });
    expect(await store.agentRevisions.prune({ org: 'acme', keepForMs: 0, limit: 10 })).toEqual({ deleted: 4, more: false });

    const left = await Promise.all(revisions.map((revision) => store.agentRevisions.get({ ...frontDesk, revision })));
    expect(left.flatMap((found) => (found === undefined ? [] : [found.revision])).sort()).toEqual([serving, ...revisions.slice(15)].sort());
    for (const revision of others) expect(await store.agentRevisions.get({ ...other, revision })).toBeDefined();
    expect(await store.agentRevisions.get({ ...frontDesk, org: 'other', revision: foreign })).toBeDefined();
  });

  it('keeps what calls under way and their analyses need', async () => {
    const { store } = await freshStore();
    const revision = await put(store, { agent: { postCallAnalysis: [{ name: 'mood' }] } });
    for (const v of ['newer', 'newest']) await put(store, { v });
    const { org, id } = await registerCall(store, 'acme', { agentName: 'front-desk', revision });
    const prune = async () => (await store.agentRevisions.prune({ org, keepForMs: 0, keepNewest: 1 })).deleted;
    expect(await prune()).toBe(1);
    await store.calls.calls.end({ org, id, reason: 'user_ended_call', events: () => [] });
    expect(await prune()).toBe(0);
    await store.calls.analyses.finish({ org, id, items: [], error: null, events: [] });
    expect(await prune()).toBe(1);
  });

  it('lets an agent go altogether that was deleted long ago', async () => {
    const { url, store } = await freshStore();
    const revision = await put(store, {});
    await store.agentReleases.serve({ ...frontDesk, revision });
    await store.agentReleases.retire(frontDesk);
    expect(await store.agentRevisions.prune({ org: 'acme' })).toEqual({ deleted: 0, more: false });
    await (await session(url)).query("UPDATE parley.agent_serving SET retired_at = now() - interval '31 days'");
    expect(await store.agentRevisions.prune({ org: 'acme' })).toEqual({ deleted: 1, more: false });
    expect(await store.agentRevisions.get({ ...frontDesk, revision })).toBeUndefined();
  });
});
