import { DAY_MS } from '../platform/time.ts';
import type { Database, Transaction } from './database.ts';
import { StoreError } from './error.ts';

/** A compiled agent: everything a call needs but the values of secrets. Never changes once written. */
export interface AgentRevision {
  readonly agentUid: string;
  readonly agentName: string;
  /** Lower-case hex SHA-256 of the canonical JSON of `config`. */
  readonly revision: string;
  readonly config: unknown;
  readonly createdAt: Date;
}

/** The revision that new calls of an agent start from. */
export interface ServingRevision {
  readonly agentUid: string;
  readonly agentName: string;
  readonly revision: string;
  readonly config: unknown;
  readonly activeSince: Date;
}

interface AgentRef {
  readonly org: string;
  readonly agentUid: string;
}

interface Row {
  readonly agent_uid: string;
  readonly agent_name: string;
  readonly revision: string;
  readonly config: unknown;
}

/** In bytes of JSON: an agent at the limits of its schema with 64 tools stays below. */
const LARGEST_CONFIG = 8 * 1024 * 1024;

export class AgentRevisions {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Stores a revision; storing it again changes nothing. The organisation's row is made where it is missing,
   * because a namespace becomes an organisation by its label alone.
   *
   * @throws StoreError `conflict` when other content is stored under the same revision, `invalid` for content that can't be stored
   */
  async put(options: AgentRef & { readonly agentName: string; readonly revision: string; readonly config: unknown }): Promise<void> {
    const { org, agentUid, agentName, revision } = options;
    const config = JSON.stringify(options.config);
    const bytes = Buffer.byteLength(config);
    if (bytes > LARGEST_CONFIG)
      throw new StoreError(
        'invalid',
        `agent ${agentName}: its revision has ${bytes} bytes, ${LARGEST_CONFIG} are the most: shorten prompts or tool schemas`,
      );
    await this.#database.asOrganization(org, async (transaction) => {
      await transaction.query('INSERT INTO parley.organizations (name) VALUES ($1) ON CONFLICT DO NOTHING', [org]);
      const written = await transaction.query(
        `INSERT INTO parley.agent_revisions (org, agent_uid, revision, agent_name, config) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (org, agent_uid, revision) DO NOTHING`,
        [org, agentUid, revision, agentName, config],
      );
      if (written.rowCount > 0) return;
      const { rows } = await transaction.query<{ same: boolean }>(
        'SELECT config = $4::jsonb AS same FROM parley.agent_revisions WHERE org = $1 AND agent_uid = $2 AND revision = $3',
        [org, agentUid, revision, config],
      );
      if (rows[0]?.same === false)
        throw new StoreError('conflict', `agent ${agentName}: revision ${revision} is stored with other content`);
    });
  }

  /**
   * New calls of the agent start from this revision. Serving the same one again keeps `activeSince` and writes nothing.
   * An agent of the same name that went before (deleted and made again) is retired with it.
   *
   * @throws StoreError `not_found` when the revision was never put, `conflict` when the agent is retired
   */
  async serve(options: AgentRef & { readonly revision: string }): Promise<{ readonly activeSince: Date }> {
    const { org, agentUid, revision } = options;
    return this.#database.asOrganization(org, async (transaction) => {
      const agentName = await nameOf(transaction, options);
      const current = await this.#currentlyServing(transaction, options);
      if (current?.retired_at === null && current.revision === revision && current.agent_name === agentName)
        return { activeSince: current.active_since };
      // Two agents can have had one name; only one of them at a time takes it over.
      await transaction.query("SELECT pg_advisory_xact_lock(hashtextextended($1 || '/' || $2, 0))", [org, agentName]);
      await transaction.query(
        'UPDATE parley.agent_serving SET retired_at = now() WHERE org = $1 AND agent_name = $2 AND agent_uid <> $3 AND retired_at IS NULL',
        [org, agentName, agentUid],
      );
      const { rows } = await transaction.query<{ active_since: Date }>(
        `INSERT INTO parley.agent_serving AS s (org, agent_uid, agent_name, revision) VALUES ($1, $2, $3, $4)
         ON CONFLICT (org, agent_uid) DO UPDATE SET agent_name = excluded.agent_name, revision = excluded.revision,
           active_since = CASE WHEN s.revision = excluded.revision THEN s.active_since ELSE now() END
         WHERE s.retired_at IS NULL
         RETURNING active_since`,
        [org, agentUid, agentName, revision],
      );
      if (rows[0] === undefined)
        throw new StoreError('conflict', `agent ${agentName} (uid ${agentUid}) is retired: a deleted agent serves no more`);
      return { activeSince: rows[0].active_since };
    });
  }

  /** What serves now, by the agent's uid. */
  async serving(ref: AgentRef): Promise<ServingRevision | undefined> {
    return this.#serving(ref.org, 's.agent_uid', ref.agentUid);
  }

  /** What serves now, by the agent's name. */
  async servingByName(ref: { readonly org: string; readonly agentName: string }): Promise<ServingRevision | undefined> {
    return this.#serving(ref.org, 's.agent_name', ref.agentName);
  }

  /**
   * The agent was deleted: no new call starts from it. Idempotent and final.
   *
   * @param ref.agentName what still serves under this name goes as well: an agent that came back from a backup has another uid, and what
   *   served before serves on until a revision of the new one does
   */
  async retire(ref: AgentRef & { readonly agentName?: string | undefined }): Promise<void> {
    await this.#database.asOrganization(ref.org, async (transaction) => {
      await transaction.query(
        'UPDATE parley.agent_serving SET retired_at = now() WHERE org = $1 AND (agent_uid = $2 OR agent_name = $3) AND retired_at IS NULL',
        [ref.org, ref.agentUid, ref.agentName ?? null],
      );
      await transaction.query(
        `UPDATE parley.test_runs SET state = 'cancelled', finished_at = now()
         WHERE org = $1 AND (agent_uid = $2 OR agent_name = $3) AND state IN ('queued', 'running')`,
        [ref.org, ref.agentUid, ref.agentName ?? null],
      );
      // What never served has no row to be found by later, and no call can be running on it.
      await transaction.query(
        `DELETE FROM parley.agent_revisions WHERE org = $1 AND agent_uid = $2
         AND NOT EXISTS (SELECT FROM parley.agent_serving WHERE org = $1 AND agent_uid = $2)`,
        [ref.org, ref.agentUid],
      );
    });
  }

  /** One revision, whether it serves or not: a call keeps the one it began with. */
  async get(ref: AgentRef & { readonly revision: string }): Promise<AgentRevision | undefined> {
    return this.#database.asOrganization(ref.org, async (transaction) => {
      const { rows } = await transaction.query<Row & { readonly created_at: Date }>(
        'SELECT agent_uid, agent_name, revision, config, created_at FROM parley.agent_revisions WHERE org = $1 AND agent_uid = $2 AND revision = $3',
        [ref.org, ref.agentUid, ref.revision],
      );
      const row = rows[0];
      return (
        row && { agentUid: row.agent_uid, agentName: row.agent_name, revision: row.revision, config: row.config, createdAt: row.created_at }
      );
    });
  }

  /**
   * Deletes revisions that are no longer needed, about `limit` (500) at most. Kept: what serves, the newest `keepNewest` (10) of each agent, and
   * everything younger than `keepForMs` (30 days). An agent retired for longer than that goes altogether.
   */
  async prune(options: {
    readonly org: string;
    readonly keepNewest?: number | undefined;
    readonly keepForMs?: number | undefined;
    readonly limit?: number | undefined;
  }): Promise<{ readonly deleted: number; readonly more: boolean }> {
    const { org, keepForMs = 30 * DAY_MS, keepNewest = 10, limit = 500 } = options;
    // An agent that is gone has few revisions left after the rule below has met it, so that its agents are counted and not its rows.
    const agentsAtOnce = Math.max(1, Math.floor(limit / 10));
    return this.#database.asOrganization(org, async (transaction) => {
      const gone = await transaction.query<{ agent_uid: string }>(
        `DELETE FROM parley.agent_serving WHERE org = $1 AND agent_uid IN (
           SELECT agent_uid FROM parley.agent_serving WHERE org = $1 AND retired_at < now() - $2 * interval '1 millisecond' LIMIT $3)
         RETURNING agent_uid`,
        [org, keepForMs, agentsAtOnce],
      );
      const ofGone = await transaction.query('DELETE FROM parley.agent_revisions WHERE org = $1 AND agent_uid = ANY ($2)', [
        org,
        gone.rows.map((row) => row.agent_uid),
      ]);
      const superseded = await transaction.query(
        `WITH ranked AS (
           SELECT agent_uid, revision, created_at, row_number() OVER (PARTITION BY agent_uid ORDER BY created_at DESC, revision) AS place
           FROM parley.agent_revisions WHERE org = $1
         ), doomed AS (
           SELECT agent_uid, revision FROM ranked r
           WHERE place > $3 AND created_at < now() - $2 * interval '1 millisecond'
             AND NOT EXISTS (SELECT FROM parley.agent_serving s WHERE s.org = $1 AND s.agent_uid = r.agent_uid AND s.revision = r.revision)
           LIMIT $4
         )
         DELETE FROM parley.agent_revisions r USING doomed d
         WHERE r.org = $1 AND r.agent_uid = d.agent_uid AND r.revision = d.revision`,
        [org, keepForMs, keepNewest, limit],
      );
      return { deleted: ofGone.rowCount + superseded.rowCount, more: gone.rowCount === agentsAtOnce || superseded.rowCount === limit };
    });
  }

  async #currentlyServing(transaction: Transaction, { org, agentUid }: AgentRef) {
    const { rows } = await transaction.query<{ agent_name: string; revision: string; active_since: Date; retired_at: Date | null }>(
      'SELECT agent_name, revision, active_since, retired_at FROM parley.agent_serving WHERE org = $1 AND agent_uid = $2',
      [org, agentUid],
    );
    return rows[0];
  }

  async #serving(org: string, column: 's.agent_uid' | 's.agent_name', value: string): Promise<ServingRevision | undefined> {
    // Postgres refuses this character even in a question; a name that comes from outside may hold it.
    if (value.includes('\u0000')) return undefined;
    return this.#database.asOrganization(org, async (transaction) => {
      const { rows } = await transaction.query<Row & { readonly active_since: Date }>(
        `SELECT s.agent_uid, s.agent_name, s.revision, s.active_since, r.config
         FROM parley.agent_serving s JOIN parley.agent_revisions r USING (org, agent_uid, revision)
         WHERE s.org = $1 AND ${column} = $2 AND s.retired_at IS NULL`,
        [org, value],
      );
      const row = rows[0];
      return (
        row && {
          agentUid: row.agent_uid,
          agentName: row.agent_name,
          revision: row.revision,
          config: row.config,
          activeSince: row.active_since,
        }
      );
    });
  }
}

async function nameOf(transaction: Transaction, { org, agentUid, revision }: AgentRef & { readonly revision: string }): Promise<string> {
  const { rows } = await transaction.query<{ agent_name: string }>(
    'SELECT agent_name FROM parley.agent_revisions WHERE org = $1 AND agent_uid = $2 AND revision = $3',
    [org, agentUid, revision],
  );
  if (rows[0] === undefined)
    throw new StoreError('not_found', `agent with uid ${agentUid}: revision ${revision} was never stored: put it first`);
  return rows[0].agent_name;
}
