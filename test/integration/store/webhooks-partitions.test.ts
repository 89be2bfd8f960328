/** Tests the tables of events and deliveries, which are cut by time. */
import type { Client } from 'pg';
import { expect, it } from 'vitest';

import { uuidv7At } from '../../../platform/uuid.ts';
import { migrate } from '../../../store/index.ts';
import { ownedDatabase, session, storeAt } from './support.ts';
import { claimAll, deliver, dispatchAt, eventOf, freshDispatch, only, ORG, resultOf } from './webhooks-support.ts';

const DAY_MS = 86_400_000;
const keep = { eventsKeepDays: 30, bodiesKeepDays: 7 };
const tables = ['events', 'event_bodies', 'deliveries', 'delivery_attempts'] as const;

async function partitions(client: Client, table: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = format('parley.%I', $1::text)::regclass AND c.relname NOT LIKE '%_default' ORDER BY 1`,
    [table],
  );
  return rows.map(({ name }) => name);
}

const inDefault = async (client: Client, table: string): Promise<number> =>
  (await client.query<{ n: number }>(`SELECT count(*)::int AS n FROM parley.${table}_default`)).rows[0]?.n ?? -1;

it('are there for weeks ahead, and what is written today is in one of them', async () => {
  const dispatching = await freshDispatch();
  const { dispatch, url } = dispatching;
  await deliver(dispatching);
  await dispatch.record([resultOf(only(await claimAll(dispatch)), { state: 'succeeded' })]);
  const owner = await session(url);
  const today = (await owner.query('SELECT now()')).rows[0].now.getTime() as number;
  for (const table of tables) {
    const days = (await partitions(owner, table)).map((name) => Date.parse(name.slice(-8).replace(/(....)(..)(..)/, '$1-$2-$3T00:00:00Z')));
    const width = table === 'event_bodies' ? DAY_MS : 7 * DAY_MS;
    expect(Math.min(...days)).toBeLessThanOrEqual(today);
    expect(Math.max(...days) + width).toBeGreaterThan(today + (table === 'event_bodies' ? 14 : 28) * DAY_MS);
    for (const [index, day] of days.entries()) if (index > 0) expect(day - (days[index - 1] ?? 0)).toBe(width);
    expect(await inDefault(owner, table)).toBe(0);
  }
  expect(await dispatch.maintainPartitions(keep)).toEqual({ made: 0, dropped: 0, deleted: 0, postponed: 0 });
});

it('refuse nothing: what has no table of its own is kept, found, and moved into its table once there is one', async () => {
  const dispatching = await freshDispatch();
  const { dispatch, store, url } = dispatching;
  const owner = await session(url);
  for (const table of tables) for (const name of await partitions(owner, table)) await owner.query(`DROP TABLE parley.${name}`);
  await deliver(dispatching, { count: 3 });
  const [first] = await claimAll(dispatch);
  if (first === undefined) throw new Error('nothing was claimed');
  await dispatch.record([resultOf(first, { state: 'failed' })]);
  expect(await inDefault(owner, 'deliveries')).toBe(3);
  // Two do it at once: only one of them changes anything.
  const done = await Promise.all([store.webhooks.maintainPartitions(keep), dispatch.maintainPartitions(keep)]);
  expect(done.map(({ made }) => made).sort((a, b) => a - b)).toEqual([0, expect.any(Number)]);
  for (const table of tables) expect([table, await inDefault(owner, table)]).toEqual([table, 0]);
  expect(await store.webhooks.deliveries({ org: ORG, subscriptionUid: 'sub', limit: 9 })).toHaveLength(3);
  expect(await store.webhooks.attempts({ org: ORG, deliveryId: first.id })).toHaveLength(1);
});

it('go once everything in them is old, bodies before the rest', async () => {
  const { dispatch, store, url } = await freshDispatch();
  const owner = await session(url);
  const old = async (table: string, days: number, width: number): Promise<string> => {
    const begins = Math.floor((Date.now() - days * DAY_MS) / (width * DAY_MS)) * width * DAY_MS;
    const name = `${table}_p${new Date(begins).toISOString().slice(0, 10).replaceAll('-', '')}`;
    const bound = (at: number): string =>
      `${at
        .toString(16)
        .padStart(12, '0')
        .replace(/^(.{8})/, '$1-')}-0000-0000-000000000000`;
    await owner.query(
      `CREATE TABLE parley.${name} PARTITION OF parley.${table} FOR VALUES FROM ('${bound(begins)}') TO ('${bound(begins + width * DAY_MS)}')`,
    );
    return name;
  };
  const gone = [await old('events', 60, 7), await old('deliveries', 60, 7), await old('event_bodies', 9, 1)];
  const kept = [await old('events', 20, 7), await old('event_bodies', 3, 1)];
  const at = (days: number): string => uuidv7At(Date.now() - days * DAY_MS);
  const [ancient, recent] = [eventOf({ id: at(40) }), eventOf({ id: at(12) })];
  await store.webhooks.insert(ORG, [ancient, recent]);

  expect(await dispatch.maintainPartitions(keep)).toMatchObject({ dropped: 3, deleted: 3, postponed: 0 });
  const left: string[] = [];
  for (const table of tables) left.push(...(await partitions(owner, table)));
  expect(gone.filter((name) => left.includes(name))).toEqual([]);
  expect(kept.filter((name) => !left.includes(name))).toEqual([]);
  const events = await store.webhooks.events({ org: ORG, after: at(100), limit: 5 });
  expect(events).toMatchObject([{ id: recent.id, body: undefined }]);
  // These deliveries cannot be sent any more, and delay nothing.
  expect(await dispatch.takeOutbox(10, () => ({ deliveries: [] }))).toMatchObject({ taken: 0, lost: 2 });
  expect(await dispatch.counts()).toMatchObject({ outbox: 0 });
});

it('of the last day stay, whatever a setting says', async () => {
  const dispatching = await freshDispatch();
  await deliver(dispatching);
  expect(await dispatching.dispatch.maintainPartitions({ eventsKeepDays: 0, bodiesKeepDays: 0 })).toMatchObject({ dropped: 0, deleted: 0 });
  expect(await claimAll(dispatching.dispatch)).toHaveLength(1);
});

it('that somebody uses are left for the next time', async () => {
  const dispatching = await freshDispatch();
  const { dispatch, url } = dispatching;
  const owner = await session(url);
  const newest = (await partitions(owner, 'events')).at(-1);
  await owner.query(`DROP TABLE parley.${newest}`);
  const user = await session(url);
  await user.query('BEGIN; LOCK TABLE parley.events IN ACCESS EXCLUSIVE MODE');
  expect(await dispatch.maintainPartitions(keep)).toMatchObject({ made: 0, postponed: expect.any(Number) });
  await user.query('ROLLBACK');
  expect(await dispatch.maintainPartitions(keep)).toMatchObject({ made: 1, postponed: 0 });
});

it('are looked after by an owner who is no superuser', async () => {
  const { owner } = await ownedDatabase();
  await migrate({ databaseUrl: owner });
  const store = storeAt(owner);
  await store.organizations.create({ name: ORG });
  const dispatch = dispatchAt(owner);
  const client = await session(owner);
  const newest = (await partitions(client, 'events')).at(-1);
  await client.query(`DROP TABLE parley.${newest}`);
  const inNewest = uuidv7At(Date.parse(newest?.slice(-8).replace(/(....)(..)(..)/, '$1-$2-$3T12:00:00Z') ?? ''));
  const daysAgo = (days: number): string => uuidv7At(Date.now() - days * DAY_MS);
  await store.webhooks.insert(ORG, [eventOf({ id: inNewest }), eventOf({ id: daysAgo(20) }), eventOf({ id: daysAgo(40) })]);
  // The migration makes missing partitions, and drops none.
  await migrate({ databaseUrl: owner });
  expect(await partitions(client, 'events')).toContain(newest);
  const everything = { org: ORG, after: '00000000-0000-0000-0000-000000000000', limit: 5 };
  expect(await store.webhooks.events(everything)).toHaveLength(3);
  expect(await dispatch.maintainPartitions({ ...keep, bodiesKeepDays: 30 })).toMatchObject({ made: 0, deleted: 2, postponed: 0 });
  expect((await store.webhooks.events(everything)).map(({ id, body }) => [id.slice(0, 13), body?.toString()])).toEqual([
    [expect.any(String), '{"n":1}'],
    [inNewest.slice(0, 13), '{"n":1}'],
  ]);
});
