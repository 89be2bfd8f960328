/** The usage of calls, and what agents have spent. */
import { StoreError } from '../error.ts';
import { Repository } from '../repository.ts';
import type { CallRef } from './call-record.ts';
import { pruneSpending, spentSince, type Spending } from './spending.ts';
import { LINE_SUMS, storeUsage, toLine, usageOfCall, type CallUsageRows, type UsageLine, type UsageRow } from './usage.ts';
import { usageSums, type UsageGroup, type UsageSumsOptions } from './usage-sums.ts';

export class CallUsage extends Repository {
  ofCall(ref: CallRef): Promise<readonly UsageLine[]> {
    return this.database.asOrganization(ref.org, (transaction) => usageOfCall(transaction, ref));
  }

  /** Returns the usage of each of these calls, by its id; calls that have used nothing are absent. */
  async ofCalls(org: string, ids: readonly string[]): Promise<ReadonlyMap<string, readonly UsageLine[]>> {
    const { rows } = await this.database.queryAs<UsageRow & { readonly id: string }>(
      org,
      `SELECT call_id AS id, kind, purpose, provider, model, ${LINE_SUMS} FROM parley.call_usage WHERE org = $1 AND call_id = ANY ($2)
       GROUP BY call_id, kind, purpose, provider, model`,
      [org, ids],
    );
    const calls = Map.groupBy(rows, ({ id }) => id);
    return new Map([...calls].map(([id, lines]) => [id, lines.map(({ id: _id, ...line }) => toLine(line))]));
  }

  /** Returns an agent's spending on calls that were made since then, in millionths. @param options.since a full quarter of an hour */
  spentSince(options: Spending): Promise<bigint> {
    return this.database.asOrganization(options.org, (transaction) => spentSince(transaction, options));
  }

  /** @returns how many rows of former days were deleted */
  pruneSpending(batch: { readonly org: string; readonly limit: number }): Promise<number> {
    return this.database.asOrganization(batch.org, (transaction) => pruneSpending(transaction, batch));
  }

  sums(options: UsageSumsOptions): Promise<readonly UsageGroup[]> {
    return usageSums(this.database, options);
  }

  /** @returns false for a call that doesn't exist, or not any more */
  async store(ref: CallRef, rows: CallUsageRows): Promise<boolean> {
    try {
      await this.database.asOrganization(ref.org, (transaction) => storeUsage(transaction, ref, rows));
      return true;
    } catch (error) {
      if (error instanceof StoreError && error.kind === 'conflict') return false;
      throw error;
    }
  }
}
