/** The revisions of an agent, with what became of each. */
import type { Transaction } from '../database.ts';
import { Repository } from '../repository.ts';
import { readState, type AgentRef } from './release-rows.ts';
import type { ReleaseRecord, ReleaseState } from './release-state.ts';

/** `not_served`: stored, because it is being tested or was not let through. */
export type RevisionState = 'serving' | 'canary' | 'rolled_back' | 'superseded' | 'not_served';

export interface RevisionSummary {
  readonly revision: string;
  readonly createdAt: Date;
  readonly state: RevisionState;
  /** The last that happened to it; null where nothing has. */
  readonly last: (Pick<ReleaseRecord, 'change'> & { readonly at: Date; readonly reason: string | null; readonly by: string | null }) | null;
}

export interface RevisionPosition {
  readonly createdAt: Date;
  readonly revision: string;
}

export interface RevisionPage {
  readonly agentUid: string;
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
  /** The newest first. @returns undefined for an agent without any revision */
  async list({
    org,
    agentName,
    pageSize,
    after,
  }: AgentName & { readonly pageSize: number; readonly after?: RevisionPosition | undefined }): Promise<RevisionPage | undefined> {
    return this.database.asOrganization(org, async (transaction) => {
      const agentUid = await uidOf(transaction, { org, agentName });
      if (agentUid === undefined) return undefined;
      const release = await readState(transaction, { org, agentUid });
      const { rows } = await transaction.query<Row & Record<string, unknown>>(
        `SELECT r.revision, r.created_at AS "createdAt", h.change, h.at, h.reason, h.requested_by AS by, h.replaced = r.revision AS gone
         FROM parley.agent_revisions r LEFT JOIN LATERAL (
           SELECT * FROM parley.agent_releases h
           WHERE h.org = r.org AND h.agent_uid = r.agent_uid
             AND (h.revision = r.revision AND h.change NOT IN ('aborted', 'canary_ended')
               OR h.replaced = r.revision AND h.change IN ('aborted', 'rolled_back', 'canary_ended'))
           ORDER BY h.id DESC LIMIT 1) h ON true
         WHERE r.org = $1 AND r.agent_uid = $2 AND ($3::timestamptz IS NULL OR (r.created_at, r.revision) < ($3, $4))
         ORDER BY r.created_at DESC, r.revision DESC LIMIT $5`,
        [org, agentUid, after?.createdAt ?? null, after?.revision ?? null, pageSize + 1],
      );
      const items = rows.slice(0, pageSize).map((row) => summaryOf(row, release));
      const last = items.at(-1);
      const next = rows.length > pageSize && last !== undefined ? { createdAt: last.createdAt, revision: last.revision } : undefined;
      return { agentUid, release, items, next };
    });
  }

  /** One revision with its configuration, by its hash or the beginning of it. @returns undefined for none, and for several */
  async find({
    org,
    agentName,
    prefix,
  }: AgentName & { readonly prefix: string }): Promise<
    { readonly revision: string; readonly createdAt: Date; readonly config: unknown } | undefined
  > {
    return this.database.asOrganization(org, async (transaction) => {
      const agentUid = await uidOf(transaction, { org, agentName });
      const { rows } = await transaction.query<{ revision: string; createdAt: Date; config: unknown }>(
        `SELECT revision, created_at AS "createdAt", config FROM parley.agent_revisions
         WHERE org = $1 AND agent_uid = $2 AND starts_with(revision, $3) LIMIT 2`,
        [org, agentUid ?? '', prefix],
      );
      return rows.length === 1 ? rows[0] : undefined;
    });
  }
}

/** Of what serves under the name; else of what was stored last. */
async function uidOf(transaction: Transaction, { org, agentName }: AgentName): Promise<AgentRef['agentUid'] | undefined> {
  if (agentName.includes('\u0000')) return undefined;
  const { rows } = await transaction.query<{ uid: string | null }>(
    `SELECT coalesce(
       (SELECT agent_uid FROM parley.agent_serving WHERE org = $1 AND agent_name = $2 AND retired_at IS NULL),
       (SELECT r.agent_uid FROM parley.agent_revisions r WHERE r.org = $1 AND r.agent_name = $2 AND NOT EXISTS (
          SELECT FROM parley.agent_serving s WHERE s.org = r.org AND s.agent_uid = r.agent_uid AND s.retired_at IS NOT NULL)
        ORDER BY r.created_at DESC LIMIT 1)) AS uid`,
    [org, agentName],
  );
  return rows[0]?.uid ?? undefined;
}

function summaryOf({ revision, createdAt, change, at, reason, by, gone }: Row, release: ReleaseState | undefined): RevisionSummary {
  const last = change === null ? null : { change, at, reason, by };
  return { revision, createdAt, state: stateOf(), last };

  function stateOf(): RevisionState {
    if (revision === release?.revision) return 'serving';
    if (revision === release?.canary?.revision) return 'canary';
    if (change === null) return 'not_served';
    return gone === true && change !== 'canary_ended' ? 'rolled_back' : 'superseded';
  }
}
