/**
 * Looks up the rows of presented API keys. Waiting look-ups share a statement: a flood of invented keys costs a statement for hundreds of
 * them and delays a real one by a statement or two, so that no key has to be turned away without a look-up.
 */
import { API_KEY_COLUMNS, type ApiKeyRecord } from './api-keys.ts';
import type { Database } from './database.ts';

export interface FoundApiKey {
  readonly record: ApiKeyRecord;
  readonly secretHash: Buffer;
}

interface Waiting {
  readonly publicId: string;
  readonly found: PromiseWithResolvers<FoundApiKey | undefined>;
}

/** Most keys in one statement. */
const MOST = 500;
/** Most statements under way: one that hangs must not hold up the others. */
const LANES = 2;

export class KeyLookup {
  readonly #database: Pick<Database, 'query'>;
  #waiting: Waiting[] = [];
  #running = 0;

  constructor(database: Pick<Database, 'query'>) {
    this.#database = database;
  }

  /** @throws StoreError when the database doesn't answer */
  find(publicId: string): Promise<FoundApiKey | undefined> {
    const found = Promise.withResolvers<FoundApiKey | undefined>();
    this.#waiting.push({ publicId, found });
    if (this.#running < LANES) void this.#run();
    return found.promise;
  }

  async #run(): Promise<void> {
    this.#running += 1;
    while (this.#waiting.length > 0) await this.#ask(this.#waiting.splice(0, MOST));
    this.#running -= 1;
  }

  async #ask(batch: readonly Waiting[]): Promise<void> {
    try {
      const rows = await this.#database.query<ApiKeyRecord & { readonly publicId: string; readonly secretHash: Buffer }>(
        `SELECT wanted AS "publicId", secret_hash AS "secretHash", ${API_KEY_COLUMNS} FROM unnest($1::text[]) AS wanted CROSS JOIN LATERAL parley.find_api_key(wanted) AS key`,
        [[...new Set(batch.map(({ publicId }) => publicId))]],
      );
      const byId = new Map(rows.map(({ publicId, secretHash, ...record }) => [publicId, { record, secretHash }]));
      for (const { publicId, found } of batch) found.resolve(byId.get(publicId));
    } catch (error) {
      for (const { found } of batch) found.reject(error);
    }
  }
}
