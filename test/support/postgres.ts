import { randomBytes } from 'node:crypto';

import { Client } from 'pg';

import { askForServer } from './servers.ts';

export interface TestDatabase {
  /** The owner's address of an empty database. */
  readonly url: string;
  /** Drops it, sessions included. Left out, it goes with the server. */
  readonly drop: () => Promise<void>;
}

/** A new, empty database on a real Postgres with pgvector. */
export async function database(): Promise<TestDatabase> {
  const server = await askForServer<string>('/database');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await query(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => query(server, `drop database if exists ${name} with (force)`) };
}

async function query(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
