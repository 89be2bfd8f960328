/** Changes which revisions serve: each change with its record and its events in one transaction. */
import type { Transaction } from '../database.ts';
import { StoreError } from '../error.ts';
import { Repository } from '../repository.ts';
import { insertEvents } from '../webhooks/events.ts';
import type { NewEvent } from '../webhooks/types.ts';
import { readState, writeState, type AgentRef } from './release-rows.ts';
import {
  applyChange,
  isSame,
  type Author,
  type ReleaseChange,
  type ReleaseRecord,
  type ReleaseState,
  type ServingBudget,
} from './release-state.ts';
import type { RevisionParts } from './revision-parts.ts';

/** Notifies operators that a person changed what serves; the payload is `<organisation>/<agent>`. */
export const RELEASES_CHANNEL = 'parley_agent_releases';

export interface ReleasedAgent extends AgentRef, ReleaseRecord {}

interface WithEvents {
  readonly events?: ((released: ReleasedAgent) => readonly NewEvent[]) | undefined;
}

interface ByVersion {
  /** Version of the state that the change was decided on: null where nothing served; any where absent. */
  readonly version?: number | null | undefined;
}

/** The new state; undefined where the present one is no longer the one that the change was decided on: read it again. */
type Changed = ReleaseState | undefined;

export class AgentReleases extends Repository {
  /** @returns undefined for an agent that has never served */
  async state({ org, agentName }: AgentRef): Promise<ReleaseState | undefined> {
    return this.database.asOrganization(org, (transaction) => readState(transaction, { org, agentName }));
  }

  /**
   * Lets all new calls of the agent start with this revision. Serving the same one again keeps `activeSince` and writes nothing.
   *
   * @throws StoreError `not_found` when the revision was never put
   */
  async serve(
    options: AgentRef & WithEvents & ByVersion & { readonly revision: string; readonly configHash?: string; readonly pinned?: boolean },
  ): Promise<Changed> {
    const { org, agentName, revision, configHash = null, pinned = false } = options;
    return this.database.asOrganization(org, async (transaction) => {
      await requireStored(transaction, options);
      const before = await readState(transaction, options, 'FOR UPDATE');
      if (before !== undefined)
        return this.#apply(transaction, options, { before, change: { type: 'serve', revision, configHash, pinned } });
      const { rowCount } = await transaction.query(
        `INSERT INTO parley.agent_serving (org, agent_name, revision, config_hash) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
        [org, agentName, revision, configHash],
      );
      // Another operator has changed the state first.
      if (rowCount === 0) return undefined;
      const record = { change: pinned ? 'pinned' : 'served', revision, configHash, replaced: null, percent: 100 } as const;
      await this.#record(transaction, options, record);
      return readState(transaction, options);
    });
  }

  /** Applies any other change, decided on the state of a version. @throws StoreError `not_found` for an agent that doesn't serve */
  async change(
    options: AgentRef & WithEvents & Author & ByVersion & { readonly change: Exclude<ReleaseChange, { type: 'serve' }> },
  ): Promise<Changed> {
    return this.database.asOrganization(options.org, async (transaction) => {
      const before = await requireState(transaction, options);
      return this.#apply(transaction, options, { before, change: options.change });
    });
  }

  /**
   * Stops new calls of a deleted Agent. Its state stays for an Agent of the same name, until the housekeeping forgets it.
   * Idempotent. @returns false where the state is no longer the one that was seen
   */
  async retire(ref: AgentRef & ByVersion): Promise<boolean> {
    return this.database.asOrganization(ref.org, async (transaction) => {
      const values = [ref.org, ref.agentName];
      const before = await readState(transaction, ref, 'FOR UPDATE');
      if (before !== undefined && (await this.#apply(transaction, ref, { before, change: { type: 'retire' } })) === undefined) return false;
      await transaction.query(
        `UPDATE parley.test_runs SET state = 'cancelled', finished_at = now() WHERE org = $1 AND agent_name = $2 AND state IN ('queued', 'running')`,
        values,
      );
      // An agent that never served has no row to be found by later, and no call can be running on its revisions.
      if (before === undefined) await transaction.query('DELETE FROM parley.agent_revisions WHERE org = $1 AND agent_name = $2', values);
      return true;
    });
  }

  /**
   * Retires every agent that is gone, as {@link retire} does.
   * @param living `organisation/name` of the agents that exist
   * @param within the only organisation to look at; all of them where absent
   */
  async retireOthers(living: readonly string[], within?: string): Promise<readonly AgentRef[]> {
    return this.database.query<{ org: string; agentName: string }>(
      'SELECT org, agent_name AS "agentName" FROM parley.retire_agents($1, $2)',
      [living, within ?? null],
    );
  }

  /** Sets the budget for calls from now on. Does nothing for an agent that doesn't serve. */
  async setBudget({ org, agentName, budget }: AgentRef & { readonly budget: ServingBudget | undefined }): Promise<Changed> {
    return this.database.asOrganization(org, async (transaction) => {
      await transaction.query('UPDATE parley.agent_serving SET budget = $3 WHERE org = $1 AND agent_name = $2 AND retired_at IS NULL', [
        org,
        agentName,
        budget === undefined ? null : JSON.stringify(budget),
      ]);
      return readState(transaction, { org, agentName });
    });
  }

  /**
   * Ends the canary for a person or, without one, goes back to the revision that served before, or to another one that has served.
   * @param to a revision, or the first 8 or more digits of one
   * @throws StoreError `not_found` for an agent that doesn't serve, `invalid` for an unknown revision, `conflict` where there is nothing to
   * go back to
   */
  async rollback(options: AgentRef & { readonly to?: string | undefined } & WithEvents & Author): Promise<ReleaseState> {
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
      if (isSame(found, before.canary ?? before))
        throw new StoreError(
          'conflict',
          `agent ${options.agentName}: revision ${found.revision}, or one that differs from it in Secrets and names alone, ${before.canary === null ? 'serves already' : 'is its canary: promote it'}`,
        );
      const goal = isSame(found, before) ? before : found;
      return { type: 'rollback', to: goal.revision, configHash: goal.configHash };
    });
  }

  /**
   * Lets the canary serve all new calls for a person or, without one, the revision that was rolled back last. No other rollback is
   * forgotten.
   * @param revision the canary's or one that was rolled back, or the first 8 or more digits of it
   * @throws StoreError `not_found` for an agent that doesn't serve, `invalid` for a revision that is neither, `conflict` where there is
   * nothing to promote
   */
  async promote(options: AgentRef & { readonly revision?: string | undefined } & WithEvents & Author): Promise<ReleaseState> {
    const { agentName, revision: prefix } = options;
    return this.#request(options, (_transaction, { canary, rolledBack }) => {
      const candidates = [...rolledBack, ...(canary === null ? [] : [canary])].map(({ revision }) => revision);
      if (candidates.length === 0)
        throw new StoreError('conflict', `agent ${agentName}: no canary runs, and nothing was rolled back: there is nothing to promote`);
      const named = prefix === undefined ? undefined : candidates.filter((revision) => revision.startsWith(prefix));
      if (named !== undefined && named.length !== 1)
        throw new StoreError(
          'invalid',
          `agent ${agentName}: ${prefix} is neither its canary nor one revision that was rolled back; these can be promoted: ${candidates.map((each) => each.slice(0, 12)).join(', ')}`,
        );
      return Promise.resolve({ type: 'force_promote', revision: named?.[0] });
    });
  }

  /** Finds a revision that has served or been tried, by its hash or the beginning of it. @returns undefined for none, and for several */
  async served({
    org,
    agentName,
    prefix,
  }: AgentRef & { readonly prefix: string }): Promise<{ readonly revision: string; readonly configHash: string | null } | undefined> {
    return this.database.asOrganization(org, (transaction) =>
      findServed(transaction, { org, agentName, revision: '', configHash: null, rolledBack: [] }, prefix),
    );
  }

  async #request(
    options: AgentRef & WithEvents & Author,
    decide: (transaction: Transaction, before: ReleaseState & AgentRef) => Promise<ReleaseChange>,
  ): Promise<ReleaseState> {
    const { org, agentName } = options;
    const unknown = (): StoreError => new StoreError('not_found', `agent ${agentName}: no revision of it serves in organisation ${org}`);
    // Postgres refuses this character even in a parameter.
    if (agentName.includes('\u0000')) throw unknown();
    return this.database.asOrganization(org, async (transaction) => {
      const before = await readState(transaction, options, 'FOR UPDATE');
      if (before === undefined || before.retiredAt !== null) throw unknown();
      const change = await decide(transaction, { ...before, org, agentName });
      const after = await this.#apply(transaction, options, { before, change });
      // People do this rarely, so that the lock of a notification within a transaction costs nothing.
      await transaction.query('SELECT pg_notify($1, $2)', [RELEASES_CHANNEL, `${org}/${agentName}`]);
      return after ?? before;
    });
  }

  async #apply(
    transaction: Transaction,
    options: AgentRef & WithEvents & Author & ByVersion,
    { before, change }: { readonly before: ReleaseState; readonly change: ReleaseChange },
  ): Promise<Changed> {
    if (options.version !== undefined && options.version !== before.version) return undefined;
    const parts = await readRevisionParts(transaction, options, change, before);
    const transition = applyChange(before, change, {
      now: await nowOf(transaction),
      by: options.by,
      reason: options.reason,
      partsOf: (revision) => parts.get(revision),
    });
    if (transition === undefined) return before;
    await writeState(transaction, options, { ...transition.state, version: before.version + 1 });
    if (transition.record !== undefined) await this.#record(transaction, options, transition.record);
    return readState(transaction, options);
  }

  async #record(transaction: Transaction, options: AgentRef & WithEvents, record: ReleaseRecord): Promise<void> {
    const { org, agentName, events } = options;
    await transaction.query(
      `INSERT INTO parley.agent_releases (org, agent_name, change, revision, config_hash, replaced, reason, requested_by)
       VALUES ($1, $2, $3, $4, $5, $6, left($7, 1000), left($8, 200))`,
      [org, agentName, record.change, record.revision, record.configHash, record.replaced, record.reason ?? null, record.by ?? null],
    );
    if (events === undefined) return;
    await insertEvents(transaction, events({ ...record, org, agentName }));
  }
}

async function requireState(transaction: Transaction, ref: AgentRef) {
  const state = await readState(transaction, ref, 'FOR UPDATE');
  if (state === undefined) throw new StoreError('not_found', `agent ${ref.agentName}: no revision of it serves`);
  return state;
}

/** Reads the parts of the revision that a rollback takes away, and of its replacement. */
async function readRevisionParts(
  transaction: Transaction,
  { org, agentName }: AgentRef,
  change: ReleaseChange,
  { revision, canary }: ReleaseState,
): Promise<ReadonlyMap<string, RevisionParts>> {
  if (change.type !== 'rollback' && change.type !== 'abort') return new Map();
  const involved = [revision, ...(canary === null ? [] : [canary.revision]), ...(change.type === 'rollback' ? [change.to] : [])];
  const { rows } = await transaction.query<{ revision: string; parts: RevisionParts | null }>(
    'SELECT revision, parts FROM parley.agent_revisions WHERE org = $1 AND agent_name = $2 AND revision = ANY ($3)',
    [org, agentName, involved],
  );
  return new Map(rows.flatMap(({ revision: each, parts }) => (parts === null ? [] : [[each, parts] as const])));
}

/** Returns the time by the clock of Postgres, which every process shares. */
async function nowOf(transaction: Transaction): Promise<Date> {
  const { rows } = await transaction.query<{ now: Date }>('SELECT now()::timestamptz(3) AS now');
  return rows[0]!.now;
}

/**
 * Finds a revision that served. Without a prefix, it is the latest with another configuration that served by the spec, unless it was rolled
 * back since. Revisions that differ in the versions of Secrets alone have one configuration.
 */
async function findServed(
  transaction: Transaction,
  { org, agentName, revision, configHash, rolledBack }: AgentRef & Pick<ReleaseState, 'revision' | 'configHash' | 'rolledBack'>,
  prefix: string | undefined,
): Promise<{ readonly revision: string; readonly configHash: string | null } | undefined> {
  const { rows } = await transaction.query<{ revision: string; configHash: string | null }>(
    `SELECT * FROM (
       SELECT DISTINCT ON (h.revision) h.revision, h.config_hash AS "configHash", h.id
       FROM parley.agent_releases h JOIN parley.agent_revisions USING (org, agent_name, revision)
       WHERE h.org = $1 AND h.agent_name = $2 AND (
         CASE WHEN $4::text IS NULL
           THEN h.revision <> $3 AND (h.config_hash = $5) IS NOT TRUE AND h.change IN ('served', 'pinned', 'promoted')
             AND h.revision <> ALL ($6) AND (h.config_hash = ANY ($7)) IS NOT TRUE AND NOT EXISTS (
             SELECT FROM parley.agent_releases b JOIN parley.agent_releases gone ON (gone.org, gone.agent_name, gone.revision) = (b.org, b.agent_name, b.replaced)
             WHERE b.org = h.org AND b.agent_name = h.agent_name AND b.change IN ('aborted', 'rolled_back') AND b.id > h.id
               AND (gone.revision = h.revision OR gone.config_hash = h.config_hash))
           ELSE starts_with(h.revision, $4) END)
       ORDER BY h.revision, h.id DESC
     ) known ORDER BY id DESC LIMIT 2`,
    [
      org,
      agentName,
      revision,
      prefix ?? null,
      configHash,
      rolledBack.map((each) => each.revision),
      rolledBack.flatMap((each) => each.configHash ?? []),
    ],
  );
  return prefix !== undefined && rows.length > 1 ? undefined : rows[0];
}

async function requireStored(
  transaction: Transaction,
  { org, agentName, revision }: AgentRef & { readonly revision: string },
): Promise<void> {
  const { rowCount } = await transaction.query('SELECT FROM parley.agent_revisions WHERE org = $1 AND agent_name = $2 AND revision = $3', [
    org,
    agentName,
    revision,
  ]);
  if (rowCount === 0) throw new StoreError('not_found', `agent ${agentName}: revision ${revision} was never stored: put it first`);
}
