/** Checks Postgres with the configuration of this shell. */
import { Client } from 'pg';

import { maskUrl } from '../../platform/masking.ts';
import { migrationStatus } from '../../store/index.ts';
import { type Finding, findingsOf } from './finding.ts';

const OLDEST_POSTGRES = 160_000;
/** Parley's statements run as these roles; see docs/adr/0003-row-level-security.md. */
const databaseRoles = ['parley_app', 'parley_directory', 'parley_dispatcher'];

interface Server {
  readonly number: string;
  readonly version: string;
  readonly standby: boolean;
  readonly vector: string | null;
  readonly vector_offered: string | null;
  readonly connections: number;
  readonly most: number;
  readonly epoch_ms: number;
}

export interface PostgresOptions {
  readonly databaseUrl: string | undefined;
  readonly poolSize: number;
  /** Called with the server's clock in milliseconds since the epoch, and with this machine's before and after the request. */
  readonly onClock: (reading: ClockReading) => void;
}

export interface ClockReading {
  readonly of: string;
  readonly at: number;
  readonly asked: number;
  readonly answered: number;
  /** Precision of the clock, in milliseconds. */
  readonly step: number;
}

export async function* checkPostgres({ databaseUrl, poolSize, onClock }: PostgresOptions): AsyncGenerator<Finding> {
  const postgres = findingsOf('postgres');
  if (databaseUrl === undefined) {
    yield postgres.fail(
      'DATABASE_URL is not set',
      'export DATABASE_URL=postgres://user:password@host:5432/database; with the local stack: eval "$(parley env)"',
    );
    return;
  }
  const shown = maskUrl(databaseUrl);
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000, application_name: 'parley doctor' });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    yield postgres.fail(
      `${shown}: ${(error as Error).message}`,
      'is the server running, and are the address and the password in DATABASE_URL right?',
    );
    return;
  }
  try {
    const asked = Date.now();
    const { rows } = await client.query<Server>(`
      select current_setting('server_version_num') as number, current_setting('server_version') as version, pg_is_in_recovery() as standby,
        (select extversion from pg_extension where extname = 'vector') as vector,
        (select default_version from pg_available_extensions where name = 'vector') as vector_offered,
        (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
        (extract(epoch from clock_timestamp()) * 1000)::float8 as epoch_ms`);
    const [row] = rows;
    if (row === undefined) return;
    onClock({ of: 'Postgres', at: row.epoch_ms, asked, answered: Date.now(), step: 1 });
    yield checkServer(row, shown);
    yield checkVector(row);
    yield await checkRoles(client);
    yield checkConnections(row, poolSize);
  } catch (error) {
    yield postgres.fail(`${shown}: ${(error as Error).message}`, 'is it Postgres itself, or a proxy that passes everything on?');
    return;
  } finally {
    await client.end().catch(() => undefined);
  }
  yield await checkMigrations(databaseUrl);
}

function checkServer(row: Server, shown: string): Finding {
  const postgres = findingsOf('postgres');
  if (Number(row.number) < OLDEST_POSTGRES) return postgres.fail(`${shown} is version ${row.version}`, 'use Postgres 16 or newer');
  if (row.standby) return postgres.fail(`${shown} is a standby: nothing can be written there`, 'let DATABASE_URL name the primary server');
  return postgres.ok(`${shown}, version ${row.version}`);
}

function checkVector(row: Server): Finding {
  const pgvector = findingsOf('pgvector');
  if (row.vector !== null) return pgvector.ok(`version ${row.vector}`);
  if (row.vector_offered !== null) return pgvector.ok(`version ${row.vector_offered} is there to be installed`);
  return pgvector.fail(
    'the server does not have it',
    "install the extension's package on the database server (postgresql-<version>-pgvector)",
  );
}

async function checkRoles(client: Client): Promise<Finding> {
  const roles = findingsOf('database-roles');
  const { rows } = await client.query<{ name: string; free: boolean; may: boolean }>(
    "select rolname as name, rolsuper or rolbypassrls as free, pg_has_role(current_user, oid, 'SET') as may from pg_roles where rolname = any ($1)",
    [databaseRoles],
  );
  const missing = databaseRoles.filter((name) => !rows.some((row) => row.name === name));
  if (missing.length > 0) return roles.fail(`missing: ${missing.join(', ')}`, 'parley migrate makes them');
  const free = rows.filter((row) => row.free).map(({ name }) => name);
  if (free.length > 0)
    return roles.fail(
      `${free.join(', ')} would see the rows of every organisation`,
      `let a superuser run: ALTER ROLE ${free[0] ?? ''} NOSUPERUSER NOBYPASSRLS`,
    );
  const closed = rows.filter((row) => !row.may).map(({ name }) => name);
  if (closed.length > 0)
    return roles.fail(
      `the user in DATABASE_URL may not become ${closed.join(', ')}`,
      `let a superuser run: GRANT ${closed.join(', ')} TO <that user> WITH INHERIT FALSE, SET TRUE`,
    );
  return roles.ok(`${rows.length}, all held by row-level security`);
}

function checkConnections({ connections, most }: Server, poolSize: number): Finding {
  const findings = findingsOf('database-connections');
  const detail = `${connections} of ${most} in use, ${poolSize} for each process of Parley`;
  if (most - connections >= 2 * poolSize) return findings.ok(detail);
  return findings.warn(detail, 'raise max_connections, put a pooler in front, or lower PARLEY_DATABASE_POOL: docs/operations/scaling.md');
}

async function checkMigrations(databaseUrl: string): Promise<Finding> {
  const migrations = findingsOf('migrations');
  try {
    const { applied, pending } = await migrationStatus({ databaseUrl });
    return pending.length === 0
      ? migrations.ok(`${applied.length} applied, none is missing`)
      : migrations.fail(`missing: ${pending.join(', ')}`, 'parley migrate');
  } catch (error) {
    return migrations.fail((error as Error).message, 'use the version of Parley that this database was migrated with, or a newer one');
  }
}
