/** Lists the revisions of an agent, with their releases. */
import { Repository } from '../repository.ts';
import { readState } from './release-rows.ts';
import type { ReleaseRecord, ReleaseState } from './release-state.ts';

/** `not_served`: stored, because it is being tested or did not pass the gate. */
export type RevisionState = 'serving' | 'canary' | 'rolled_back' | 'superseded' | 'not_served';

export interface RevisionSummary {
  readonly revision: string;
  readonly createdAt: Date;
  readonly state: RevisionState;
  /** The latest release change of the revision; null where there is none. */
  readonly last: (Pick<ReleaseRecord, 'change'> & { readonly at: Date; readonly reason: string | null; readonly by: string | null }) | null;
}

export interface RevisionPosition {
  readonly createdAt: Date;
  readonly revision: string;
}

export interface RevisionPage {
  readonly agentName: string;
  readonly release: ReleaseState | undefined;
  readonly items: readonly RevisionSummary[];
  readonly next: RevisionPosition | undefined;
}

interface AgentName {
  readonly org: string;
  readonly agentName: string;
}

interface Row {
  readonly revision: string;
  readonly createdAt: Date;
  readonly change: ReleaseRecord['change'] | null;
  readonly at: Date;
  readonly reason: string | null;
  readonly by: string | null;
  readonly gone: boolean | null;
}

export class AgentReleaseHistory extends Repository {
  /** Lists revisions, the newest first. @returns undefined for an agent without any revision */
  async list({
    org,
    agentName,
    pageSize,
    after,
  }: AgentName & { readonly pageSize: number; readonly after?: RevisionPosition | undefined }): Promise<RevisionPage | undefined> {
    if (isImpossible(agentName)) return undefined;
    return this.database.asOrganization(org, async (transaction) => {
      const release = await readState(transaction, { org, agentName });
      if (release !== undefined && release.retiredAt !== null) return undefined;
      const { rows } = await transaction.query<Row & Record<string, unknown>>(
        `SELECT r.revision, r.created_at AS "createdAt", h.change, h.at, h.reason, h.requested_by AS by, h.replaced = r.revision AS gone
         FROM parley.agent_revisions r LEFT JOIN LATERAL (
           SELECT * FROM parley.agent_releases h
           WHERE h.org = r.org AND h.agent_name = r.agent_name
             AND (h.revision = r.revision AND h.change NOT IN ('aborted', 'canary_ended')
               OR h.replaced = r.revision AND h.change IN ('aborted', 'rolled_back', 'canary_ended'))
           ORDER BY h.id DESC LIMIT 1) h ON true
         WHERE r.org = $1 AND r.agent_name = $2 AND ($3::timestamptz IS NULL OR (r.created_at, r.revision) < ($3, $4))
         ORDER BY r.created_at DESC, r.revision DESC LIMIT $5`,
        [org, agentName, after?.createdAt ?? null, after?.revision ?? null, pageSize + 1],
      );
      if (release === undefined && rows.length === 0) return undefined;
      const items = rows.slice(0, pageSize).map((row) => toRevisionSummary(row, release));
      const last = items.at(-1);
      const next = rows.length > pageSize && last !== undefined ? { createdAt: last.createdAt, revision: last.revision } : undefined;
      return { agentName, release, items, next };
    });
  }

  /** Finds one revision with its configuration, by its hash or the beginning of it. @returns undefined for none, and for several */
  async find({
    org,
    agentName,
    prefix,
  }: AgentName & { readonly prefix: string }): Promise<
    { readonly revision: string; readonly createdAt: Date; readonly config: unknown } | undefined
  > {
    if (isImpossible(agentName)) return undefined;
    return this.database.asOrganization(org, async (transaction) => {
      const { rows } = await transaction.query<{ revision: string; createdAt: Date; config: unknown }>(
        `SELECT revision, created_at AS "createdAt", config FROM parley.agent_revisions
         WHERE org = $1 AND agent_name = $2 AND starts_with(revision, $3) LIMIT 2`,
        [org, agentName, prefix],
      );
      return rows.length === 1 ? rows[0] : undefined;
    });
  }
}

/** Tells whether Postgres would refuse the name even in a parameter. */
const isImpossible = (name: string): boolean => name.includes('\u0000');

function toRevisionSummary({ revision, createdAt, change, at, reason, by, gone }: Row, release: ReleaseState | undefined): RevisionSummary {
  const last = change === null ? null : { change, at, reason, by };
  return { revision, createdAt, state: stateOf(), last };

  function stateOf(): RevisionState {
    if (revision === release?.revision) return 'serving';
    if (revision === release?.canary?.revision) return 'canary';
    if (change === null) return 'not_served';
    return gone === true && change !== 'canary_ended' ? 'rolled_back' : 'superseded';
  }
}
