/** Sums the usage of an organisation's calls by agent, day or model; without those of tests. */
import type { Database } from '../database.ts';
import { LINE_SUMS, toLine, type UsageLine, type UsageRow } from './usage.ts';

export type UsageGrouping = 'agent' | 'day' | 'model';

export interface UsageSumsOptions {
  readonly org: string;
  /** Sums calls that were made from `from` on, and before `to`. */
  readonly from: Date;
  readonly to: Date;
  readonly groupBy: UsageGrouping;
  readonly agentNames?: readonly string[] | undefined;
  /** IANA name of the time zone that decides where days begin. */
  readonly timeZone: string;
  readonly limit: number;
}

export interface UsageGroup {
  /** Name of the agent, the day as `2026-11-24`, or the kind, provider and name of a model. */
  readonly key: readonly string[];
  /** Calls that have used anything. */
  readonly calls: number;
  readonly lines: readonly UsageLine[];
}

const keys: Readonly<Record<UsageGrouping, string>> = {
  agent: 'ARRAY[coalesce(u.agent, c.talking_agent)]',
  day: `ARRAY[to_char(c.created_at AT TIME ZONE $4, 'YYYY-MM-DD')]`,
  model: 'ARRAY[u.kind, u.provider, u.model]',
};

/** Returns the groups in the order of their keys. */
export async function usageSums(database: Database, options: UsageSumsOptions): Promise<readonly UsageGroup[]> {
  const { org, from, to, groupBy, agentNames, timeZone, limit } = options;
  const key = keys[groupBy];
  const used = `parley.calls c JOIN parley.call_usage u ON u.org = c.org AND u.call_id = c.id
    WHERE c.org = $1 AND c.test IS NULL AND c.created_at >= $2 AND c.created_at < $3 AND $4::text IS NOT NULL
      AND ($5::text[] IS NULL OR coalesce(u.agent, c.talking_agent) = ANY ($5))`;
  const values = [org, from.toISOString(), to.toISOString(), timeZone, agentNames ?? null];
  return database.asOrganization(
    org,
    async (transaction) => {
      const groups = await transaction.query<{ key: string[]; calls: number }>(
        `SELECT ${key} AS key, count(DISTINCT u.call_id)::float8 AS calls FROM ${used} GROUP BY 1 ORDER BY 1 LIMIT $6`,
        [...values, limit],
      );
      const last = groups.rows.at(-1);
      if (last === undefined) return [];
      const { rows } = await transaction.query<UsageRow & { readonly key: string[] }>(
        `SELECT ${key} AS key, u.kind, u.purpose, u.provider, u.model, ${LINE_SUMS} FROM ${used} AND ${key} <= $6::text[]
         GROUP BY 1, u.kind, u.purpose, u.provider, u.model ORDER BY 1, u.purpose DESC, u.kind, u.provider, u.model`,
        [...values, last.key],
      );
      const linesOf = Map.groupBy(rows, (row) => JSON.stringify(row.key));
      return groups.rows.map(({ key: of, calls }) => ({
        key: of,
        calls,
        lines: (linesOf.get(JSON.stringify(of)) ?? []).map(({ key: _key, ...row }) => toLine(row)),
      }));
    },
    { snapshot: true },
  );
}
