import { DAY_MS } from '../platform/time.ts';
import { uuidv7 } from '../platform/uuid.ts';
import { generateApiKey } from './api-key-format.ts';
import { StoreError } from './error.ts';
import { isPermission, permissions as vocabulary, type Permission } from './permissions.ts';
import { Repository } from './repository.ts';

/** An API key without its secret. */
export interface ApiKeyRecord {
  /** `key_` and a UUIDv7. */
  readonly keyId: string;
  readonly org: string;
  readonly name: string;
  /** Words of the vocabulary in permissions.ts; a newer version may have stored others. */
  readonly permissions: readonly string[];
  readonly expirationDate: Date;
  readonly createdAt: Date;
  readonly revoked: boolean;
  /** The user it acts for: objects created with it record this user. */
  readonly userId: string | null;
  /** The user of the key that created it; null for keys created at the command line. */
  readonly createdByUserId: string | null;
  /** The last four characters of the clear key, for people who compare. */
  readonly lastFour: string;
}

export interface ListedApiKey extends ApiKeyRecord {
  /** Id of the key that created it; null for keys created at the command line. */
  readonly createdByKey: string | null;
}

/** A place in the list, newest first: the next page begins behind it. */
export interface ApiKeyPosition {
  readonly createdAt: Date;
  readonly keyId: string;
}

export interface NewApiKey {
  readonly org: string;
  /** The key's name: 1 to 100 characters. */
  readonly name: string;
  readonly permissions: readonly Permission[];
  /** Days until the key expires: 1 to 365. */
  readonly expirationDays: number;
  /** The latest time at which the key expires. */
  readonly notAfter?: Date | undefined;
  /** The user that the key acts for: 1 to 200 characters. */
  readonly userId?: string | null | undefined;
  readonly createdByUserId?: string | null | undefined;
  /** Id of the key that creates it, which still has to be valid. */
  readonly createdByKey?: string | undefined;
}

/** Channel that notifies every process of a revoked key's id. */
export const REVOKED_CHANNEL = 'parley_api_key_revoked';

const KEY_ID_SHAPE = /^key_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const API_KEY_COLUMNS = `org, key_id AS "keyId", name, permissions, expiration_date AS "expirationDate", created_at AS "createdAt",
  revoked_at IS NOT NULL AS revoked, user_id AS "userId", created_by_user_id AS "createdByUserId", last_four AS "lastFour"`;

const LISTED_COLUMNS = `${API_KEY_COLUMNS}, created_by_key AS "createdByKey"`;

const REVOKE_DESCENDANTS = `
  WITH RECURSIVE made AS (
    SELECT key_id FROM parley.api_keys WHERE org = $1 AND created_by_key = $2
    UNION
    SELECT k.key_id FROM parley.api_keys k JOIN made m ON k.created_by_key = m.key_id WHERE k.org = $1
  )
  UPDATE parley.api_keys k SET revoked_at = now() FROM made m WHERE k.org = $1 AND k.key_id = m.key_id AND k.revoked_at IS NULL`;

/** The rows of API keys. authenticator.ts checks presented ones. */
export class ApiKeys extends Repository {
  /**
   * @returns the clear key with its record; nobody can get it again
   * @throws StoreError `not_found` for an unknown organisation, `conflict` where the key that creates it was revoked, `invalid` for values
   * outside their bounds
   */
  async create(options: NewApiKey): Promise<{ readonly record: ListedApiKey; readonly apiKey: string }> {
    requireValid(options);
    const keyId = `key_${uuidv7()}`;
    const key = generateApiKey();
    const record = await this.database.asOrganization(options.org, async (transaction) => {
      const organization = await transaction.query('SELECT FROM parley.organizations WHERE name = $1', [options.org]);
      if (organization.rowCount === 0)
        throw new StoreError('not_found', `there is no organisation "${options.org}": make it with \`parley org create ${options.org}\``);
      if (options.createdByKey !== undefined) {
        // A revocation of that key with its descendants waits for this transaction, and finds the new key.
        const maker = await transaction.query(
          'SELECT FROM parley.api_keys WHERE org = $1 AND key_id = $2 AND revoked_at IS NULL FOR SHARE',
          [options.org, options.createdByKey],
        );
        if (maker.rowCount === 0) throw new StoreError('conflict', 'the API key that makes it is revoked');
      }
      // The same id and hash mean that this call is tried again after a lost connection.
      await transaction.query(
        `INSERT INTO parley.api_keys (org, key_id, public_id, secret_hash, last_four, name, permissions, user_id, created_by_user_id, created_by_key,
           expiration_date)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $12, least(now() + $10 * interval '1 millisecond', $11))
         ON CONFLICT (org, key_id) DO NOTHING`,
        [
          options.org,
          keyId,
          key.publicId,
          key.hash,
          key.lastFour,
          options.name,
          [...new Set(options.permissions)],
          options.userId ?? null,
          options.createdByUserId ?? null,
          options.expirationDays * DAY_MS,
          options.notAfter?.toISOString() ?? null,
          options.createdByKey ?? null,
        ],
      );
      const { rows } = await transaction.query<ListedApiKey>(
        `SELECT ${LISTED_COLUMNS} FROM parley.api_keys WHERE org = $1 AND key_id = $2`,
        [options.org, keyId],
      );
      if (rows[0] === undefined) throw new StoreError('internal', `API key ${keyId}: written and not found again`);
      return rows[0];
    });
    return { record, apiKey: key.apiKey };
  }

  /** Lists keys, newest first. The order is stable while keys are made and revoked: a page never repeats or skips one that was there. */
  async list(options: {
    readonly org: string;
    readonly pageSize: number;
    readonly after?: ApiKeyPosition | undefined;
  }): Promise<{ readonly items: readonly ListedApiKey[]; readonly next?: ApiKeyPosition }> {
    const { rows } = await this.database.queryAs<ListedApiKey>(
      options.org,
      `SELECT ${LISTED_COLUMNS} FROM parley.api_keys
       WHERE org = $1 AND ($2::timestamptz IS NULL OR (created_at, key_id) < ($2, $3))
       ORDER BY created_at DESC, key_id DESC LIMIT $4`,
      [options.org, options.after?.createdAt.toISOString() ?? null, options.after?.keyId ?? '', options.pageSize + 1],
    );
    const items = rows.slice(0, options.pageSize);
    const last = items.at(-1);
    return rows.length > options.pageSize && last !== undefined
      ? { items, next: { createdAt: last.createdAt, keyId: last.keyId } }
      : { items };
  }

  /** A malformed id counts as unknown. */
  async get(options: { readonly org: string; readonly keyId: string }): Promise<ListedApiKey | undefined> {
    if (!KEY_ID_SHAPE.test(options.keyId)) return undefined;
    const { rows } = await this.database.queryAs<ListedApiKey>(
      options.org,
      `SELECT ${LISTED_COLUMNS} FROM parley.api_keys WHERE org = $1 AND key_id = $2`,
      [options.org, options.keyId],
    );
    return rows[0];
  }

  /** Idempotent, and final: the first revocation counts. Every process is notified when it commits. */
  async revoke(options: { readonly org: string; readonly keyId: string }): Promise<ListedApiKey | undefined> {
    return (await this.#revoke(options, 'alone'))?.record;
  }

  /**
   * Revokes the key, the keys that it made, those that these made, and so on.
   * @returns the key, and how many others are revoked by this call
   */
  async revokeWithDescendants(options: {
    readonly org: string;
    readonly keyId: string;
  }): Promise<{ readonly record: ListedApiKey; readonly descendants: number } | undefined> {
    return this.#revoke(options, 'with descendants');
  }

  async #revoke(
    { org, keyId }: { readonly org: string; readonly keyId: string },
    which: 'alone' | 'with descendants',
  ): Promise<{ readonly record: ListedApiKey; readonly descendants: number } | undefined> {
    if (!KEY_ID_SHAPE.test(keyId)) return undefined;
    return this.database.asOrganization(org, async (transaction) => {
      const own = await transaction.query(
        'UPDATE parley.api_keys SET revoked_at = now() WHERE org = $1 AND key_id = $2 AND revoked_at IS NULL',
        [org, keyId],
      );
      let descendants = 0;
      // A key that is revoked here may have been making another one when this began, so this repeats until none is found.
      for (let found = which === 'alone' ? 0 : 1; found > 0; descendants += found) {
        ({ rowCount: found } = await transaction.query(REVOKE_DESCENDANTS, [org, keyId]));
      }
      // Processes forget all their cached keys, whichever id is sent.
      if (own.rowCount + descendants > 0) await transaction.query('SELECT pg_notify($1, $2)', [REVOKED_CHANNEL, keyId]);
      const { rows } = await transaction.query<ListedApiKey>(
        `SELECT ${LISTED_COLUMNS} FROM parley.api_keys WHERE org = $1 AND key_id = $2`,
        [org, keyId],
      );
      return rows[0] && { record: rows[0], descendants };
    });
  }

  /**
   * Deletes keys that expired or were revoked more than `keepForMs` ago (90 days by default), `limit` (500) at most. A key that made others
   * goes after them, so that descendants are found.
   *
   * @returns how many were deleted; fewer than `limit` means that none is left
   */
  async purge(options: {
    readonly org: string;
    readonly keepForMs?: number | undefined;
    readonly limit?: number | undefined;
  }): Promise<number> {
    const { rowCount } = await this.database.queryAs(
      options.org,
      `DELETE FROM parley.api_keys WHERE org = $1 AND key_id IN (
           SELECT key_id FROM parley.api_keys
           WHERE org = $1 AND least(expiration_date, revoked_at) < now() - $2 * interval '1 millisecond'
             AND NOT EXISTS (SELECT FROM parley.api_keys made WHERE made.org = $1 AND made.created_by_key = api_keys.key_id) LIMIT $3)`,
      [options.org, options.keepForMs ?? 90 * DAY_MS, options.limit ?? 500],
    );
    return rowCount;
  }
}

export function isUserId(text: string): boolean {
  return /^\P{Cc}{1,200}$/u.test(text);
}

function requireValid(options: NewApiKey): void {
  const length = Array.from(options.name).length;
  if (length < 1 || length > 100) throw new StoreError('invalid', `the name of an API key has 1 to 100 characters, this one has ${length}`);
  if (/\p{Cc}/u.test(options.name)) throw new StoreError('invalid', 'the name of an API key has no control characters');
  if (!Number.isInteger(options.expirationDays) || options.expirationDays < 1 || options.expirationDays > 365) {
    throw new StoreError('invalid', `an API key lasts 1 to 365 whole days, not ${options.expirationDays}`);
  }
  const { userId } = options;
  if (userId != null && !isUserId(userId)) throw new StoreError('invalid', 'a user has 1 to 200 characters, and no control characters');
  const unknown = options.permissions.find((permission) => !isPermission(permission));
  if (unknown !== undefined) {
    throw new StoreError('invalid', `there is no permission ${JSON.stringify(String(unknown).slice(0, 80))}: use ${vocabulary.join(', ')}`);
  }
}
