import { createHash } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { migrate, migrationStatus, openStore } from '../../../store/index.ts';
import { readMigrations, type Migration } from '../../../store/migration-files.ts';
import { database } from '../../support/postgres.ts';
import { failureOf, loginUser, session, storeAt } from './support.ts';

function migration(version: number, sql: string, what = 'step'): Migration {
  return { version, name: `${String(version).padStart(4, '0')}_${what}`, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}

describe('migrate', () => {
  it('applies every migration to an empty database, and nothing the second time', async () => {
    const { url } = await database();
    const names = readMigrations().map(({ name }) => name);
    expect(await migrationStatus({ databaseUrl: url })).toEqual({ applied: [], pending: names });
    expect(await migrate({ databaseUrl: url })).toEqual({ applied: names });
    expect(await migrate({ databaseUrl: url })).toEqual({ applied: [] });
    const { applied, pending } = await migrationStatus({ databaseUrl: url });
    expect([applied.map(({ name }) => name), pending]).toEqual([names, []]);
  });

  it('applies each migration once when six processes start together', async () => {
    const { url } = await database();
    const results = await Promise.all(Array.from({ length: 6 }, () => migrate({ databaseUrl: url })));
    expect(results.map(({ applied }) => applied.length).sort((a, b) => a - b)).toEqual([0, 0, 0, 0, 0, readMigrations().length]);
  });

  it('works in several databases of one server at once, whose roles are shared', async () => {
    const urls = await Promise.all(Array.from({ length: 4 }, async () => (await database()).url));
    const results = await Promise.all(urls.map((databaseUrl) => migrate({ databaseUrl })));
    for (const { applied } of results) expect(applied).toHaveLength(readMigrations().length);
  });

  it('rolls a failing migration back whole, keeps those before it, and goes on from there once it is mended', async () => {
    const { url } = await database();
    const first = migration(1, 'CREATE TABLE parley.one (id int)');
    const broken = migration(2, 'CREATE TABLE parley.two (id int); SELECT 1/0');
    expect(await failureOf(migrate({ databaseUrl: url, migrations: [first, broken] }))).toMatchObject({
      message: expect.stringMatching(/0002_step failed and was rolled back.*division by zero/),
    });
    const mended = migration(2, 'CREATE TABLE parley.two (id int)');
    expect(await migrationStatus({ databaseUrl: url, migrations: [first, mended] })).toMatchObject({ pending: ['0002_step'] });
    expect(await migrate({ databaseUrl: url, migrations: [first, mended] })).toEqual({ applied: ['0002_step'] });
  });

  it('refuses a database with an edited migration, by its name, and applies nothing', async () => {
    const { url } = await database();
    const first = migration(1, 'CREATE TABLE parley.one (id int)', 'first');
    await migrate({ databaseUrl: url, migrations: [first] });
    const edited = migration(1, 'CREATE TABLE parley.one (id bigint)', 'first');
    const next = migration(2, 'CREATE TABLE parley.two (id int)');
    for (const attempt of [migrate, migrationStatus]) {
      expect(await failureOf(attempt({ databaseUrl: url, migrations: [edited, next] }))).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('0001_first was edited'),
      });
    }
    const { rows } = await (await session(url)).query("SELECT to_regclass('parley.two') AS two");
    expect(rows).toEqual([{ two: null }]);
  });

  it('refuses a database that is newer than the code, and one of another history', async () => {
    const { url } = await database();
    const first = migration(1, 'SELECT 1', 'first');
    await migrate({ databaseUrl: url, migrations: [first, migration(2, 'SELECT 2', 'second')] });
    expect(await failureOf(migrate({ databaseUrl: url, migrations: [first] }))).toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/newer than this parley.*0002_second.*0001_first/),
    });
    expect(await failureOf(migrate({ databaseUrl: url, migrations: [first, migration(2, 'SELECT 2', 'other')] }))).toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/0002_second where this code has 0002_other/),
    });
  });

  it('is not blocked by a session that died while it held the lock', async () => {
    const { url } = await database();
    const other = await session(url);
    await other.query('SELECT pg_advisory_lock(7286093817240061)');
    const waited = await failureOf(migrate({ databaseUrl: url, lockTimeoutMs: 200 }));
    expect(waited).toMatchObject({ kind: 'unavailable', retryable: true });
    await other.end();
    expect((await migrate({ databaseUrl: url })).applied).toHaveLength(readMigrations().length);
  });

  it('needs no superuser, only a user who owns the database and may make roles', async () => {
    const { url } = await database();
    const name = new URL(url).pathname.slice(1);
    // The roles may be there already, made by another user: then a superuser has to grant them.
    await migrate({ databaseUrl: (await database()).url });
    const owner = await loginUser(url, [`ALTER DATABASE ${name} OWNER TO $user`]);
    expect(await failureOf(migrate({ databaseUrl: owner }))).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('GRANT parley_app TO'),
    });
    const user = new URL(owner).username;
    const admin = await session(url);
    await admin.query(`GRANT parley_app, parley_directory, parley_dispatcher TO ${user} WITH INHERIT FALSE, SET TRUE`);
    expect(await failureOf(migrate({ databaseUrl: owner }))).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('let a superuser run `CREATE EXTENSION vector` in the database'),
    });
    await admin.query('CREATE EXTENSION vector');
    await migrate({ databaseUrl: owner });
    expect((await migrationStatus({ databaseUrl: owner })).pending).toEqual([]);

    const store = storeAt(owner);
    await store.health();
    await store.organizations.create({ name: 'acme' });
    const { apiKey } = await store.apiKeys.create({ org: 'acme', name: 'first', permissions: ['*'], expirationDays: 1 });
    expect(await store.apiKeys.authenticate(apiKey)).toMatchObject({ outcome: 'ok', record: { org: 'acme' } });
    expect(await store.organizations.list()).toHaveLength(1);
    // The tables have FORCE: not even their owner sees a row.
    const { rows } = await (
      await session(owner)
    ).query('SELECT (SELECT count(*) FROM parley.api_keys) AS keys, (SELECT count(*) FROM parley.organizations) AS orgs');
    expect(rows).toEqual([{ keys: '0', orgs: '0' }]);
  });
});

const healthOf = (databaseUrl: string): Promise<unknown> => failureOf(storeAt(databaseUrl, { retryForMs: 0 }).health());

describe('health', () => {
  it('asks for the migrations before there are any, and when some are missing', async () => {
    const { url } = await database();
    const store = storeAt(url);
    expect(await failureOf(store.health())).toMatchObject({ kind: 'schema', message: expect.stringContaining('parley migrate') });
    await migrate({ databaseUrl: url });
    await store.health();
    await (await session(url)).query('DELETE FROM parley.schema_migrations');
    expect(await failureOf(store.health())).toMatchObject({
      kind: 'schema',
      message: expect.stringContaining(readMigrations().at(-1)?.name ?? '-'),
    });
  });

  it('is content with a database that is newer, as during an upgrade', async () => {
    const { url } = await database();
    await migrate({ databaseUrl: url });
    await (await session(url)).query("INSERT INTO parley.schema_migrations VALUES (9999, '9999_later', '')");
    await expect(storeAt(url).health()).resolves.toBeUndefined();
  });

  it('says what is wrong with an address that leads nowhere', async () => {
    const { url } = await database();
    const wrong = (change: (address: URL) => void): string => {
      const address = new URL(url);
      change(address);
      return address.href;
    };
    expect(await healthOf(wrong((address) => (address.port = '1')))).toMatchObject({ kind: 'unavailable', retryable: true });
    expect(await healthOf(wrong((address) => (address.password = 'wrong')))).toMatchObject({ kind: 'refused', retryable: false });
    expect(await healthOf(wrong((address) => (address.pathname = '/nowhere')))).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('does not exist'),
    });
    expect(() => openStore({ databaseUrl: 'postgres://user:p%word@[' })).toThrow(/DATABASE_URL/);
  });
});
