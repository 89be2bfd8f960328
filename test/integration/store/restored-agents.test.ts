import { expect, it } from 'vitest';

import { handOverToRestored, migrate } from '../../../store/index.ts';
import { ownedDatabase, revisionOf, session, storeAt } from './support.ts';

it('hands over what is kept by uid, as an owner of the tables from whom row-level security hides rows', async () => {
  const { url, owner } = await ownedDatabase();
  const admin = await session(url);
  await migrate({ databaseUrl: owner });
  const store = storeAt(url);
  const serve = async (org: string, agentName: string, letter: string) => {
    const agent = { org, agentUid: `former-${agentName}`, agentName };
    const { revision, config } = revisionOf({ agentName, letter });
    await store.agentRevisions.put({ ...agent, revision, config });
    await store.agentReleases.serve({ ...agent, revision, configHash: letter });
    return { ...agent, revision };
  };
  const [good, bad] = [await serve('acme', 'desk', 'a'), await serve('acme', 'desk', 'b')];
  const others = [await serve('acme', 'shop', 'a'), await serve('globex', 'desk', 'a')];
  await store.agentReleases.rollback({ ...good, reason: 'rude', by: 'ada' });
  const before = await store.agentReleases.state(good);
  const digest = 'd'.repeat(64);
  const test = { uid: 'former-hours', name: 'hours', digest, required: true, mode: 'text', spec: {} } as const;
  await store.testRuns.request({ ...bad, configHash: digest, trigger: 'request' }, [test]);
  const restored = {
    Agent: new Map([
      ['desk', 'desk-now'],
      ['never-served', 'never-served-now'],
    ]),
    AgentTest: new Map([['hours', 'hours-now']]),
  };
  for (const _time of ['first', 'repeated']) {
    await handOverToRestored({ databaseUrl: owner, org: 'acme' }, restored);
    expect(await store.agentReleases.state({ ...good, agentUid: 'desk-now' })).toEqual(before);
    expect(await store.agentReleases.state(good)).toBeUndefined();
    const rows = await admin.query(
      `SELECT 'revision' AS what, agent_uid AS uid, revision AS of FROM parley.agent_revisions WHERE org = 'acme'
       UNION ALL SELECT 'run', agent_uid, revision FROM parley.test_runs UNION ALL SELECT 'result', test_uid, '' FROM parley.test_results
       UNION ALL SELECT DISTINCT 'release', agent_uid, '' FROM parley.agent_releases WHERE org = 'acme'`,
    );
    const expected = [
      { what: 'revision', uid: 'desk-now', of: good.revision },
      { what: 'revision', uid: 'desk-now', of: bad.revision },
      { what: 'revision', uid: 'former-shop', of: others[0]?.revision },
      { what: 'run', uid: 'desk-now', of: bad.revision },
      { what: 'result', uid: 'hours-now', of: '' },
      { what: 'release', uid: 'desk-now', of: '' },
      { what: 'release', uid: 'former-shop', of: '' },
    ];
    expect(rows.rows).toHaveLength(expected.length);
    expect(rows.rows).toEqual(expect.arrayContaining(expected));
    for (const other of others) expect(await store.agentReleases.state(other)).toMatchObject({ revision: other.revision });
  }
});
