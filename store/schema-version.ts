import type { Database } from './database.ts';
import { StoreError } from './error.ts';
import { readMigrations } from './migration-files.ts';

/**
 * Requires the migrations of this code. A newer database is fine: during an upgrade the old processes go on until they are replaced.
 *
 * @throws StoreError `unavailable`, `refused`, or `schema` when migrations are missing
 */
export async function requireSchema(database: Pick<Database, 'query'>): Promise<void> {
  const [row] = await database.query<{ version: number | null }>('SELECT max(version) AS version FROM parley.schema_migrations');
  const newest = readMigrations().at(-1);
  if (newest === undefined || (row?.version ?? 0) >= newest.version) return;
  throw new StoreError('schema', `the database lacks migrations up to ${newest.name}: run \`parley migrate\``);
}
