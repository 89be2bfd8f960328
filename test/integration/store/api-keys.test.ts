import { randomBytes } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { generateApiKey } from '../../../store/api-key-format.ts';
import type { ApiKeyPosition, ListedApiKey, Permission, Store } from '../../../store/index.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { failureOf, freshStore, session } from './support.ts';

async function storeWithOrganizations(...orgs: readonly string[]) {
  const fresh = await freshStore();
  for (const name of orgs) await fresh.store.organizations.create({ name });
  return fresh;
}

const create = (store: Store, org: string, name = 'a key', permissions: readonly Permission[] = ['agents:read']) =>
  store.apiKeys.create({ org, name, permissions, expirationDays: 30 });

describe('create', () => {
  it('answers the record and, once, the key; the database has only its hash', async () => {
    const { url, store } = await storeWithOrganizations('acme');
    const { record, apiKey } = await store.apiKeys.create({
      org: 'acme',
      name: 'Schlüssel 🔑',
      permissions: ['agents:write', 'calls:read', 'agents:write'],
      expirationDays: 7,
      userId: 'user-2',
      createdByUserId: 'user-1',
    });
    expect(record).toEqual({
      keyId: expect.stringMatching(/^key_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      org: 'acme',
      name: 'Schlüssel 🔑',
      permissions: ['agents:write', 'calls:read'],
      expirationDate: new Date(record.createdAt.getTime() + 7 * 86_400_000),
      createdAt: expect.any(Date),
      revoked: false,
      userId: 'user-2',
      createdByUserId: 'user-1',
      createdByKey: null,
      lastFour: apiKey.slice(-4),
    });
    expect(await store.apiKeys.get({ org: 'acme', keyId: record.keyId })).toEqual(record);
    const { rows } = await (await session(url)).query<{ all: string }>('SELECT json_agg(k)::text AS all FROM parley.api_keys k');
    const secret = apiKey.split('_')[2] ?? '';
    expect(rows[0]?.all).not.toContain(secret.slice(0, 12));
  });

  it('refuses what is out of bounds and names it; and an organisation that is not there', async () => {
    const { store } = await storeWithOrganizations('acme');
    const good = { org: 'acme', name: 'n', permissions: ['*'] as const, expirationDays: 1 };
    const bad = [
      [{ ...good, name: '' }, /1 to 100 characters/],
      [{ ...good, name: 'x'.repeat(101) }, /101/],
      [{ ...good, name: 'a\u0000b' }, /control characters/],
      [{ ...good, name: 'a\nb\u001b[2J' }, /control characters/],
      [{ ...good, userId: '' }, /1 to 200/],
      [{ ...good, userId: 'x'.repeat(201) }, /1 to 200/],
      [{ ...good, userId: 'a\nb' }, /control/],
      [{ ...good, expirationDays: 0 }, /1 to 365/],
      [{ ...good, expirationDays: 366 }, /1 to 365/],
      [{ ...good, expirationDays: 1.5 }, /1 to 365/],
      [{ ...good, permissions: ['agents:admin' as Permission] }, /agents:admin/],
    ] as const;
    for (const [key, message] of bad)
      expect(await failureOf(store.apiKeys.create(key))).toMatchObject({ kind: 'invalid', message: expect.stringMatching(message) });
    expect(await failureOf(create(store, 'absent'))).toMatchObject({ kind: 'not_found', message: expect.stringContaining('absent') });
    // The name has a hundred characters as people count them, each of them two code units.
    await store.apiKeys.create({ ...good, name: '🔑'.repeat(100) });
  });
});

describe('authenticate', () => {
  it('knows its own keys, and no others', async () => {
    const { store } = await storeWithOrganizations('acme', 'other');
    const { record: listed, apiKey } = await create(store, 'acme');
    const { createdByKey: _, ...record } = listed;
    expect(await store.apiKeys.authenticate(apiKey)).toEqual({ outcome: 'ok', record });
    // The forged key has the right public part and a valid checksum, but a wrong secret: only the hash differs.
    const forged = generateApiKey((size) => (size === 8 ? Buffer.from(Array.from(apiKey.slice(3, 11), indexOf)) : randomBytes(size)));
    expect(forged.publicId).toBe(apiKey.slice(3, 11));
    for (const key of [forged.apiKey, generateApiKey().apiKey]) {
      expect(await store.apiKeys.authenticate(key)).toEqual({ outcome: 'unknown' });
    }
    for (const key of ['', 'pk_', apiKey.slice(0, -1), `${apiKey} `]) {
      expect(await store.apiKeys.authenticate(key)).toEqual({ outcome: 'malformed' });
    }
  });

  it('distinguishes expired from revoked; revoked wins', async () => {
    const clock = new FakeClock({ now: Date.now() });
    const { store } = await freshStore({ clock });
    await store.organizations.create({ name: 'acme' });
    const first = await store.apiKeys.create({ org: 'acme', name: 'n', permissions: [], expirationDays: 1 });
    const second = await store.apiKeys.create({ org: 'acme', name: 'n', permissions: [], expirationDays: 1 });
    expect(await store.apiKeys.authenticate(first.apiKey)).toMatchObject({ outcome: 'ok' });
    await store.apiKeys.revoke({ org: 'acme', keyId: second.record.keyId });
    clock.jump(86_400_000 + 60_000);
    // The cache answers so, too: no question to the database is needed for a date to pass.
    expect(await store.apiKeys.authenticate(first.apiKey)).toEqual({ outcome: 'expired' });
    expect(await store.apiKeys.authenticate(second.apiKey)).toEqual({ outcome: 'revoked' });
  });

  it('does not ask the database for every request, nor for an impossible key', async () => {
    const { url, store } = await storeWithOrganizations('acme');
    const { apiKey } = await create(store, 'acme');
    await store.apiKeys.authenticate(apiKey);
    const admin = await session(url);
    const blocker = await session(url);
    await blocker.query('BEGIN; LOCK TABLE parley.api_keys IN ACCESS EXCLUSIVE MODE');
    try {
      // A statement that needed the table now would wait for the lock.
      for (let round = 0; round < 100; round += 1)
        expect(await store.apiKeys.authenticate(`${apiKey.slice(0, -1)}!`)).toEqual({ outcome: 'malformed' });
      const { rows } = await admin.query(
        "SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
      );
      expect(rows).toEqual([{ waiting: 0 }]);
    } finally {
      await blocker.query('ROLLBACK');
    }
  });
});

describe('revoke', () => {
  it('is idempotent, keeps the first moment, and knows nothing of another organisation’s key', async () => {
    const { url, store } = await storeWithOrganizations('acme', 'other');
    const { record } = await create(store, 'acme');
    expect(await store.apiKeys.revoke({ org: 'other', keyId: record.keyId })).toBeUndefined();
    for (const keyId of ['', 'key_nonsense', `${record.keyId} `, record.keyId.toUpperCase(), 'key_\u0000', 'x'.repeat(100_000)]) {
      expect(await store.apiKeys.revoke({ org: 'acme', keyId })).toBeUndefined();
      expect(await store.apiKeys.get({ org: 'acme', keyId })).toBeUndefined();
    }
    const admin = await session(url);
    const momentOf = async (): Promise<unknown> => (await admin.query('SELECT revoked_at FROM parley.api_keys')).rows;
    expect(await store.apiKeys.revoke({ org: 'acme', keyId: record.keyId })).toEqual({ ...record, revoked: true });
    const first = await momentOf();
    expect(await store.apiKeys.revoke({ org: 'acme', keyId: record.keyId })).toEqual({ ...record, revoked: true });
    expect(await momentOf()).toEqual(first);
  });
});

describe('revoke with descendants', () => {
  const made = async (store: Store, createdByKey?: string, org = 'acme'): Promise<string> =>
    (await store.apiKeys.create({ org, name: 'n', permissions: ['*'], expirationDays: 1, createdByKey })).record.keyId;
  const live = async (store: Store, org = 'acme'): Promise<readonly string[]> =>
    (await store.apiKeys.list({ org, pageSize: 100 })).items.flatMap(({ keyId, revoked }) => (revoked ? [] : [keyId])).toSorted();

  it('takes all that the key made, and these made, and no others', async () => {
    const { store } = await storeWithOrganizations('acme', 'other');
    const root = await made(store);
    const child = await made(store, root);
    const grandchild = await made(store, child);
    expect((await store.apiKeys.get({ org: 'acme', keyId: grandchild }))?.createdByKey).toBe(child);
    const [sibling, foreign] = [await made(store), await made(store, undefined, 'other')];
    // A revoked key in between hides nothing.
    await store.apiKeys.revoke({ org: 'acme', keyId: child });
    expect(await live(store)).toContain(grandchild);
    expect(await store.apiKeys.revokeWithDescendants({ org: 'other', keyId: root })).toBeUndefined();
    expect(await store.apiKeys.revokeWithDescendants({ org: 'acme', keyId: root })).toMatchObject({
      record: { revoked: true },
      descendants: 1,
    });
    expect([await live(store), await live(store, 'other')]).toEqual([[sibling], [foreign]]);
    expect(await store.apiKeys.revokeWithDescendants({ org: 'acme', keyId: root })).toMatchObject({ descendants: 0 });
  });

  it('leaves no key that is being made at the same moment', async () => {
    const { store } = await storeWithOrganizations('acme');
    const root = await made(store);
    const child = await made(store, root);
    const [, ...making] = await Promise.allSettled([
      store.apiKeys.revokeWithDescendants({ org: 'acme', keyId: root }),
      ...Array.from({ length: 10 }, (_, n) => made(store, n % 2 === 0 ? root : child)),
    ]);
    expect(await live(store)).toEqual([]);
    for (const each of making) if (each.status === 'rejected') expect(each.reason).toMatchObject({ kind: 'conflict' });
    expect(await failureOf(made(store, root))).toMatchObject({ kind: 'conflict' });
  });
});

async function pages(
  store: Store,
  org: string,
  pageSize: number,
  between: (page: number) => Promise<void> = async () => undefined,
): Promise<readonly ListedApiKey[]> {
  const seen: ListedApiKey[] = [];
  let after: ApiKeyPosition | undefined;
  for (let page = 0; ; page += 1) {
    const { items, next } = await store.apiKeys.list({ org, pageSize, after });
    expect(items.length).toBeLessThanOrEqual(pageSize);
    seen.push(...items);
    if (next === undefined) return seen;
    after = next;
    await between(page);
  }
}

describe('list', () => {
  it('pages newest first, through keys of the same millisecond too, and has no next page after the last', async () => {
    const { url, store } = await storeWithOrganizations('acme', 'other');
    const made = [];
    for (let n = 0; n < 7; n += 1) made.push((await create(store, 'acme', `key ${n}`)).record.keyId);
    await create(store, 'other');
    await (await session(url)).query("UPDATE parley.api_keys SET created_at = '2026-01-01T00:00:00.123Z' WHERE org = 'acme'");
    for (const size of [1, 2, 3, 6, 7, 8, 100]) {
      expect((await pages(store, 'acme', size)).map(({ keyId }) => keyId)).toEqual([...made].sort().reverse());
    }
    expect(await store.apiKeys.list({ org: 'absent', pageSize: 5 })).toEqual({ items: [] });
  });

  it('neither repeats nor skips a key while others are made and purged', async () => {
    const { url, store } = await storeWithOrganizations('acme');
    const admin = await session(url);
    const made: string[] = [];
    for (let n = 0; n < 9; n += 1) {
      const { keyId } = (await create(store, 'acme')).record;
      made.push(keyId);
      // Two keys of the same millisecond would be in the order of their ids.
      await admin.query(
        "UPDATE parley.api_keys SET created_at = created_at - interval '1 hour' + $2 * interval '1 second' WHERE key_id = $1",
        [keyId, n],
      );
    }
    const doomed = made[3] ?? '';
    const seen = await pages(store, 'acme', 2, async (page) => {
      await create(store, 'acme');
      if (page === 0) await admin.query('DELETE FROM parley.api_keys WHERE key_id = $1', [doomed]);
    });
    expect(seen.map(({ keyId }) => keyId)).toEqual(made.filter((keyId) => keyId !== doomed).reverse());
  });
});

describe('purge', () => {
  it('takes keys that expired or were revoked longer ago than asked, in batches, and no others', async () => {
    const { url, store } = await storeWithOrganizations('acme', 'other');
    const admin = await session(url);
    const kept = [(await create(store, 'acme', 'active')).record.keyId, (await create(store, 'acme', 'revoked yesterday')).record.keyId];
    await admin.query("UPDATE parley.api_keys SET revoked_at = now() - interval '1 day' WHERE key_id = $1", [kept[1]]);
    for (const change of ["expiration_date = now() - interval '91 days'", "revoked_at = now() - interval '91 days'"]) {
      for (const org of ['acme', 'other']) {
        const { record } = await create(store, org);
        await admin.query(`UPDATE parley.api_keys SET ${change} WHERE key_id = $1`, [record.keyId]);
      }
    }
    expect([await store.apiKeys.purge({ org: 'acme', limit: 1 }), await store.apiKeys.purge({ org: 'acme', limit: 5 })]).toEqual([1, 1]);
    expect((await store.apiKeys.list({ org: 'acme', pageSize: 10 })).items.map(({ keyId }) => keyId)).toEqual(kept.reverse());
    expect((await store.apiKeys.list({ org: 'other', pageSize: 10 })).items).toHaveLength(2);
  });

  it('keeps a key for as long as one that it made, so that this one is found', async () => {
    const { url, store } = await storeWithOrganizations('acme');
    const { record: maker } = await create(store, 'acme');
    await store.apiKeys.create({ org: 'acme', name: 'n', permissions: [], expirationDays: 30, createdByKey: maker.keyId });
    await (await session(url)).query("UPDATE parley.api_keys SET revoked_at = now() - interval '91 days' WHERE key_id = $1", [maker.keyId]);
    expect(await store.apiKeys.purge({ org: 'acme' })).toBe(0);
    await store.apiKeys.revokeWithDescendants({ org: 'acme', keyId: maker.keyId });
    await (await session(url)).query("UPDATE parley.api_keys SET revoked_at = now() - interval '91 days'");
    expect([await store.apiKeys.purge({ org: 'acme' }), await store.apiKeys.purge({ org: 'acme' })]).toEqual([1, 1]);
  });
});

function indexOf(letter: string): number {
  return '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.indexOf(letter);
}
