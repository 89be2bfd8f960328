/** Rows of one organisation come back by a user who owns the tables and is no superuser: row-level security holds for him, too. */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import { expect, it } from 'vitest';

import { bringBackRows, migrate, removeOrganizationRows, saveRows, type RowsOfTable } from '../../../store/index.ts';
import { database, migratedDatabase } from '../../support/postgres.ts';
import { query } from '../../support/sql.ts';
import { storeAt } from './support.ts';

it('brings rows back into tables of vectors that are gone, numbers what comes later, and does in a dry run what it says', async () => {
  const { url } = await database();
  const owner = await ownerOf(url);
  await migrate({ databaseUrl: owner });
  for (const org of ['acme', 'globex']) await fill(url, owner, org);
  const tables: RowsOfTable[] = [];
  await saveRows({ databaseUrl: url, organizations: undefined }, async (saved) => {
    for (const { name, columns, rows } of saved.tables) {
      const content = await buffer(rows());
      tables.push({ name, columns, rows: () => Readable.from([content]) });
    }
  });
  await removeOrganizationRows({ databaseUrl: owner, org: 'acme' }, () => undefined);
  await query(url, 'DROP TABLE parley.vector_dense_3');
  await query(url, 'ALTER TABLE parley.agent_releases ALTER COLUMN id RESTART');

  const bring = (more: { readonly dryRun?: boolean; readonly replace?: boolean } = {}) =>
    bringBackRows({
      databaseUrl: owner,
      org: 'acme',
      part: { kind: 'organization' },
      tables,
      replace: false,
      dryRun: false,
      onTable: () => undefined,
      beforeCommit: () => Promise.resolve(),
      signal: new AbortController().signal,
      ...more,
    });
  const dry = await bring({ dryRun: true });
  expect(await query(url, "SELECT FROM parley.organizations WHERE name = 'acme'")).toEqual([]);
  expect(await bring()).toEqual(dry);
  expect(dry).toMatchObject({ organizations: 1, api_keys: 1, collections: 1, agent_releases: 1, vector_dense_3: 1 });
  expect(Object.keys(dry).filter((name) => name.startsWith('vector_graph_'))).toHaveLength(1);
  await expect(bring()).rejects.toMatchObject({ kind: 'conflict' });
  expect(await bring({ replace: true })).toEqual(dry);
  expect(await query(url, 'SELECT org FROM parley.api_keys ORDER BY org')).toEqual([{ org: 'acme' }, { org: 'globex' }]);
  await release(url, 'acme');
  expect(await query(url, "SELECT FROM parley.agent_releases WHERE org = 'acme'")).toHaveLength(2);
});

/** @returns the address of a user who is to own the tables */
async function ownerOf(url: string): Promise<string> {
  const name = `owner_${randomBytes(6).toString('hex')}`;
  const address = new URL(url);
  // The roles are of the whole server, and made with the first migration.
  await migratedDatabase();
  await query(url, `CREATE ROLE ${name} LOGIN PASSWORD 'secret'`);
  await query(url, `GRANT CREATE ON DATABASE ${address.pathname.slice(1)} TO ${name}`);
  await query(url, 'CREATE EXTENSION IF NOT EXISTS vector');
  for (const role of ['parley_app', 'parley_directory', 'parley_dispatcher'])
    await query(url, `GRANT ${role} TO ${name} WITH INHERIT FALSE, SET TRUE`);
  return Object.assign(address, { username: name, password: 'secret' }).href;
}

const release = (url: string, org: string): Promise<unknown> =>
  query(url, "INSERT INTO parley.agent_releases (org, agent_name, change, revision) VALUES ($1, 'a', 'served', repeat('a', 64))", [org]);

async function fill(url: string, owner: string, org: string): Promise<void> {
  const store = storeAt(owner);
  await store.organizations.create({ name: org });
  await store.apiKeys.create({ org, name: 'one', permissions: ['*'], expirationDays: 30 });
  const spec = { language: 'en', maxTokens: 400, overlapTokens: 50, profile: 'default', model: 'm', dimension: 3 };
  const { id } = await store.knowledge.collections.ensure({ org, name: 'manuals', uid: `of ${org}`, ...spec });
  await release(url, org);
  await query(url, 'SELECT parley.prepare_dense_vectors(3)');
  const [made] = await query<{ graph: string }>(
    url,
    "SELECT parley.make_vector_graph($2, 3) AS graph FROM (SELECT set_config('parley.org', $1, false)) AS named",
    [org, id],
  );
  await query(url, 'INSERT INTO parley.vector_collections (org, collection_id, next_number, graph) VALUES ($1, $2, 2, $3)', [
    org,
    id,
    made?.graph,
  ]);
  for (const table of ['vector_dense_3', made?.graph])
    await query(url, `INSERT INTO parley.${table} (org, collection_id, number, embedding) VALUES ($1, $2, 1, '[1,2,3]')`, [org, id]);
}
