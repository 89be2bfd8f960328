/**
 * Reads agents' spending, which a trigger on usage keeps up to date (migrations/0001_schema.sql). Calls under way count with their usage so
 * far.
 */
import type { Transaction } from '../database.ts';

export interface Spending {
  readonly org: string;
  readonly agentName: string;
  readonly currency: string;
  readonly since: Date;
}

/** Returns the spending in millionths of the currency. */
export async function spentSince(transaction: Pick<Transaction, 'query'>, { org, agentName, currency, since }: Spending): Promise<bigint> {
  const { rows } = await transaction.query<{ micros: string }>(
    `SELECT coalesce(sum(micros), 0)::text AS micros FROM parley.agent_spending
     WHERE org = $1 AND agent_name = $2 AND quarter >= $3 AND currency = $4`,
    [org, agentName, since.toISOString(), currency],
  );
  return BigInt(rows[0]?.micros ?? '0');
}

/** Days that are kept: longer than a day lasts anywhere. */
const KEPT_DAYS = 3;

/** @returns how many rows were deleted, of days that no budget asks for any more */
export async function pruneSpending(
  transaction: Pick<Transaction, 'query'>,
  { org, limit }: { readonly org: string; readonly limit: number },
): Promise<number> {
  const { rowCount } = await transaction.query(
    `DELETE FROM parley.agent_spending WHERE (org, agent_name, quarter, currency) IN (
       SELECT org, agent_name, quarter, currency FROM parley.agent_spending
       WHERE org = $1 AND quarter < now() - make_interval(days => $3) ORDER BY quarter LIMIT $2)`,
    [org, limit, KEPT_DAYS],
  );
  return rowCount;
}
