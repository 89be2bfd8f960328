/** The state of a release as `parley.agent_serving` has it. */
import type { Transaction } from '../database.ts';
import type { ReleaseState, RolledBackRevision } from './release-state.ts';

export interface AgentRef {
  readonly org: string;
  readonly agentUid: string;
}

interface Row {
  readonly agent_name: string;
  readonly version: number;
  readonly revision: string;
  readonly config_hash: string | null;
  readonly active_since: Date;
  readonly canary_revision: string | null;
  readonly canary_config_hash: string;
  readonly canary_percent: number;
  readonly canary_since: Date;
  readonly rolled_back: readonly RolledBackRevision[];
}

type Named = ReleaseState & { readonly agentName: string };

/** @returns undefined for an agent that has never served, or is retired */
export async function readState(
  transaction: Transaction,
  { org, agentUid }: AgentRef,
  lock: 'FOR UPDATE' | '' = '',
): Promise<Named | undefined> {
  const { rows } = await transaction.query<Row & Record<string, unknown>>(
    `SELECT agent_name, version, revision, config_hash, active_since, canary_revision, canary_config_hash, canary_percent, canary_since, rolled_back
     FROM parley.agent_serving WHERE org = $1 AND agent_uid = $2 AND retired_at IS NULL ${lock}`,
    [org, agentUid],
  );
  const row = rows[0];
  return (
    row && {
      agentName: row.agent_name,
      version: row.version,
      revision: row.revision,
      configHash: row.config_hash,
      activeSince: row.active_since,
      canary:
        row.canary_revision === null
          ? null
          : {
              revision: row.canary_revision,
              configHash: row.canary_config_hash,
              percent: row.canary_percent,
              since: row.canary_since,
            },
      rolledBack: row.rolled_back,
    }
  );
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
