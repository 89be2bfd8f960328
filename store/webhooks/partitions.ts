import type { KeepDays, Maintained } from './dispatch.ts';
import type { Statements } from './statements.ts';

/** Safe to run from several processes at once: one of them does the work. */
export async function maintainPartitions(statements: Statements, { eventsKeepDays, bodiesKeepDays }: KeepDays): Promise<Maintained> {
  const { rows } = await statements.query<{ made: number; dropped: number; deleted: string; postponed: number }>(
    'SELECT * FROM parley.maintain_event_partitions(make_interval(days => $1::int), make_interval(days => $2::int))',
    [eventsKeepDays, bodiesKeepDays],
  );
  const { made = 0, dropped = 0, deleted = '0', postponed = 0 } = rows[0] ?? {};
  return { made, dropped, deleted: Number(deleted), postponed };
}
