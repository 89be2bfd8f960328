import { Client } from 'pg';

import { UserError } from '../platform/user-error.ts';
import { toStoreError } from './error.ts';

/**
 * Opens one connection as the session's own user, for work that the roles can't do: migrations and backups.
 *
 * @param options.applicationName the name that pg_stat_activity shows
 * @throws StoreError, and a UserError of `use` as it is
 */
export async function withClient<T>(
  { databaseUrl, applicationName }: { readonly databaseUrl: string; readonly applicationName: string },
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({
    connectionString: databaseUrl,
    application_name: applicationName,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // The running statement rejects by itself when the connection breaks.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } catch (error) {
    throw error instanceof UserError ? error : toStoreError(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}
