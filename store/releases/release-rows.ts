/** Reads and writes the state of a release in `parley.agent_serving`. */
import type { Transaction } from '../database.ts';
import type { ReleaseState, ServingBudget } from './release-state.ts';

export interface AgentRef {
  readonly org: string;
  readonly agentName: string;
}

interface Row extends Omit<ReleaseState, 'canary' | 'budget'> {
  readonly budget: ServingBudget | null;
  readonly canaryRevision: string | null;
  readonly canaryConfigHash: string;
  readonly canaryPercent: number;
  readonly canarySince: Date;
}

/** @returns undefined for an agent that has never served; a retired agent still has its state */
export async function readState(
  transaction: Transaction,
  { org, agentName }: AgentRef,
  lock: 'FOR UPDATE' | '' = '',
): Promise<ReleaseState | undefined> {
  const { rows } = await transaction.query<Row & Record<string, unknown>>(
    `SELECT version, revision, config_hash AS "configHash", active_since AS "activeSince", rolled_back AS "rolledBack",
       canary_revision AS "canaryRevision", canary_config_hash AS "canaryConfigHash", canary_percent AS "canaryPercent", canary_since AS "canarySince", budget,
       retired_at AS "retiredAt", promoted
     FROM parley.agent_serving WHERE org = $1 AND agent_name = $2 ${lock}`,
    [org, agentName],
  );
  if (rows[0] === undefined) return undefined;
  const { canaryRevision: revision, canaryConfigHash: configHash, canaryPercent: percent, canarySince: since, budget, ...state } = rows[0];
  return { ...state, canary: revision === null ? null : { revision, configHash, percent, since }, budget: budget ?? undefined };
}

export async function writeState(
  transaction: Transaction,
  { org, agentName }: AgentRef,
  { version, revision, configHash, activeSince, canary, rolledBack, retiredAt, promoted }: ReleaseState,
): Promise<void> {
  await transaction.query(
    `UPDATE parley.agent_serving SET version = $3, revision = $4, config_hash = $5, active_since = $6,
       canary_revision = $7, canary_config_hash = $8, canary_percent = $9, canary_since = $10, rolled_back = $11, retired_at = $12, promoted = $13
     WHERE org = $1 AND agent_name = $2`,
    [
      org,
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
      retiredAt,
      promoted === null ? null : JSON.stringify(promoted),
    ],
  );
}
