/** Shared parts of the statements about deliveries. */
import type { Transaction } from '../database.ts';
import type { DeliveryState } from './types.ts';

/** Runs one statement after the other, in a transaction or each by itself. */
export type Statements = Pick<Transaction, 'query'>;

/**
 * Writes states into a statement's text. Parameters would do for the result and not for the indexes: the planner uses an index on a few
 * states only where it can prove that no other one is meant.
 */
export function stateList(states: readonly DeliveryState[]): string {
  return states.length === 0 ? 'NULL' : [...new Set(states)].map((state) => `'${state}'`).join(', ');
}

/** Returns the smallest and the largest of the ids, by which a statement looks into only the one or two partitions that have them. */
export function spanOf(ids: readonly string[]): readonly [string, string] {
  let least = ids[0] ?? '00000000-0000-0000-0000-000000000000';
  let most = least;
  for (const id of ids) {
    if (id < least) least = id;
    if (id > most) most = id;
  }
  return [least, most];
}

export const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * A common table expression, to be joined: its transaction commits without waiting for the disk. It is for work that is merely repeated
 * when a crash of Postgres takes it back. Results are committed after it and do wait, and flush all that came before: only work without a
 * result can be taken back.
 */
export const UNFLUSHED_COMMIT = "unflushed_commit AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS done)";

/** Turns a row into a record: NULL becomes undefined. */
export function withoutNulls<T extends object>(row: T): T {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, value ?? undefined])) as T;
}
