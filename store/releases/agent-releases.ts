/** How revisions come into service, and go: each change with its record and its events in one transaction. */
import type { Transaction } from '../database.ts';
import { StoreError } from '../error.ts';
import { Repository } from '../repository.ts';
import { insertEvents } from '../webhooks/events.ts';
import type { NewEvent } from '../webhooks/types.ts';
import { readState, writeState, type AgentRef } from './release-rows.ts';
import {
  applyChange,
  type Author,
  type ReleaseChange,
  type ReleaseRecord,
  type ReleaseState,
  type ServingBudget,
} from './release-state.ts';

/** Notifies operators that a person changed what serves; the payload is `<organisation>/<agent>/<uid>`. */
export const RELEASES_CHANNEL = 'parley_agent_releases';

/** A change as its events see it. */
export interface ReleasedAgent extends AgentRef, ReleaseRecord {
  readonly agentName: string;
  /** Label `parley.dev/workspace` of the agent. */
  readonly workspace: string | null;
}

interface WithEvents {
  readonly events?: ((released: ReleasedAgent) => readonly NewEvent[]) | undefined;
}

interface ByVersion {
  /** Of the state that the change was decided on: null where nothing served; any where absent. */
  readonly version?: number | null | undefined;
}

/** Undefined where the state is no longer the one that the change was decided on: look again. */
type Changed = ReleaseState | undefined;

export class AgentReleases extends Repository {
  /** @returns undefined for an agent that has never served, or is retired */
  async state({ org, agentUid }: AgentRef): Promise<ReleaseState | undefined> {
    return this.database.asOrganization(org, (transaction) => readState(transaction, { org, agentUid }));
  }

  /**
   * All new calls of the agent start from this revision. Serving the same one again keeps `activeSince` and writes nothing.
   * An agent of the same name that went before (deleted and made again) is retired with it.
   *
   * @throws StoreError `not_found` when the revision was never put, `conflict` when the agent is retired
   */
  async serve(
    options: AgentRef & WithEvents & ByVersion & { readonly revision: string; readonly configHash?: string; readonly pinned?: boolean },
  ): Promise<Changed> {
    const { org, agentUid, revision, configHash = null, pinned = false } = options;
    return this.database.asOrganization(org, async (transaction) => {
      const agentName = await nameOf(transaction, options);
      const change = { type: 'serve', revision, configHash, pinned } as const;
      const seen = await readState(transaction, options);
      if (seen?.agentName === agentName && applyChange(seen, change, { now: new Date() }) === undefined) return seen;
      // Two agents can have had one name; only one of them at a time takes it over.
      await transaction.query("SELECT pg_advisory_xact_lock(hashtextextended($1 || '/' || $2, 0))", [org, agentName]);
      await transaction.query(
        'UPDATE parley.agent_serving SET retired_at = now() WHERE org = $1 AND agent_name = $2 AND agent_uid <> $3 AND retired_at IS NULL',
        [org, agentName, agentUid],
      );
      const before = await readState(transaction, options, 'FOR UPDATE');
      if (before !== undefined) return this.#apply(transaction, { ...options, agentName }, { before, change });
      const { rowCount } = await transaction.query(
        `INSERT INTO parley.agent_serving AS s (org, agent_uid, agent_name, revision, config_hash) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (org, agent_uid) DO NOTHING`,
        [org, agentUid, agentName, revision, configHash],
      );
      if (rowCount === 0)
        throw new StoreError('conflict', `agent ${agentName} (uid ${agentUid}) is retired: a deleted agent serves no more`);
      const record = { change: pinned ? 'pinned' : 'served', revision, configHash, replaced: null, percent: 100 } as const;
      await this.#record(transaction, { ...options, agentName }, record);
      return readState(transaction, options);
    });
  }

  /** Any other change, decided on the state of a version. @throws StoreError `not_found` for an agent that doesn't serve */
  async change(
    options: AgentRef & WithEvents & Author & ByVersion & { readonly change: Exclude<ReleaseChange, { type: 'serve' }> },
  ): Promise<Changed> {
    return this.database.asOrganization(options.org, async (transaction) => {
      const before = await requireState(transaction, options);
      return this.#apply(transaction, { ...options, agentName: before.agentName }, { before, change: options.change });
    });
  }

  /** What calls may cost from now on. Does nothing for an agent that doesn't serve. */
  async setBudget({ org, agentUid, budget }: AgentRef & { readonly budget: ServingBudget | undefined }): Promise<Changed> {
    return this.database.asOrganization(org, async (transaction) => {
      await transaction.query('UPDATE parley.agent_serving SET budget = $3 WHERE org = $1 AND agent_uid = $2 AND retired_at IS NULL', [
        org,
        agentUid,
        budget === undefined ? null : JSON.stringify(budget),
      ]);
      return readState(transaction, { org, agentUid });
    });
  }

  /**
   * A person ends the canary or, without one, goes back to the revision that served before, or to another one that has served.
   * @param to a revision, or the first 8 or more digits of one
   * @throws StoreError `not_found` for an agent that doesn't serve, `invalid` for an unknown revision, `conflict` where there is nothing to go back to
   */
  async rollback(
    options: { readonly org: string; readonly agentName: string; readonly to?: string | undefined } & WithEvents & Author,
  ): Promise<ReleaseState> {
    return this.#request(options, async (transaction, before) => {
      const { to } = options;
      if (to === undefined && before.canary !== null) return { type: 'rollback', to: before.revision, configHash: before.configHash };
      const found = await findServed(transaction, before, to);
      if (found === undefined)
        throw to === undefined
          ? new StoreError('conflict', `agent ${options.agentName}: no former revision is left to go back to; name one of its history`)
          : new StoreError(
              'invalid',
              `agent ${options.agentName}: no revision ${to} has served, or several begin with it; see its history`,
            );
      if (found.revision === before.revision && before.canary === null)
        throw new StoreError('conflict', `agent ${options.agentName}: revision ${found.revision} serves already`);
      return { type: 'rollback', to: found.revision, configHash: found.configHash };
    });
  }

  /**
   * A person has the canary serve all new calls or, without one, what was rolled back last serve again.
   * @throws StoreError `not_found` for an agent that doesn't serve, `conflict` where there is nothing to promote
   */
  async promote(options: { readonly org: string; readonly agentName: string } & WithEvents & Author): Promise<ReleaseState> {
    return this.#request(options, (_transaction, { canary, rolledBack }) => {
      if (canary === null && rolledBack.length === 0)
        throw new StoreError(
          'conflict',
          `agent ${options.agentName}: no canary runs, and nothing was rolled back: there is nothing to promote`,
        );
      return Promise.resolve({ type: 'promote' });
    });
  }

  /** A revision that has served or been tried, by its hash or the beginning of it. @returns undefined for none, and for several */
  async served({
    org,
    agentUid,
    prefix,
  }: AgentRef & { readonly prefix: string }): Promise<{ readonly revision: string; readonly configHash: string | null } | undefined> {
    return this.database.asOrganization(org, (transaction) =>
      findServed(transaction, { org, agentUid, revision: '', configHash: null }, prefix),
    );
  }

  async #request(
    options: { readonly org: string; readonly agentName: string } & WithEvents & Author,
    decide: (transaction: Transaction, before: ReleaseState & AgentRef) => Promise<ReleaseChange>,
  ): Promise<ReleaseState> {
    const { org, agentName } = options;
    const unknown = (): StoreError => new StoreError('not_found', `agent ${agentName}: no revision of it serves in organisation ${org}`);
    // Postgres refuses this character even in a question.
    if (agentName.includes('\u0000')) throw unknown();
    return this.database.asOrganization(org, async (transaction) => {
      const { rows } = await transaction.query<{ agent_uid: string }>(
        'SELECT agent_uid FROM parley.agent_serving WHERE org = $1 AND agent_name = $2 AND retired_at IS NULL',
        [org, agentName],
      );
      const agentUid = rows[0]?.agent_uid;
      if (agentUid === undefined) throw unknown();
      const before = await requireState(transaction, { org, agentUid });
      const change = await decide(transaction, { ...before, org, agentUid });
      const after = await this.#apply(transaction, { ...options, agentUid }, { before, change });
      // Few people do this, so that the lock of a notification within a transaction costs nothing.
      await transaction.query('SELECT pg_notify($1, $2)', [RELEASES_CHANNEL, `${org}/${agentName}/${agentUid}`]);
      return after ?? before;
    });
  }

  async #apply(
    transaction: Transaction,
    options: AgentRef & WithEvents & Author & ByVersion & { readonly agentName: string },
    { before, change }: { readonly before: ReleaseState & { readonly agentName: string }; readonly change: ReleaseChange },
  ): Promise<Changed> {
    if (options.version !== undefined && options.version !== before.version) return undefined;
    const transition = applyChange(before, change, { now: await nowOf(transaction), by: options.by, reason: options.reason });
    if (transition === undefined && before.agentName === options.agentName) return before;
    await writeState(transaction, options, { ...(transition?.state ?? before), version: before.version + 1 });
    if (transition?.record !== undefined) await this.#record(transaction, options, transition.record);
    return readState(transaction, options);
  }

  async #record(
    transaction: Transaction,
    options: AgentRef & WithEvents & { readonly agentName: string },
    record: ReleaseRecord,
  ): Promise<void> {
    const { org, agentUid, agentName, events } = options;
    await transaction.query(
      `INSERT INTO parley.agent_releases (org, agent_uid, change, revision, config_hash, replaced, reason, requested_by)
       VALUES ($1, $2, $3, $4, $5, $6, left($7, 1000), left($8, 200))`,
      [org, agentUid, record.change, record.revision, record.configHash, record.replaced, record.reason ?? null, record.by ?? null],
    );
    if (events === undefined) return;
    const { rows } = await transaction.query<{ workspace: string | null }>(
      `SELECT config->'versions'->>'workspace' AS workspace FROM parley.agent_revisions WHERE org = $1 AND agent_uid = $2 AND revision = $3`,
      [org, agentUid, record.revision],
    );
    await insertEvents(transaction, events({ ...record, org, agentUid, agentName, workspace: rows[0]?.workspace ?? null }));
  }
}

async function requireState(transaction: Transaction, ref: AgentRef) {
  const state = await readState(transaction, ref, 'FOR UPDATE');
  if (state === undefined) throw new StoreError('not_found', `agent with uid ${ref.agentUid}: no revision of it serves`);
  return state;
}

/** By the clock of Postgres, which every process shares. */
async function nowOf(transaction: Transaction): Promise<Date> {
  const { rows } = await transaction.query<{ now: Date }>('SELECT now()::timestamptz(3) AS now');
  return rows[0]!.now;
}

/**
 * Without a prefix: the latest with another configuration that served by the spec, unless it was rolled back since. Revisions that
 * differ in the versions of Secrets alone have one configuration.
 */
async function findServed(
  transaction: Transaction,
  { org, agentUid, revision, configHash }: AgentRef & Pick<ReleaseState, 'revision' | 'configHash'>,
  prefix: string | undefined,
): Promise<{ readonly revision: string; readonly configHash: string | null } | undefined> {
  const { rows } = await transaction.query<{ revision: string; configHash: string | null }>(
    `SELECT * FROM (
       SELECT DISTINCT ON (h.revision) h.revision, h.config_hash AS "configHash", h.id
       FROM parley.agent_releases h JOIN parley.agent_revisions USING (org, agent_uid, revision)
       WHERE h.org = $1 AND h.agent_uid = $2 AND (
         CASE WHEN $4::text IS NULL
           THEN h.revision <> $3 AND (h.config_hash = $5) IS NOT TRUE AND h.change IN ('served', 'pinned', 'promoted') AND NOT EXISTS (
             SELECT FROM parley.agent_releases b JOIN parley.agent_releases gone ON (gone.org, gone.agent_uid, gone.revision) = (b.org, b.agent_uid, b.replaced)
             WHERE b.org = h.org AND b.agent_uid = h.agent_uid AND b.change IN ('aborted', 'rolled_back') AND b.id > h.id
               AND (gone.revision = h.revision OR gone.config_hash = h.config_hash))
           ELSE starts_with(h.revision, $4) END)
       ORDER BY h.revision, h.id DESC
     ) known ORDER BY id DESC LIMIT 2`,
    [org, agentUid, revision, prefix ?? null, configHash],
  );
  return prefix !== undefined && rows.length > 1 ? undefined : rows[0];
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
