import { expect, it } from 'vitest';

import type { Transaction } from '../../../store/database.ts';
import { freshStore, session } from './support.ts';

const org = 'acme';

interface Seen {
  readonly pid: number;
  readonly keys: number;
}

interface Shared {
  readonly poolSize?: number;
  readonly snapshot: boolean;
  readonly pipelined?: boolean;
}

async function seen(transaction: Transaction): Promise<Seen | undefined> {
  const { rows } = await transaction.query<Seen & Record<string, unknown>>(
    'SELECT pg_backend_pid() AS pid, (SELECT count(*)::int FROM parley.api_keys) AS keys',
  );
  return rows[0];
}

it('what runs in parallel has a connection of its own, and sees the same rows of the same organisation', async () => {
  const { store } = await freshStore({ poolSize: 4 });
  const createKey = (name: string) => store.apiKeys.create({ org: name, name: 'key', permissions: ['*'], expirationDays: 1 });
  for (const name of [org, 'other']) await store.organizations.create({ name, displayName: name });
  for (const name of [org, 'other']) await createKey(name);
  const both = await store.database.asOrganization(
    org,
    async (transaction) => {
      const own = await seen(transaction);
      await createKey(org);
      const within = (second: Transaction) => second.inParallel([seen, seen]);
      const parallel = await transaction.inParallel([async (first) => [await seen(first)], within]);
      return [own, ...parallel.flat(), await seen(transaction)];
    },
    { snapshot: true },
  );
  expect(both.map((each) => each?.keys)).toEqual([1, 1, 1, 1, 1]);
  const [own, first, second, third] = both.map((each) => each?.pid);
  expect(first).toBe(own);
  expect(new Set([first, second, third]).size).toBe(3);
  expect(await store.database.asOrganization(org, seen)).toMatchObject({ keys: 2 });
});

it('they share the connection where no other is free, where there is no snapshot to share, and where that is asked for', async () => {
  const shared = { small: { poolSize: 1, snapshot: true }, writing: { snapshot: false }, asked: { snapshot: true, pipelined: true } };
  for (const { poolSize = 2, snapshot, pipelined = false } of Object.values<Shared>(shared)) {
    const { store } = await freshStore({ poolSize });
    const both = await store.database.asOrganization(org, (transaction) => transaction.inParallel([seen, seen], { pipelined }), {
      snapshot,
    });
    expect(new Set(both.map((each) => each?.pid)).size).toBe(1);
  }
});

it('transactions that do things in parallel never wait for the connections of each other', async () => {
  const { store } = await freshStore({ poolSize: 3 });
  const all = Array.from({ length: 20 }, () =>
    store.database.asOrganization(org, (transaction) => transaction.inParallel([seen, seen, seen]), { snapshot: true }),
  );
  expect(await Promise.all(all)).toHaveLength(20);
});

it('what fails in parallel fails the transaction when all has ended, and leaves every connection usable', async () => {
  const { store, url } = await freshStore({ poolSize: 3 });
  const holder = await session(url);
  await holder.query('SELECT pg_advisory_lock(1)');
  const ended: string[] = [];
  const after = (sql: string) => async (transaction: Transaction) => {
    await transaction.query(sql).finally(() => ended.push(sql));
  };
  const failing = store.database.asOrganization(
    org,
    (transaction) => transaction.inParallel(['SELECT 1', 'SELECT pg_advisory_xact_lock(1)', 'SELECT 1 / 0'].map(after)),
    { snapshot: true },
  );
  const endedBefore = failing.then(
    () => [],
    () => [...ended],
  );
  await expect.poll(() => ended.toSorted()).toEqual(['SELECT 1', 'SELECT 1 / 0']);
  await holder.query('SELECT pg_advisory_unlock(1)');
  await expect(failing).rejects.toThrow('division by zero');
  expect(await endedBefore).toHaveLength(3);
  expect(await Promise.all(Array.from({ length: 3 }, () => store.database.asOrganization(org, seen)))).toHaveLength(3);
  expect(store.database.counts.total).toBe(3);
});
