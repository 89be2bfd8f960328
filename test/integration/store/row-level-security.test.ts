import type { Client } from 'pg';
import { describe, expect, it } from 'vitest';

import { createVectorStore } from '../../../knowledge/vector-stores/index.ts';
import { Database } from '../../../store/database.ts';
import { uuidv7 } from '../../../platform/uuid.ts';
import {
  countOrganizationRows,
  openDispatchStore,
  openStore,
  removeOrganizationRows,
  revokeOrganizationKeys,
  type Store,
} from '../../../store/index.ts';
import { migratedDatabase } from '../../support/postgres.ts';
import { registerCall, someUsage } from './calls-support.ts';
import { failureOf, freshStore, loginUser, revisionOf, session, storeAt } from './support.ts';
import { completeDocument } from '../../support/complete-document.ts';

/** Makes two organisations with a row in every table. */
async function twoOrganizations() {
  const { url, store } = await freshStore();
  for (const org of ['left', 'right']) {
    await store.organizations.create({ name: org, displayName: `canary of ${org}` });
    await store.apiKeys.create({ org, name: `canary of ${org}`, permissions: ['*'], expirationDays: 1 });
    const { revision, config } = revisionOf({ prompt: `canary of ${org}` });
    await store.agentRevisions.put({ org, agentName: 'same-name', revision, config });
    await store.agentReleases.serve({ org, agentName: 'same-name', revision });
    await store.testRuns.request({ org, agentName: 'same-name', revision, configHash: revision, trigger: 'gate' }, [
      { name: `canary of ${org}`, digest: revision, required: true, mode: 'text', spec: {} },
    ]);
    await store.toolLists.request(
      { org, toolUid: 'same-uid' },
      { toolName: `canary of ${org}`, request: {}, requestDigest: 'ab'.repeat(32) },
      { acceptNext: false },
    );
    await oneCompletedDocument(store, org);
    await store.dynamicDataCache.put(org, 'ab'.repeat(32), '{"canary":1}', { forMs: 60_000 });
    await store.idempotentRequests.claim({ org, apiKeyId: 'key', key: 'canary' }, { fingerprint: Buffer.alloc(32), forMs: 60_000 });
    await store.calls.erasures.begin(org, { phone: '+15550199' }, { requestedBy: 'canary' });
    const call = await registerCall(store, org, { others: [{ agentName: 'same-name', revision: 'a'.repeat(64), canary: false }] });
    await (await session(url)).query('INSERT INTO parley.deleted_calls (org, call_id) VALUES ($1, $2)', [org, `call_${org}`]);
    await (await session(url)).query('INSERT INTO parley.call_analyses (org, call_id) VALUES ($1, $2)', [org, call.id]);
    await store.phoneRoutes.put({
      org,
      uid: `uid-${org}`,
      name: 'same-name',
      number: org === 'left' ? '+15550100' : '+15550101',
      type: 'SIP',
      inboundAgent: 'same-name',
      outboundAgent: null,
      outboundTrunk: 'ST_canary',
    });
    await (
      await session(url)
    ).query(
      `INSERT INTO parley.call_commands (org, call_id, id, kind, body, created_by_key)
       VALUES ($1, $2, 'cmd_01234567-89ab-7cde-8f01-23456789abcd', 'say', '{"text": "canary"}', 'key')`,
      [org, call.id],
    );
    const message = { seq: 0, role: 'user', content: 'canary', spokenAt: new Date(), interrupted: false, sources: null } as const;
    await store.calls.log.add(call, {
      messages: [message],
      turns: [{ seq: 0, eou: 1, stt: 1, llmTtft: 1, ttsTtfb: 1, v2v: 1 }],
      toolCalls: [{ seq: 0, name: 'canary', arguments: {}, result: '', failed: false, beganAt: new Date(), durationMs: 1 }],
      usage: someUsage(),
    });
  }
  await oneFailedDelivery(url, store);
  return { url, store };
}

async function oneCompletedDocument({ knowledge, database: db }: Store, org: string): Promise<void> {
  const { id: collectionId } = await knowledge.collections.ensure({
    org,
    name: `canary of ${org}`,
    uid: 'same-uid',
    profile: 'default',
    model: 'bm25',
    dimension: 0,
    language: 'en',
    maxTokens: 400,
    overlapTokens: 50,
  });
  const { id } = await knowledge.documents.create({ org, collectionId, kind: 'file', filename: 'canary.txt' });
  const place = { headingPath: [], page: null, sheet: null, url: null, firstRow: null, lastRow: null };
  await knowledge.ingestion.addChunks({ org, id }, [{ ordinal: 0, text: 'canary', indexedText: 'canary', tokens: 1, ...place }]);
  await knowledge.ingestion.parsed({ org, id }, { warnings: [], chunkCount: 1, termTotal: 1, terms: { terms: [7], chunks: [1] } });
  await completeDocument(knowledge, { org, id });
  const record = { chunkId: `${id}:0`, documentId: id, ordinal: 0, tieBreaker: 0, sparse: { indices: [], values: [] }, metadata: {} };
  await createVectorStore({ database: db }).upsert({ org, collectionId, space: { model: 'bm25', dimension: 0 } }, [record]);
  await knowledge.embeddingCache.put(org, new Map([['ab'.repeat(32), Float32Array.of(1)]]));
}

/** Gives each organisation an event that is relayed and sent to no avail, and then stands in the outbox again. */
async function oneFailedDelivery(url: string, store: Store): Promise<void> {
  const dispatch = openDispatchStore({ databaseUrl: url, poolSize: 1 });
  try {
    for (const org of ['left', 'right']) {
      await store.webhooks.raiseWatermark(org, { subscriptions: '7' });
      await store.webhooks.insert(org, [{ id: uuidv7(), org, name: 'Webhook.Test', body: Buffer.from(`canary of ${org}`) }]);
    }
    const { deliveries } = await dispatch.takeOutbox(10, (events) => ({
      deliveries: events.map((event) => ({ event, subscriptionUid: `uid-${event.org}`, state: 'pending' as const, leaseMs: 60_000 })),
    }));
    await dispatch.record(
      deliveries.map(({ id, planned }) => ({
        deliveryId: id,
        org: planned.event.org,
        subscriptionUid: planned.subscriptionUid,
        seriesStart: 0,
        startedAt: Date.now(),
        durationMs: 1,
        succeeded: false,
        reason: 'timeout',
        message: `canary of ${planned.event.org}`,
        next: { state: 'failed' },
      })),
    );
    const owner = await session(url);
    await owner.query('INSERT INTO parley.outbox (event_id, org) SELECT event_id, org FROM parley.deliveries');
  } finally {
    await dispatch.close();
  }
}

const knowledgeTables = ['collections', 'documents', 'chunks', 'document_terms', 'term_frequencies', 'embedding_cache'] as const;
const vectorTables = ['vector_chunks', 'vector_collections', 'vector_postings'] as const;

const deliveryTables = [
  'events',
  'event_bodies',
  'outbox',
  'deliveries',
  'delivery_attempts',
  'webhook_endpoints',
  'webhook_watermarks',
] as const;
const callTables = [
  'calls',
  'call_agents',
  'call_messages',
  'call_turns',
  'call_tool_calls',
  'call_commands',
  'call_analyses',
  'call_usage',
  'agent_spending',
  'deleted_calls',
  'erasures',
  'dynamic_data_cache',
  'phone_routes',
  'number_claims',
] as const;

const tenantTables = [
  'organizations',
  'api_keys',
  'agent_revisions',
  'agent_serving',
  'agent_releases',
  'test_runs',
  'test_results',
  'tool_lists',
  'idempotent_requests',
  ...knowledgeTables,
  ...vectorTables,
  ...deliveryTables,
  ...callTables,
] as const;

async function asRole(url: string, role: string, org?: string): Promise<Client> {
  const client = await session(url);
  await client.query(`SET ROLE ${role}`);
  if (org !== undefined) await client.query("SELECT set_config('parley.org', $1, false)", [org]);
  return client;
}

async function count(client: Client, sql: string): Promise<number> {
  const { rows } = await client.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${sql}`);
  return rows[0]?.n ?? -1;
}

describe('every table that holds an organisation’s rows', () => {
  it('has row-level security enabled and forced, and a column that says whose a row is', async () => {
    const { url } = await freshStore();
    const client = await session(url);
    const { rows } = await client.query(`
      SELECT c.relname AS table, c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced
      FROM pg_class c WHERE c.relnamespace = 'parley'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND c.relname <> 'schema_migrations' ORDER BY 1`);
    // These tables are out of the reach of every query but a few functions, which know no organisation: the replicas count in them
    // together. The last is the dispatchers' alone.
    const all = [...tenantTables, 'rate_limits', 'signing_secret', 'voice_servers', 'webhook_names'].sort();
    expect(rows).toEqual(all.map((table) => ({ table, enabled: true, forced: true })));
  });

  it('loses them when the organisation leaves', async () => {
    const { url } = await freshStore();
    const { rows } = await (
      await session(url)
    ).query<{ name: string }>("SELECT tablename AS name FROM pg_policies WHERE schemaname = 'parley' AND policyname = 'leaving'");
    // `webhook_names` has a column `org` as well, out of the reach of every query of the roles.
    const all = [...tenantTables, 'webhook_names'];
    expect(
      rows
        .map(({ name }) => name)
        .filter((name) => !/^vector_(dense|graph)_/.test(name))
        .toSorted(),
    ).toEqual(all.toSorted());
  });

  it('is reached by no role through its partitions', async () => {
    const { url } = await freshStore();
    const { rows } = await (
      await session(url)
    ).query<{ name: string; held: boolean; reached: boolean }>(`
      SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS held,
        (SELECT bool_or(has_any_column_privilege(r.rolname, c.oid, 'SELECT, INSERT, UPDATE') OR has_table_privilege(r.rolname, c.oid, 'DELETE, TRUNCATE'))
         FROM pg_roles r WHERE r.rolname IN ('parley_app', 'parley_directory', 'parley_dispatcher')) AS reached
      FROM pg_class c WHERE c.relnamespace = 'parley'::regnamespace AND c.relkind = 'r' AND c.relispartition`);
    expect(rows.length).toBeGreaterThan(20);
    for (const { name, held, reached } of rows) expect({ name, held, reached }).toEqual({ name, held: true, reached: false });
  });

  it('is worked on by a role that can neither log in nor get round it', async () => {
    const { url } = await freshStore();
    const { rows } = await (
      await session(url)
    ).query(
      "SELECT rolname, rolcanlogin, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname IN ('parley_app', 'parley_directory', 'parley_dispatcher') ORDER BY 1",
    );
    const harmless = { rolcanlogin: false, rolsuper: false, rolbypassrls: false, rolcreaterole: false, rolcreatedb: false };
    expect(rows).toEqual([
      { rolname: 'parley_app', ...harmless },
      { rolname: 'parley_directory', ...harmless },
      { rolname: 'parley_dispatcher', ...harmless },
    ]);
  });
});

describe('parley_dispatcher', () => {
  it('sees of deliveries the rows of all organisations, and has no way to another table', async () => {
    const { url } = await twoOrganizations();
    const client = await asRole(url, 'parley_dispatcher', 'left');
    for (const table of deliveryTables) expect(await count(client, `parley.${table}`), table).toBe(2);
    for (const table of tenantTables.filter((one) => !(deliveryTables as readonly string[]).includes(one))) {
      for (const sql of [`SELECT FROM parley.${table}`, `DELETE FROM parley.${table}`, `INSERT INTO parley.${table} DEFAULT VALUES`]) {
        await expect(client.query(sql), sql).rejects.toMatchObject({ code: '42501' });
      }
    }
  });

  it('changes nothing of what happened, and deletes none of it', async () => {
    const { url } = await twoOrganizations();
    const client = await asRole(url, 'parley_dispatcher');
    for (const sql of [
      "UPDATE parley.events SET name = 'x'",
      "UPDATE parley.event_bodies SET body = ''",
      'DELETE FROM parley.events',
      'DELETE FROM parley.deliveries',
      'UPDATE parley.delivery_attempts SET succeeded = true',
      "UPDATE parley.deliveries SET org = 'right'",
    ]) {
      await expect(client.query(sql)).rejects.toMatchObject({ code: '42501' });
    }
  });
});

describe('parley_app', () => {
  it('sees of every table just its own organisation’s rows, whatever the SQL says, and none while no organisation is set', async () => {
    const { url } = await twoOrganizations();
    const client = await asRole(url, 'parley_app', 'left');
    const stranger = await asRole(url, 'parley_app');
    for (const table of tenantTables) {
      const whose = table === 'organizations' ? 'name' : 'org';
      expect(await count(client, `parley.${table}`), table).toBe(1);
      expect(await count(client, `parley.${table} WHERE ${whose} = 'right'`), table).toBe(0);
      expect(await count(client, `parley.${table} t WHERE true OR t.${whose} = 'right'`), table).toBe(1);
      expect(await count(client, `parley.${table} a FULL JOIN parley.${table} b ON true`), table).toBe(1);
      const { rows } = await client.query<{ all: string }>(`SELECT json_agg(t)::text AS all FROM parley.${table} t`);
      expect(rows[0]?.all, table).not.toContain('right');
      expect(await count(stranger, `parley.${table}`), table).toBe(0);
    }
    await stranger.query("SELECT set_config('parley.org', '', false)");
    for (const table of tenantTables) expect(await count(stranger, `parley.${table}`), table).toBe(0);
  });

  it('writes, changes and deletes nothing of another organisation', async () => {
    const { url, store } = await twoOrganizations();
    const client = await asRole(url, 'parley_app', 'left');
    const { rowCount: updated } = await client.query("UPDATE parley.api_keys SET revoked_at = now() WHERE org = 'right'");
    const { rowCount: deleted } = await client.query("DELETE FROM parley.agent_serving WHERE org = 'right'");
    expect([updated, deleted]).toEqual([0, 0]);
    for (const sql of [
      "INSERT INTO parley.organizations (name) VALUES ('third')",
      `INSERT INTO parley.agent_revisions (org, agent_name, revision, config) VALUES ('right', 'n', repeat('a', 64), '{}')`,
    ]) {
      await expect(client.query(sql)).rejects.toMatchObject({ code: '42501', message: expect.stringContaining('row-level security') });
    }
    const right = await store.apiKeys.list({ org: 'right', pageSize: 10 });
    expect(right.items.map(({ revoked }) => revoked)).toEqual([false]);
    expect(await store.agentRevisions.servingByName({ org: 'right', agentName: 'same-name' })).toBeDefined();
  });

  it('changes nothing that is written for good, and nothing of the schema', async () => {
    const { url } = await twoOrganizations();
    const client = await asRole(url, 'parley_app', 'left');
    const statements = [
      'UPDATE parley.agent_revisions SET config = config',
      "UPDATE parley.api_keys SET permissions = '{*}'",
      "UPDATE parley.api_keys SET org = 'right'",
      "UPDATE parley.agent_serving SET org = 'right'",
      'TRUNCATE parley.api_keys',
      'ALTER TABLE parley.api_keys DISABLE ROW LEVEL SECURITY',
      'DROP POLICY own_organization ON parley.api_keys',
      'CREATE TABLE parley.mine (id int)',
      'CREATE OR REPLACE FUNCTION parley.find_api_key(wanted text) RETURNS void LANGUAGE sql AS $$ SELECT $$',
      'INSERT INTO parley.schema_migrations VALUES (99, $$x$$, $$x$$)',
    ];
    for (const sql of statements) {
      const failure = await failureOf(client.query(sql));
      expect([sql, failure]).toMatchObject([sql, { code: '42501' }]);
    }
  });

  it('finds a key by its public part with no organisation set, one row at most, and can list none', async () => {
    const { url, store } = await twoOrganizations();
    const { apiKey } = await store.apiKeys.create({ org: 'right', name: 'found', permissions: [], expirationDays: 1 });
    const client = await asRole(url, 'parley_app', 'left');
    const { rows } = await client.query('SELECT name FROM parley.find_api_key($1)', [apiKey.slice(3, 11)]);
    expect(rows).toEqual([{ name: 'found' }]);
    for (const pattern of ['%', '', null])
      expect((await client.query('SELECT * FROM parley.find_api_key($1)', [pattern])).rows).toEqual([]);
  });

  it.each(['find_api_key', 'organization_of_call', 'organization_of_number', 'call_of_room'])(
    'asks the function %s, which no search_path can redirect',
    async (name) => {
      const { url } = await freshStore();
      const { rows } = await (
        await session(url)
      ).query(
        `SELECT proconfig AS config, prosecdef AS definer, proowner::regrole::text AS owner, proacl::text AS acl FROM pg_proc WHERE oid = 'parley.${name}(text)'::regprocedure`,
      );
      expect(rows).toEqual([
        {
          config: ['search_path=pg_catalog, pg_temp'],
          definer: true,
          owner: 'parley_directory',
          acl: '{parley_directory=X/parley_directory,parley_app=X/parley_directory}',
        },
      ]);
    },
  );
});

describe('parley_directory', () => {
  it('sees names of organisations and no content of any', async () => {
    const { url, store } = await twoOrganizations();
    expect((await store.organizations.list()).map(({ name }) => name)).toEqual(['left', 'right']);
    expect(await store.organizations.list({ after: 'left', limit: 1 })).toMatchObject([{ name: 'right' }]);
    const client = await asRole(url, 'parley_directory', 'left');
    for (const table of ['agent_revisions', 'agent_serving']) {
      await expect(client.query(`SELECT * FROM parley.${table}`)).rejects.toMatchObject({ code: '42501' });
    }
    await expect(client.query("UPDATE parley.organizations SET display_name = 'x'")).rejects.toMatchObject({ code: '42501' });
  });

  it('sees where calls are and when they were heard of, and nothing of what they are about', async () => {
    const { url } = await twoOrganizations();
    const client = await asRole(url, 'parley_directory');
    const { rows } = await client.query('SELECT org, status FROM parley.calls ORDER BY org');
    expect(rows).toEqual([
      { org: 'left', status: 'registered' },
      { org: 'right', status: 'registered' },
    ]);
    for (const column of ['metadata', 'dynamic_data', 'from_number', 'agent_name', 'recording_key'])
      await expect(client.query(`SELECT ${column} FROM parley.calls`)).rejects.toMatchObject({ code: '42501' });
    for (const column of ['name', 'inbound_agent', 'outbound_trunk'])
      await expect(client.query(`SELECT ${column} FROM parley.phone_routes`)).rejects.toMatchObject({ code: '42501' });
    await expect(client.query('SELECT FROM parley.call_messages')).rejects.toMatchObject({ code: '42501' });
    await expect(client.query("UPDATE parley.calls SET status = 'ended'")).rejects.toMatchObject({ code: '42501' });
  });
});

describe('a session of the pool', () => {
  it('comes back to parley_app after RESET ROLE, and after a transaction has no organisation', async () => {
    const { url } = await twoOrganizations();
    const pool = new Database({ databaseUrl: url, poolSize: 1 });
    try {
      const seen = await pool.asOrganization('left', async (transaction) => {
        await transaction.query('RESET ROLE');
        return (
          await transaction.query<{ role: string; org: string }>("SELECT current_user::text AS role, current_setting('parley.org') AS org")
        ).rows;
      });
      expect(seen).toEqual([{ role: 'parley_app', org: 'left' }]);
      expect(await pool.query("SELECT current_user::text AS role, coalesce(current_setting('parley.org', true), '') AS org")).toEqual([
        { role: 'parley_app', org: '' },
      ]);
      await pool.asDirectory((transaction) => transaction.query('SELECT 1'));
      expect(await pool.query('SELECT current_user::text AS role')).toEqual([{ role: 'parley_app' }]);
    } finally {
      await pool.close();
    }
  });

  it('leaves no organisation behind when the work fails', async () => {
    const { url } = await twoOrganizations();
    const pool = new Database({ databaseUrl: url, poolSize: 1 });
    try {
      expect(await failureOf(pool.asOrganization('left', (transaction) => transaction.query('SELECT 1/0')))).toMatchObject({
        kind: 'invalid',
      });
      expect(await pool.query('SELECT count(*)::int AS n FROM parley.organizations')).toEqual([{ n: 0 }]);
    } finally {
      await pool.close();
    }
  });

  it('takes an organisation’s name as a value, never as SQL', async () => {
    const { store } = await twoOrganizations();
    for (const org of ["left'; SET ROLE none; --", "left' OR '1'='1", '', 'LEFT', 'left\u0000', 'a'.repeat(64)]) {
      expect(await failureOf((async () => store.apiKeys.list({ org, pageSize: 10 }))())).toMatchObject({ kind: 'invalid' });
    }
  });

  it('keeps the role when the address brings options of its own', async () => {
    const { url } = await twoOrganizations();
    const address = new URL(url);
    address.searchParams.set('options', '-c role=none -c work_mem=5MB');
    const pool = new Database({ databaseUrl: address.href });
    try {
      expect(await pool.query("SELECT current_user::text AS role, current_setting('work_mem') AS memory")).toEqual([
        { role: 'parley_app', memory: '5MB' },
      ]);
    } finally {
      await pool.close();
    }
  });

  it('is refused when the role has been made able to bypass row-level security', async () => {
    const { url } = await migratedDatabase();
    const admin = await session(url);
    // Other tests of this server share the roles: they change inside a transaction that never commits, where only this session sees it.
    await admin.query('BEGIN');
    await admin.query('ALTER ROLE parley_app BYPASSRLS');
    const { inspectRole, requireHarmlessRole } = await import('../../../store/roles.ts');
    await admin.query('SET LOCAL ROLE parley_app');
    const facts = await inspectRole(admin);
    await admin.query('ROLLBACK');
    expect(() => requireHarmlessRole(facts, 'parley_app')).toThrow(/not held by row-level security/);
    const login = await inspectRole(admin);
    expect(() => requireHarmlessRole(login, 'parley_app')).toThrow(/runs as "parley"/);
  });
});

async function dedicatedUser(): Promise<string> {
  const { url } = await twoOrganizations();
  return loginUser(url, ['GRANT parley_app TO $user WITH INHERIT FALSE, SET TRUE']);
}

describe('a login user that is a member of parley_app and nothing else', () => {
  it('is enough for the api', async () => {
    const url = await dedicatedUser();
    const store = storeAt(url);
    await store.health();
    const { apiKey, record } = await store.apiKeys.create({ org: 'left', name: 'second', permissions: ['agents:read'], expirationDays: 1 });
    expect(await store.apiKeys.authenticate(apiKey)).toMatchObject({ outcome: 'ok' });
    expect(await store.apiKeys.get({ org: 'right', keyId: record.keyId })).toBeUndefined();
    expect(await failureOf(store.organizations.list())).toMatchObject({ kind: 'refused' });
  });

  it('gets no further by giving the role up', async () => {
    const client = await session(await dedicatedUser());
    for (const wayOut of ['RESET ROLE', 'SET ROLE NONE', 'SET SESSION AUTHORIZATION DEFAULT', 'DISCARD ALL']) {
      await client.query('SET ROLE parley_app');
      await client.query(wayOut);
      for (const table of tenantTables) {
        const failure = await failureOf(client.query(`SELECT * FROM parley.${table}`));
        expect([wayOut, failure]).toMatchObject([wayOut, { code: '42501' }]);
      }
    }
    // This one leaves the role where it is, and takes the organisation away.
    await client.query("SET ROLE parley_app; SET parley.org = 'left'");
    await client.query('RESET ALL');
    for (const table of tenantTables) expect(await count(client, `parley.${table}`)).toBe(0);
    for (const role of ['parley', 'parley_directory', 'pg_read_all_data']) {
      await expect(client.query(`SET ROLE ${role}`)).rejects.toMatchObject({ code: '42501' });
    }
    for (const sql of ['SET row_security = off', 'SET ROLE parley_app']) await client.query(sql);
    // With row_security off Postgres refuses what a policy would have filtered.
    await expect(client.query('SELECT * FROM parley.api_keys')).rejects.toMatchObject({ code: '42501' });
  });

  it('is turned away with the grant to make when it lacks the role', async () => {
    const { url } = await twoOrganizations();
    const stranger = openStore({ databaseUrl: await loginUser(url, []) });
    expect(await failureOf(stranger.health())).toMatchObject({ kind: 'refused', message: expect.stringContaining('parley_app') });
    await stranger.close();
  });
});

describe('an organisation that leaves', () => {
  const everyTable = [...tenantTables, 'webhook_names'].filter((table) => table !== 'organizations');
  const rowsOf = async (url: string, org: string): Promise<readonly number[]> => {
    const client = await session(url);
    const counts = [await count(client, `parley.organizations WHERE name = '${org}'`)];
    for (const table of everyTable) counts.push(await count(client, `parley.${table} WHERE org = '${org}'`));
    return counts;
  };

  it('takes all of its rows along and none of another, also when it is asked to twice', async () => {
    const { url } = await twoOrganizations();
    // The tables belong to no superuser: row-level security holds for their owner, too.
    const owner = await loginUser(url, ['GRANT parley_app, parley_directory, parley_dispatcher TO $user']);
    const name = new URL(owner).username;
    const admin = await session(url);
    await admin.query(`DO $$ DECLARE t text; BEGIN
      FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'parley'::regnamespace AND relkind IN ('r', 'p') LOOP
        EXECUTE format('ALTER TABLE parley.%I OWNER TO ${name}', t);
      END LOOP;
      FOR t IN SELECT relname FROM pg_policy JOIN pg_class c ON c.oid = polrelid WHERE polname = 'leaving' LOOP
        EXECUTE format('ALTER POLICY leaving ON parley.%I TO ${name}', t);
      END LOOP;
    END $$`);
    await admin.query(`GRANT USAGE ON SCHEMA parley TO ${name}`);
    await admin.query(
      "INSERT INTO parley.webhook_names SELECT org, 'Agent', 'same-name', 'uid-' || org FROM unnest('{left,right}'::text[]) AS orgs (org)",
    );
    const others = await rowsOf(url, 'right');
    expect(others.every((rows) => rows > 0)).toBe(true);

    const { tables, liveCalls } = await countOrganizationRows({ databaseUrl: owner, org: 'left' });
    expect(Object.keys(tables).toSorted()).toEqual([...everyTable, 'organizations'].toSorted());
    expect(liveCalls).toBe(1);
    await revokeOrganizationKeys({ databaseUrl: owner, org: 'left' });
    for (let time = 0; time < 2; time += 1) await removeOrganizationRows({ databaseUrl: owner, org: 'left' }, () => undefined);
    expect(new Set(await rowsOf(url, 'left'))).toEqual(new Set([0]));
    expect(await rowsOf(url, 'right')).toEqual(others);
  });

  it('can be removed only by the owner of the tables', async () => {
    const { url } = await twoOrganizations();
    const stranger = await loginUser(url, ['GRANT parley_app TO $user']);
    expect(await failureOf(removeOrganizationRows({ databaseUrl: stranger, org: 'left' }, () => undefined))).toMatchObject({
      kind: 'refused',
    });
  });
});
