import { StoreError } from './error.ts';
import { Repository } from './repository.ts';

/** An organisation: a namespace with the label `parley.dev/organization=true`, and a row that other rows refer to. */
export interface Organization {
  /** Name of the namespace, and the organisation's id everywhere. */
  readonly name: string;
  /** Empty where none was given. */
  readonly displayName: string;
  /** Most calls that may be live at the same time. */
  readonly liveCallLimit: number;
  /** False if no call of the organisation may be recorded. */
  readonly recordingEnabled: boolean;
  /** Days for which recordings are kept; null keeps them for good. */
  readonly recordingRetentionDays: number | null;
  readonly callRetentionDays: number | null;
  readonly createdAt: Date;
}

/** The settings for keeping data of an organisation's calls. */
type CallRetention = Pick<Organization, 'recordingEnabled' | 'recordingRetentionDays' | 'callRetentionDays'>;

const COLUMNS = `name, display_name AS "displayName", live_call_limit AS "liveCallLimit", recording_enabled AS "recordingEnabled",
  recording_retention_days AS "recordingRetentionDays", call_retention_days AS "callRetentionDays", created_at AS "createdAt"`;

/** The table's own limit. */
const LARGEST_CALL_LIMIT = 100_000;
export const LONGEST_RETENTION_DAYS = 36_500;

const retentionColumns = {
  recordingEnabled: 'recording_enabled',
  recordingRetentionDays: 'recording_retention_days',
  callRetentionDays: 'call_retention_days',
} as const satisfies Record<keyof CallRetention, string>;

export class Organizations extends Repository {
  /**
   * Checks that {@link create} would succeed, and writes nothing.
   *
   * @throws StoreError as `create` would
   */
  async check(options: { readonly name: string; readonly displayName?: string | undefined }): Promise<void> {
    requireDisplayName(options.displayName);
    await this.get(options.name);
  }

  /**
   * Creates the organisation. Idempotent: one that exists keeps its display name unless a new one is given.
   *
   * @throws StoreError `invalid` for a name that no namespace can have, or a display name above 200 characters or with control characters
   */
  async create(options: { readonly name: string; readonly displayName?: string | undefined }): Promise<Organization> {
    requireDisplayName(options.displayName);
    return this.database.asOrganization(options.name, async (transaction) => {
      await transaction.query('INSERT INTO parley.organizations (name) VALUES ($1) ON CONFLICT DO NOTHING', [options.name]);
      if (options.displayName !== undefined) {
        await transaction.query('UPDATE parley.organizations SET display_name = $2 WHERE name = $1 AND display_name <> $2', [
          options.name,
          options.displayName,
        ]);
      }
      const { rows } = await transaction.query<Organization>(`SELECT ${COLUMNS} FROM parley.organizations WHERE name = $1`, [options.name]);
      const row = rows[0];
      if (row === undefined) throw new StoreError('internal', `organisation ${options.name}: written and not found again`);
      return row;
    });
  }

  async get(name: string): Promise<Organization | undefined> {
    const { rows } = await this.database.queryAs<Organization>(name, `SELECT ${COLUMNS} FROM parley.organizations WHERE name = $1`, [name]);
    return rows[0];
  }

  /**
   * Sets how many calls of the organisation may be live at the same time from now on; live calls go on.
   * @throws StoreError `invalid` unless it is a whole number from 0 to 100,000, `not_found`
   */
  async limitLiveCalls(name: string, limit: number): Promise<Organization> {
    if (!Number.isInteger(limit) || limit < 0 || limit > LARGEST_CALL_LIMIT)
      throw new StoreError('invalid', `the limit of live calls is a whole number from 0 to ${LARGEST_CALL_LIMIT}`);
    return this.#update(name, 'live_call_limit = $2', [limit]);
  }

  /**
   * Changes the retention of the organisation's calls: `recordingEnabled` holds for calls that begin from now on, the days for all of them.
   * @throws StoreError `invalid` unless days are whole numbers from 1 to 36,500, `not_found`
   */
  async setCallRetention(name: string, change: Partial<CallRetention>): Promise<Organization> {
    for (const days of [change.recordingRetentionDays, change.callRetentionDays])
      if (days != null && (!Number.isInteger(days) || days < 1 || days > LONGEST_RETENTION_DAYS))
        throw new StoreError('invalid', `days of retention are a whole number from 1 to ${LONGEST_RETENTION_DAYS}`);
    const changed = (Object.keys(retentionColumns) as (keyof CallRetention)[]).filter((key) => change[key] !== undefined);
    const assignments = changed.map((key, index) => `${retentionColumns[key]} = $${index + 2}`);
    return this.#update(
      name,
      assignments.join(', '),
      changed.map((key) => change[key]),
    );
  }

  async #update(name: string, assignments: string, values: readonly unknown[]): Promise<Organization> {
    const { rows } = await this.database.queryAs<Organization>(
      name,
      assignments === ''
        ? `SELECT ${COLUMNS} FROM parley.organizations WHERE name = $1`
        : `UPDATE parley.organizations SET ${assignments} WHERE name = $1 RETURNING ${COLUMNS}`,
      [name, ...values],
    );
    if (rows[0] === undefined)
      throw new StoreError('not_found', `there is no organisation "${name}": make it with \`parley org create ${name}\``);
    return rows[0];
  }

  /** Lists organisations by name, `limit` (1,000 by default) at most, those after the name `after`. */
  async list(options: { readonly after?: string | undefined; readonly limit?: number | undefined } = {}): Promise<readonly Organization[]> {
    return this.database.asDirectory(async (transaction) => {
      const { rows } = await transaction.query<Organization>(
        `SELECT ${COLUMNS} FROM parley.organizations WHERE name > $1 ORDER BY name LIMIT $2`,
        [options.after ?? '', options.limit ?? 1_000],
      );
      return rows;
    });
  }
}

function requireDisplayName(displayName = ''): void {
  const length = Array.from(displayName).length;
  if (length > 200)
    throw new StoreError('invalid', `the display name of an organisation has at most 200 characters, this one has ${length}`);
  if (/\p{Cc}/u.test(displayName)) throw new StoreError('invalid', 'the display name of an organisation has no control characters');
}
