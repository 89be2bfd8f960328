/** Counts all rows of one organisation in Postgres, and deletes them when the organisation leaves. */
import type { Client } from 'pg';

import { REVOKED_CHANNEL } from './api-keys.ts';
import { StoreError } from './error.ts';
import { readTables, type Table } from './tables.ts';
import { withClient } from './with-client.ts';

const APPLICATION_NAME = 'parley org delete';

export interface RowsOfOrganization {
  /** Rows by table; tables without any are left out. */
  readonly tables: Readonly<Record<string, number>>;
  /** Calls that are not over. */
  readonly liveCalls: number;
}

interface Options {
  /** Address with a user who owns the tables, like that of `parley migrate`. */
  readonly databaseUrl: string;
  readonly org: string;
}

/** @throws StoreError `refused` for a user who doesn't own the tables */
export async function countOrganizationRows({ databaseUrl, org }: Options): Promise<RowsOfOrganization> {
  return leaving({ databaseUrl, org }, async (client, tables) => {
    const counts: Record<string, number> = {};
    for (const table of tables) {
      const { rows } = await inTransaction(
        client,
        { org, table },
        `SELECT count(*)::int AS n FROM ${table.from} WHERE ${table.orgColumn} = $1`,
      );
      if ((rows[0]?.n ?? 0) > 0) counts[table.name] = rows[0]!.n;
    }
    const calls = tables.find(({ name }) => name === 'calls')!;
    const live = `SELECT count(*)::int AS n FROM ${calls.from} WHERE org = $1 AND status IN ('registered', 'ongoing')`;
    const { rows } = await inTransaction(client, { org, table: calls }, live);
    return { tables: counts, liveCalls: rows[0]?.n ?? 0 };
  });
}

/** Revokes all keys of the organisation. Idempotent. @throws StoreError */
export async function revokeOrganizationKeys({ databaseUrl, org }: Options): Promise<void> {
  await leaving({ databaseUrl, org }, async (client, tables) => {
    const keys = tables.find(({ name }) => name === 'api_keys')!;
    await inTransaction(
      client,
      { org, table: keys },
      'UPDATE parley.api_keys SET revoked_at = now() WHERE org = $1 AND revoked_at IS NULL',
    );
    await client.query('SELECT pg_notify($1, $2)', [REVOKED_CHANNEL, '']);
  });
}

/**
 * Deletes rows that refer to others before those, the organisation's own row last. Rows removed before a failure stay removed: run it
 * again.
 * @param onTable called for each table that had rows
 * @throws StoreError
 */
export async function removeOrganizationRows({ databaseUrl, org }: Options, onTable: (name: string, rows: number) => void): Promise<void> {
  await leaving({ databaseUrl, org }, async (client, tables) => {
    for (const table of tables.toReversed()) {
      try {
        const { rowCount } = await inTransaction(client, { org, table }, `DELETE FROM ${table.from} WHERE ${table.orgColumn} = $1`);
        if ((rowCount ?? 0) > 0) onTable(table.name, rowCount!);
      } catch (error) {
        if ((error as { readonly code?: string }).code !== '23503') throw error;
        throw new StoreError('conflict', `rows of ${table.name} are still referred to: is the organisation in use? Run it again`);
      }
    }
  });
}

async function leaving<T>({ databaseUrl, org }: Options, work: (client: Client, tables: readonly Table[]) => Promise<T>): Promise<T> {
  return withClient({ databaseUrl, applicationName: APPLICATION_NAME }, async (client) => work(client, await ownTables(client, org)));
}

/**
 * Lets the session see and change the rows of one organisation.
 * @returns the tables that have such rows, in the order of their references
 * @throws StoreError `refused` for a user who doesn't own the tables
 */
export async function ownTables(client: Client, org: string): Promise<readonly Table[]> {
  await client.query('SELECT set_config($1, $3, false), set_config($2, $3, false)', ['parley.leaving', 'parley.org', org]);
  const tables = await readTables(client);
  if (tables.some(({ role, isOwn }) => role === 'owner' && !isOwn))
    throw new StoreError(
      'refused',
      'only the owner of the tables removes an organisation or brings one back: use the DATABASE_URL of `parley migrate`',
    );
  return tables.filter(({ role, orgColumn }) => role !== undefined && orgColumn !== undefined);
}

async function inTransaction(client: Client, { org, table }: { readonly org: string; readonly table: Table }, sql: string) {
  await client.query('BEGIN');
  try {
    if (table.role !== 'owner') await client.query(`SET LOCAL ROLE ${table.role}`);
    const result = await client.query<{ n: number }>(sql, [org]);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}
