/** Postgres and Temporal, with the configuration of this shell. */
import { Client } from 'pg';

import { maskUrl } from '../../../platform/masking.ts';
import { migrationStatus } from '../../../store/index.ts';
import { fail, type Finding, ok } from './finding.ts';
import { reachable } from './reachable.ts';

const oldestPostgres = 160_000;

export async function* checkPostgres(databaseUrl: string | undefined): AsyncGenerator<Finding> {
  if (databaseUrl === undefined) {
    yield fail(
      'Postgres',
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
    yield fail(
      'Postgres',
      `${shown}: ${(error as Error).message}`,
      'is the server running, and are the address and the password in DATABASE_URL right?',
    );
    return;
  }
  try {
    const { rows } = await client.query<{ number: string; version: string; vector: string | null; vector_offered: string | null }>(`
      select current_setting('server_version_num') as number, current_setting('server_version') as version,
        (select extversion from pg_extension where extname = 'vector') as vector,
        (select default_version from pg_available_extensions where name = 'vector') as vector_offered`);
    const [row] = rows;
    yield row !== undefined && Number(row.number) >= oldestPostgres
      ? ok('Postgres', `${shown}, version ${row.version}`)
      : fail('Postgres', `${shown} is version ${row?.version ?? 'unknown'}`, 'use Postgres 16 or newer');
    if (row?.vector) yield ok('pgvector', `version ${row.vector}`);
    else if (row?.vector_offered) yield ok('pgvector', `version ${row.vector_offered} is there to be installed`);
    else
      yield fail(
        'pgvector',
        'the server does not have it',
        "install the extension's package on the database server (postgresql-<version>-pgvector)",
      );
  } finally {
    await client.end();
  }
  try {
    const { applied, pending } = await migrationStatus({ databaseUrl });
    yield pending.length === 0
      ? ok('migrations', `${applied.length} applied, none is missing`)
      : fail('migrations', `missing: ${pending.join(', ')}`, 'parley migrate');
  } catch (error) {
    yield fail('migrations', (error as Error).message, 'use the version of Parley that this database was migrated with, or a newer one');
  }
}

export async function checkTemporal(address: string, namespace: string): Promise<Finding> {
  if (!(await reachable(address))) return fail('Temporal', `${address} can't be reached`, 'is it running, and is TEMPORAL_ADDRESS right?');
  const { Connection } = await import('@temporalio/client');
  try {
    const connection = await Connection.connect({ address, connectTimeout: 10_000 });
    try {
      await connection.workflowService.describeNamespace({ namespace });
      return ok('Temporal', `${address}, namespace ${namespace}`);
    } finally {
      await connection.close();
    }
  } catch (error) {
    const reason = (error as Error).message;
    if (/not ?found/i.test(reason))
      return fail(
        'Temporal',
        `${address} has no namespace ${namespace}`,
        `temporal operator namespace create --address ${address} ${namespace}, or set TEMPORAL_NAMESPACE`,
      );
    return fail('Temporal', `${address}: ${reason}`, 'is it a Temporal frontend, and is TEMPORAL_ADDRESS right?');
  }
}
