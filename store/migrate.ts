/** Brings a database to the schema of this code: forward only, each migration in a transaction of its own. */
import type { Client } from 'pg';

import { StoreError, toStoreError } from './error.ts';
import { readMigrations, type Migration } from './migration-files.ts';
import { ensureRoles } from './roles.ts';
import { withClient } from './with-client.ts';

/** Key of the one lock per database, so that two versions that start at once apply a migration once. Any constant does. */
const ADVISORY_LOCK = '7286093817240061';
const APPLICATION_NAME = 'parley migrate';

export interface MigrateOptions {
  readonly databaseUrl: string;
  /** The migrations of this code by default. */
  readonly migrations?: readonly Migration[] | undefined;
  /** Longest wait for another process that migrates, in milliseconds; 60,000 by default. */
  readonly lockTimeoutMs?: number | undefined;
}

interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly appliedAt: Date;
}

export interface MigrationStatus {
  readonly applied: readonly AppliedMigration[];
  /** Names of missing migrations, in the order in which they would be applied. */
  readonly pending: readonly string[];
}

/**
 * Applies the missing migrations and returns their names. Safe to run from several processes at once and to run again.
 *
 * @throws StoreError `refused` when an applied migration was edited, or the database is newer than this code: nothing is changed then
 */
export async function migrate(options: MigrateOptions): Promise<{ readonly applied: readonly string[] }> {
  const migrations = options.migrations ?? readMigrations();
  return withClient({ databaseUrl: options.databaseUrl, applicationName: APPLICATION_NAME }, async (client) => {
    await client.query(`SET lock_timeout = ${Math.trunc(options.lockTimeoutMs ?? 60_000)}`);
    // The lock ends with the session, so that a process that dies here leaves nothing behind.
    await client.query('SELECT pg_advisory_lock($1::bigint)', [ADVISORY_LOCK]);
    // A migration waits less for a table that is in use: everything else would queue up behind it.
    await client.query("SET lock_timeout = '10s'");
    await prepare(client);
    const done = await readApplied(client);
    requireSameHistory(done, migrations);
    const pending = migrations.slice(done.length);
    for (const migration of pending) await apply(client, migration);
    await makeTablesOfEvents(client);
    return { applied: pending.map(({ name }) => name) };
  });
}

/** Makes the tables of events for the coming weeks, for a database whose housekeeping has not run for long; drops none. */
async function makeTablesOfEvents(client: Client): Promise<void> {
  const { rows } = await client.query<{ there: boolean }>(
    "SELECT to_regprocedure('parley.maintain_event_partitions(interval, interval)') IS NOT NULL AS there",
  );
  if (rows[0]?.there === true) await client.query("SELECT parley.maintain_event_partitions('100 years', '100 years')");
}

/** Returns the applied and the missing migrations; read-only. */
export async function migrationStatus(options: Pick<MigrateOptions, 'databaseUrl' | 'migrations'>): Promise<MigrationStatus> {
  const migrations = options.migrations ?? readMigrations();
  return withClient({ databaseUrl: options.databaseUrl, applicationName: APPLICATION_NAME }, async (client) => {
    const { rows } = await client.query<{ there: boolean }>("SELECT to_regclass('parley.schema_migrations') IS NOT NULL AS there");
    const applied = rows[0]?.there === true ? await readApplied(client) : [];
    requireSameHistory(applied, migrations);
    return { applied, pending: migrations.slice(applied.length).map(({ name }) => name) };
  });
}

async function prepare(client: Client): Promise<void> {
  await ensureRoles(client);
  // This comes first: a user who may not create schemas can still work in one that was made for it.
  const { rows } = await client.query<{ there: boolean }>("SELECT to_regnamespace('parley') IS NOT NULL AS there");
  if (rows[0]?.there !== true) await client.query('CREATE SCHEMA parley');
  await client.query(`
    CREATE TABLE IF NOT EXISTS parley.schema_migrations (
      version integer PRIMARY KEY,
      name text NOT NULL UNIQUE,
      checksum text NOT NULL,
      applied_at timestamptz(3) NOT NULL DEFAULT now()
    )`);
}

async function readApplied(client: Client): Promise<readonly AppliedMigration[]> {
  const { rows } = await client.query<{ version: number; name: string; checksum: string; applied_at: Date }>(
    'SELECT version, name, checksum, applied_at FROM parley.schema_migrations ORDER BY version',
  );
  return rows.map(({ version, name, checksum, applied_at: appliedAt }) => ({ version, name, checksum, appliedAt }));
}

/** The applied migrations must be the first ones of the code, unchanged. */
function requireSameHistory(applied: readonly AppliedMigration[], migrations: readonly Migration[]): void {
  applied.forEach((done, index) => {
    const ours = migrations[index];
    if (ours === undefined) {
      throw new StoreError(
        'refused',
        `the database is newer than this parley: it has migration ${done.name}, and this code ends at ${migrations.at(-1)?.name ?? 'none'}. Run a parley that knows it`,
      );
    }
    if (ours.name !== done.name) {
      throw new StoreError(
        'refused',
        `the database has migration ${done.name} where this code has ${ours.name}: they come from different histories`,
      );
    }
    if (ours.checksum !== done.checksum) {
      throw new StoreError(
        'refused',
        `migration ${done.name} was edited after it had been applied on ${done.appliedAt.toISOString()}: restore its text and put the change into a new migration`,
      );
    }
  });
}

async function apply(client: Client, migration: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(migration.sql);
    await client.query('INSERT INTO parley.schema_migrations (version, name, checksum) VALUES ($1, $2, $3)', [
      migration.version,
      migration.name,
      migration.checksum,
    ]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    const failure = toStoreError(error);
    throw new StoreError(failure.kind, `migration ${migration.name} failed and was rolled back: ${failure.message}`, {
      sqlState: failure.sqlState,
    });
  }
}
