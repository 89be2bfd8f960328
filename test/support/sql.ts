import { Client } from 'pg';

/** Runs one statement on a connection of its own. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the rows are what the statement says they are
export async function query<R extends object>(url: string, sql: string, values?: unknown[]): Promise<readonly R[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<R>(sql, values)).rows;
  } finally {
    await client.end();
  }
}
