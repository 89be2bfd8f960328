/**
 * Looks up the rows of presented API keys. Waiting look-ups share a statement: a flood of invented keys costs a statement for hundreds of
 * them and delays a real one by a statement or two, so that no key has to be turned away without a look-up.
 */
import { Batcher } from '../platform/batcher.ts';
import { API_KEY_COLUMNS, type ApiKeyRecord } from './api-keys.ts';
import type { Database } from './database.ts';

export interface FoundApiKey {
  readonly record: ApiKeyRecord;
  readonly secretHash: Buffer;
}

/** Keys in one statement at most. */
const MOST = 500;
/** Statements under way at most: one that hangs must not hold up the others. */
const AT_ONCE = 2;

/** @returns looks a key up; it throws a StoreError when the database doesn't answer */
export function createKeyLookup(database: Pick<Database, 'query'>): (publicId: string) => Promise<FoundApiKey | undefined> {
  const work = async (publicIds: readonly string[]): Promise<readonly (FoundApiKey | undefined)[]> => {
    const rows = await database.query<ApiKeyRecord & { readonly publicId: string; readonly secretHash: Buffer }>(
      `SELECT wanted AS "publicId", secret_hash AS "secretHash", ${API_KEY_COLUMNS} FROM unnest($1::text[]) AS wanted CROSS JOIN LATERAL parley.find_api_key(wanted) AS key`,
      [[...new Set(publicIds)]],
    );
    const byId = new Map(rows.map(({ publicId, secretHash, ...record }) => [publicId, { record, secretHash }]));
    return publicIds.map((publicId) => byId.get(publicId));
  };
  const batcher = new Batcher({ work, most: MOST, atOnce: AT_ONCE });
  return (publicId) => batcher.add(publicId);
}
