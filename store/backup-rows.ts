/** Reads rows into a backup and writes them back into an empty schema: whole tables, in the text format of COPY. */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { escapeIdentifier, escapeLiteral, type Client } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';

import { StoreError } from './error.ts';
import { readTables, type Table } from './tables.ts';
import { withClient } from './with-client.ts';

const APPLICATION_NAME = 'parley backup';

export interface RowsOfTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** Streams one line for each row, in the text format of COPY. */
  readonly rows: () => Readable;
}

export interface RowsToSave {
  /** Lets other sessions see the same rows, by `SET TRANSACTION SNAPSHOT`. */
  readonly snapshot: string;
  /** Tables whose rows are to be read one after the other. */
  readonly tables: readonly RowsOfTable[];
}

/**
 * Offers the rows of all tables as they are at one moment; with `organizations`, only the rows of these.
 * @throws StoreError `not_found` when one of them isn't there
 */
export async function saveRows<T>(
  { databaseUrl, organizations }: { readonly databaseUrl: string; readonly organizations: readonly string[] | undefined },
  use: (rows: RowsToSave) => Promise<T>,
): Promise<T> {
  return withClient({ databaseUrl, applicationName: APPLICATION_NAME }, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const tables = (await readTables(client)).filter(({ isLogged }) => isLogged);
    // The lock keeps tables from being dropped before they are read.
    await client.query(`LOCK TABLE ${tables.map(({ from }) => from).join(', ')} IN ACCESS SHARE MODE`);
    await requireOrganizations(client, organizations ?? []);
    const { rows } = await client.query<{ snapshot: string }>('SELECT pg_export_snapshot() AS snapshot');
    return use({
      snapshot: rows[0]?.snapshot ?? '',
      tables: tables.flatMap((table) => {
        const condition = conditionFor(table, organizations);
        if (condition === undefined) return [];
        const { name, columns } = table;
        return [
          { name, columns, rows: () => client.query(copyTo(`COPY (SELECT ${list(columns)} FROM ${table.from} ${condition}) TO STDOUT`)) },
        ];
      }),
    });
  });
}

async function requireOrganizations(client: Client, names: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE name NOT IN (SELECT name FROM parley.organizations)',
    [names],
  );
  if (rows[0] !== undefined) throw new StoreError('not_found', `there is no organisation "${rows[0].name}" in this database`);
}

/** Returns the SQL condition for the rows of a table that a backup has; undefined where it has none. */
function conditionFor({ name, orgColumn }: Table, organizations: readonly string[] | undefined): string | undefined {
  if (organizations === undefined) return '';
  if (orgColumn !== undefined) return `WHERE ${orgColumn} IN (${organizations.map((org) => escapeLiteral(org)).join(', ')})`;
  // These rows belong to the whole installation, and to no organisation.
  return name === 'schema_migrations' ? '' : undefined;
}

/**
 * Fills the tables of a schema that has no constraints and no triggers yet, in one transaction.
 * @param onTable called before each of them
 * @throws StoreError
 */
export async function loadRows(
  { databaseUrl, tables, signal }: { readonly databaseUrl: string; readonly tables: readonly RowsOfTable[]; readonly signal: AbortSignal },
  onTable: (name: string) => void,
): Promise<void> {
  await withClient({ databaseUrl, applicationName: APPLICATION_NAME }, async (client) => {
    await client.query('BEGIN');
    const known = await readTables(client);
    for (const { name, columns, rows } of tables) {
      const table = known.find((each) => each.name === name);
      if (table === undefined) throw new StoreError('internal', `the backup has rows of ${name}, which is no table of its schema`);
      onTable(name);
      await pipeline(rows(), client.query(copyFrom(`COPY ${table.from} (${list(columns)}) FROM STDIN`)), { signal });
    }
    await continueNumbers(client, known);
    await client.query('COMMIT');
  });
}

/** Sets sequences above the numbers that are there. */
export async function continueNumbers(client: Client, tables: readonly Table[]): Promise<void> {
  for (const { from, numbered } of tables) {
    if (numbered === undefined) continue;
    const { rows } = await client.query<{ sequence: string }>('SELECT pg_get_serial_sequence($1, $2) AS sequence', [from, numbered]);
    const sequence = rows[0]?.sequence ?? '';
    await client.query(
      `SELECT setval($1, greatest((SELECT last_value FROM ${sequence}), (SELECT max(${escapeIdentifier(numbered)}) FROM ${from})))`,
      [sequence],
    );
  }
}

export const list = (columns: readonly string[]): string => columns.map((column) => escapeIdentifier(column)).join(', ');
