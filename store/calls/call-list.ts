/** Lists calls, without those of tests: filtered, page by page, with their total number. */
import type { Database } from '../database.ts';
import { CALL_COLUMNS, toCall, type CallRecord, type Row } from './call-record.ts';
import type { CallStatus } from './call-state.ts';

export interface CallFilter {
  /** Matches the agent that was asked for and the one that talks in its stead. */
  readonly agentNames?: readonly string[] | undefined;
  readonly status?: CallStatus | undefined;
  /** A call that never started counts from when it was registered. All bounds are inclusive. */
  readonly startedFrom?: Date | undefined;
  readonly startedTo?: Date | undefined;
  /** Calls that are not over have no end, and match no bound. */
  readonly endedFrom?: Date | undefined;
  readonly endedTo?: Date | undefined;
}

export interface CallListOptions {
  readonly org: string;
  readonly filter: CallFilter;
  /** The order by the time at which calls were registered. */
  readonly direction: 'ascending' | 'descending';
  readonly pageSize: number;
  /** Id of the last call of the page before. */
  readonly after?: string | undefined;
}

export interface CallPage {
  readonly items: readonly CallRecord[];
  /** Cursor for `after`; undefined on the last page. */
  readonly next: string | undefined;
  /** Number of all calls that match the filter, on whatever page. */
  readonly total: number;
}

/** Lists calls. Pages are stable while calls are made and end: ids are in the order of time, and neither go nor change. */
export async function listCalls(database: Database, { org, filter, direction, pageSize, after }: CallListOptions): Promise<CallPage> {
  const { where, values } = conditions(org, filter);
  const [sign, order] = direction === 'ascending' ? ['>', 'ASC'] : ['<', 'DESC'];
  const behind = after === undefined ? '' : `AND id ${sign} $${values.length + 2}`;
  return database.asOrganization(
    org,
    async (transaction) => {
      const { rows } = await transaction.query<Row>(
        `SELECT ${CALL_COLUMNS} FROM parley.calls WHERE ${where} ${behind} ORDER BY id ${order} LIMIT $${values.length + 1}`,
        [...values, pageSize + 1, ...(after === undefined ? [] : [after])],
      );
      const counted = await transaction.query<{ n: number }>(`SELECT count(*)::float8 AS n FROM parley.calls WHERE ${where}`, values);
      const items = rows.slice(0, pageSize).map(toCall);
      return { items, next: rows.length > pageSize ? items.at(-1)?.id : undefined, total: counted.rows[0]?.n ?? 0 };
    },
    { snapshot: true },
  );
}

function conditions(org: string, filter: CallFilter): { readonly where: string; readonly values: readonly unknown[] } {
  const values: unknown[] = [org];
  const parts = ['org = $1', 'test IS NULL'];
  const add = (value: unknown, part: (parameter: string) => string): void => {
    if (value === undefined) return;
    values.push(value instanceof Date ? value.toISOString() : value);
    parts.push(part(`$${values.length}`));
  };
  add(filter.agentNames, (names) => `(agent_name = ANY (${names}) OR override_agent_name = ANY (${names}))`);
  add(filter.status, (status) => `status = ${status}`);
  add(filter.startedFrom, (time) => `coalesce(started_at, created_at) >= ${time}`);
  add(filter.startedTo, (time) => `coalesce(started_at, created_at) <= ${time}`);
  add(filter.endedFrom, (time) => `ended_at >= ${time}`);
  add(filter.endedTo, (time) => `ended_at <= ${time}`);
  return { where: parts.join(' AND '), values };
}
