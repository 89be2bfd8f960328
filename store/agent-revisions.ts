import { DAY_MS } from '../platform/time.ts';
import { StoreError } from './error.ts';
import { Repository } from './repository.ts';
import { canaryShareOf } from './releases/canary-share.ts';
import type { ServingBudget } from './releases/release-state.ts';
import type { RevisionParts } from './releases/revision-parts.ts';

/** A compiled agent: everything a call needs but the values of secrets. It never changes once written. */
export interface AgentRevision {
  readonly agentName: string;
  /** Lower-case hex SHA-256 of the canonical JSON of `config`. */
  readonly revision: string;
  readonly config: unknown;
  readonly createdAt: Date;
}

/** The revision that new calls of an agent start from. */
export interface ServingRevision {
  readonly agentName: string;
  readonly revision: string;
  readonly config: unknown;
  /** Time since which the revision serves the calls that the canary doesn't take. */
  readonly activeSince: Date;
  readonly canary: boolean;
  /** The budget for all calls of the agent. */
  readonly budget: ServingBudget | null;
}

interface AgentRef {
  readonly org: string;
  readonly agentName: string;
}

/** Most bytes of JSON: an agent at the limits of its schema with 64 tools stays below. */
const LARGEST_CONFIG = 8 * 1024 * 1024;

/** Latest releases of each agent that are kept, however old they are. */
const RELEASES_KEPT = 100;

export class AgentRevisions extends Repository {
  /**
   * Stores a revision; storing it again changes nothing. The organisation's row is made where it is missing,
   * because a namespace becomes an organisation by its label alone.
   *
   * @throws StoreError `conflict` when other content is stored under the same revision, `invalid` for content that can't be stored
   */
  async put(
    options: AgentRef & { readonly revision: string; readonly config: unknown; readonly parts?: RevisionParts | undefined },
  ): Promise<void> {
    const { org, agentName, revision, parts } = options;
    const config = JSON.stringify(options.config);
    const bytes = Buffer.byteLength(config);
    if (bytes > LARGEST_CONFIG)
      throw new StoreError(
        'invalid',
        `agent ${agentName}: its revision has ${bytes} bytes, ${LARGEST_CONFIG} are the most: shorten prompts or tool schemas`,
      );
    await this.database.asOrganization(org, async (transaction) => {
      await transaction.query('INSERT INTO parley.organizations (name) VALUES ($1) ON CONFLICT DO NOTHING', [org]);
      const written = await transaction.query(
        `INSERT INTO parley.agent_revisions (org, agent_name, revision, config, parts) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (org, agent_name, revision) DO NOTHING`,
        [org, agentName, revision, config, parts === undefined ? null : JSON.stringify(parts)],
      );
      if (written.rowCount > 0) return;
      const { rows } = await transaction.query<{ same: boolean }>(
        'SELECT config = $4::jsonb AS same FROM parley.agent_revisions WHERE org = $1 AND agent_name = $2 AND revision = $3',
        [org, agentName, revision, config],
      );
      if (rows[0]?.same === false)
        throw new StoreError('conflict', `agent ${agentName}: revision ${revision} is stored with other content`);
    });
  }

  /**
   * Returns the revision that a new call of the agent starts with: this is the one place that chooses between the serving revision and its
   * canary.
   * @param ref.callId id of the new call; without it, the serving revision is returned
   */
  async servingByName(ref: {
    readonly org: string;
    readonly agentName: string;
    readonly callId?: string | undefined;
  }): Promise<ServingRevision | undefined> {
    const { org, agentName, callId } = ref;
    // Postgres refuses this character even in a parameter; a name that comes from outside may hold it.
    if (agentName.includes('\u0000')) return undefined;
    const { rows } = await this.database.queryAs<ServingRevision>(
      org,
      `SELECT s.agent_name AS "agentName", chosen.revision, s.active_since AS "activeSince", chosen.canary, s.budget, r.config
       FROM parley.agent_serving s CROSS JOIN LATERAL (
         SELECT $3::float8 < s.canary_percent IS TRUE AS canary,
           CASE WHEN $3::float8 < s.canary_percent THEN s.canary_revision ELSE s.revision END AS revision) chosen
       JOIN parley.agent_revisions r ON r.org = s.org AND r.agent_name = s.agent_name AND r.revision = chosen.revision
       WHERE s.org = $1 AND s.agent_name = $2 AND s.retired_at IS NULL`,
      [org, agentName, callId === undefined ? null : canaryShareOf(callId)],
    );
    return rows[0];
  }

  /** Returns one revision, whether it serves or not: a call keeps the one it began with. */
  async get(ref: AgentRef & { readonly revision: string }): Promise<AgentRevision | undefined> {
    const { rows } = await this.database.queryAs<AgentRevision>(
      ref.org,
      `SELECT agent_name AS "agentName", revision, config, created_at AS "createdAt"
       FROM parley.agent_revisions WHERE org = $1 AND agent_name = $2 AND revision = $3`,
      [ref.org, ref.agentName, ref.revision],
    );
    return rows[0];
  }

  /**
   * Deletes revisions that are no longer needed, about `limit` (500) at most. It keeps revisions that serve or are tried, those that calls
   * under way and analyses need, the newest `keepNewest` (10) of each agent, those of its latest `keepNewest` releases, and everything
   * younger than `keepForMs` (30 days). An agent retired for longer than that goes altogether.
   */
  async prune(options: {
    readonly org: string;
    readonly keepNewest?: number | undefined;
    readonly keepForMs?: number | undefined;
    readonly limit?: number | undefined;
  }): Promise<{ readonly deleted: number; readonly more: boolean }> {
    const { org, keepForMs = 30 * DAY_MS, keepNewest = 10, limit = 500 } = options;
    // A retired agent has few revisions left once the rule below has been applied to it, so that agents are counted here and not rows.
    const agentsAtOnce = Math.max(1, Math.floor(limit / 10));
    return this.database.asOrganization(org, async (transaction) => {
      const gone = await transaction.query<{ agent_name: string }>(
        `DELETE FROM parley.agent_serving WHERE org = $1 AND agent_name IN (
           SELECT agent_name FROM parley.agent_serving WHERE org = $1 AND retired_at < now() - $2 * interval '1 millisecond' LIMIT $3)
         RETURNING agent_name`,
        [org, keepForMs, agentsAtOnce],
      );
      await transaction.query('DELETE FROM parley.agent_releases WHERE org = $1 AND agent_name = ANY ($2)', [
        org,
        gone.rows.map((row) => row.agent_name),
      ]);
      await transaction.query(
        `DELETE FROM parley.agent_releases WHERE org = $1 AND id IN (
         SELECT id FROM (
           SELECT id, at, row_number() OVER (PARTITION BY agent_name ORDER BY id DESC) AS place FROM parley.agent_releases WHERE org = $1) ranked
         WHERE place > $3 AND at < now() - $2 * interval '1 millisecond' LIMIT $4)`,
        [org, keepForMs, RELEASES_KEPT, limit],
      );
      const ofGone = await transaction.query('DELETE FROM parley.agent_revisions WHERE org = $1 AND agent_name = ANY ($2)', [
        org,
        gone.rows.map((row) => row.agent_name),
      ]);
      const superseded = await transaction.query(
        `WITH ranked AS (
           SELECT agent_name, revision, created_at, row_number() OVER (PARTITION BY agent_name ORDER BY created_at DESC, revision) AS place
           FROM parley.agent_revisions WHERE org = $1
         ), needed AS (
           SELECT talking_agent AS agent_name, revision FROM parley.calls WHERE org = $1 AND status IN ('registered', 'ongoing')
           UNION
           SELECT o.agent_name, o.revision FROM parley.call_agents o JOIN parley.calls c ON c.org = o.org AND c.id = o.call_id
           WHERE o.org = $1 AND c.status IN ('registered', 'ongoing')
           UNION
           SELECT c.talking_agent, c.revision FROM parley.call_analyses a JOIN parley.calls c ON c.org = a.org AND c.id = a.call_id
           WHERE a.org = $1 AND a.status = 'processing'
         ), doomed AS (
           SELECT agent_name, revision FROM ranked r
           WHERE place > $3 AND created_at < now() - $2 * interval '1 millisecond'
             AND NOT EXISTS (SELECT FROM needed n WHERE n.agent_name = r.agent_name AND n.revision = r.revision)
             AND NOT EXISTS (
               SELECT FROM parley.agent_serving s
               WHERE s.org = $1 AND s.agent_name = r.agent_name AND r.revision IN (s.revision, s.canary_revision))
             AND NOT EXISTS (
               SELECT FROM (
                 SELECT h.revision FROM parley.agent_releases h WHERE h.org = $1 AND h.agent_name = r.agent_name ORDER BY h.id DESC LIMIT $3) latest
               WHERE latest.revision = r.revision)
           LIMIT $4
         )
         DELETE FROM parley.agent_revisions r USING doomed d
         WHERE r.org = $1 AND r.agent_name = d.agent_name AND r.revision = d.revision`,
        [org, keepForMs, keepNewest, limit],
      );
      return { deleted: ofGone.rowCount + superseded.rowCount, more: gone.rowCount === agentsAtOnce || superseded.rowCount === limit };
    });
  }
}
