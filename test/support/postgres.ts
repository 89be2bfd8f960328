import { createHash, randomBytes } from 'node:crypto';

import { Client } from 'pg';

import { migrate, openStore, readMigrations, type Store, type StoreOptions } from '../../store/index.ts';
import { askForServer } from './servers.ts';

export interface TestDatabase {
  /** Address of an empty database, for its owner. */
  readonly url: string;
  /** Drops the database, sessions included. A database that isn't dropped goes with the server. */
  readonly drop: () => Promise<void>;
}

/** Makes a new, empty database on a real Postgres with pgvector. */
export function database(): Promise<TestDatabase> {
  return create('template1');
}

/** Makes a new database with the tables of this code: a copy of one that is migrated once, in a tenth of the time. */
export async function migratedDatabase(): Promise<TestDatabase> {
  return create(await (migrated ??= migratedTemplate()));
}

/** Opens a store for what a test does by itself: a busy machine that takes long over it is no failure. */
export function openPatientStore(databaseUrl: string, options: Partial<StoreOptions> = {}): Store {
  return openStore({ databaseUrl, poolSize: 4, connectTimeoutMs: 120_000, statementTimeoutMs: 120_000, ...options });
}

let migrated: Promise<string> | undefined;

async function create(template: string): Promise<TestDatabase> {
  const server = await askForServer<string>('/database');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(server, (client) => client.query(`create database ${name} template ${template}`));
  const drop = async () => void (await onServer(server, (client) => client.query(`drop database if exists ${name} with (force)`)));
  return { url: addressOf(server, name), drop };
}

/** Makes the template in the first test process that asks, for the migrations as they are: a server may outlive many edits of them. */
async function migratedTemplate(): Promise<string> {
  const checksums = readMigrations().map(({ checksum }) => checksum);
  const template = `migrated_${createHash('sha256').update(checksums.join()).digest('hex').slice(0, 16)}`;
  const server = await askForServer<string>('/database');
  return onServer(server, async (client) => {
    await client.query('select pg_advisory_lock(1)');
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [template]);
    if (rowCount === 1) return template;
    const building = `${template}_building`;
    await client.query(`drop database if exists ${building} with (force)`);
    await client.query(`create database ${building}`);
    await migrate({ databaseUrl: addressOf(server, building) });
    await client.query(`alter database ${building} rename to ${template}`);
    return template;
  });
}

function addressOf(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function onServer<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
