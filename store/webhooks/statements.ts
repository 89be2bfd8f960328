/** What the statements about deliveries have in common. */
import type { Transaction } from '../database.ts';
import type { DeliveryState } from './types.ts';

/** Runs one statement after the other, in a transaction or each by itself. */
export type Statements = Pick<Transaction, 'query'>;

/**
 * States as they are written into a statement. Parameters would do for the result and not for the indexes: those of a few states are used
 * only where the planner can prove that no other one is meant.
 */
export function stateList(states: readonly DeliveryState[]): string {
  return states.length === 0 ? 'NULL' : [...new Set(states)].map((state) => `'${state}'`).join(', ');
}

/** The smallest and the largest of the ids, with which a statement looks into the one or two partitions that have them. */
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
 * A common table expression, to be joined: its transaction commits without waiting for the disk. For work that is merely repeated
 * when a crash of Postgres takes it back. Results are committed after it and do wait, and flush all that came before: only what has no
 * result can be taken back.
 */
export const UNHURRIED = "unhurried AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS done)";

/** A row as a record: what is NULL is undefined. */
export function withoutNulls<T extends object>(row: T): T {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, value ?? undefined])) as T;
}
