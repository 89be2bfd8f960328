/** The state of a release as `parley.agent_serving` has it. */
import type { Transaction } from '../database.ts';
import type { ReleaseState, ServingBudget } from './release-state.ts';

export interface AgentRef {
  readonly org: string;
  readonly agentUid: string;
}

type Named = ReleaseState & { readonly agentName: string };

interface Row extends Omit<Named, 'canary' | 'budget'> {
  readonly budget: ServingBudget | null;
  readonly canaryRevision: string | null;
  readonly canaryConfigHash: string;
  readonly canaryPercent: number;
  readonly canarySince: Date;
}

/** @returns undefined for an agent that has never served, or is retired */
export async function readState(
  transaction: Transaction,
  { org, agentUid }: AgentRef,
  lock: 'FOR UPDATE' | '' = '',
): Promise<Named | undefined> {
  const { rows } = await transaction.query<Row & Record<string, unknown>>(
    `SELECT agent_name AS "agentName", version, revision, config_hash AS "configHash", active_since AS "activeSince", rolled_back AS "rolledBack",
       canary_revision AS "canaryRevision", canary_config_hash AS "canaryConfigHash", canary_percent AS "canaryPercent", canary_since AS "canarySince", budget
     FROM parley.agent_serving WHERE org = $1 AND agent_uid = $2 AND retired_at IS NULL ${lock}`,
    [org, agentUid],
  );
  if (rows[0] === undefined) return undefined;
  const { canaryRevision: revision, canaryConfigHash: configHash, canaryPercent: percent, canarySince: since, budget, ...state } = rows[0];
  return { ...state, canary: revision === null ? null : { revision, configHash, percent, since }, budget: budget ?? undefined };
}

export async function writeState(
  transaction: Transaction,
  { org, agentUid, agentName }: AgentRef & { readonly agentName: string },
  { version, revision, configHash, activeSince, canary, rolledBack }: ReleaseState,
): Promise<void> {
  await transaction.query(
    `UPDATE parley.agent_serving SET agent_name = $3, version = $4, revision = $5, config_hash = $6, active_since = $7,
       canary_revision = $8, canary_config_hash = $9, canary_percent = $10, canary_since = $11, rolled_back = $12
     WHERE org = $1 AND agent_uid = $2`,
    [
      org,
      agentUid,
      agentName,
      version,
      revision,
      configHash,
      activeSince,
      canary?.revision ?? null,
      canary?.configHash ?? null,
      canary?.percent ?? null,
      canary?.since ?? null,
      JSON.stringify(rolledBack),
    ],
  );
}
