import { describe, expect, it } from 'vitest';

import { registerCall } from './calls-support.ts';
import { freshStore, session } from './support.ts';

const key = (n: number) => n.toString(16).padStart(64, '0');

describe('answers to lookups', () => {
  it('are an organisation’s own, and forgotten in time', async () => {
    const { url, store } = await freshStore();
    for (const org of ['acme', 'other']) await store.organizations.create({ name: org });
    const { dynamicDataCache: cache } = store;
    await cache.put('acme', key(1), '{"a":1}', { forMs: 60_000 });
    await cache.put('acme', key(2), '{"a":2}', { forMs: 0 });
    expect([await cache.get('acme', key(1)), await cache.get('other', key(1)), await cache.get('acme', key(2))]).toEqual([
      '{"a":1}',
      undefined,
      undefined,
    ]);
    await cache.put('acme', key(1), '{"a":3}', { forMs: 60_000 });
    expect(await cache.get('acme', key(1))).toBe('{"a":3}');
    // An expired entry goes with the next write.
    const owner = await session(url);
    expect((await owner.query('SELECT FROM parley.dynamic_data_cache')).rowCount).toBe(1);
    await owner.query("UPDATE parley.dynamic_data_cache SET expires_at = now() - interval '1 second'");
    expect([await cache.prune({ org: 'other' }), await cache.prune({ org: 'acme' }), await cache.prune({ org: 'acme' })]).toEqual([
      0, 1, 0,
    ]);
  });

  it('can be written by many calls at once', async () => {
    const { store } = await freshStore();
    await store.organizations.create({ name: 'acme' });
    await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        store.dynamicDataCache.put('acme', key(n % 7), `{"n":${n}}`, { forMs: n % 2 === 0 ? 0 : 60_000 }),
      ),
    );
    expect(await store.dynamicDataCache.prune({ org: 'acme' })).toBeLessThanOrEqual(7);
  });
});

describe('what was looked up', () => {
  it('joins what a call was registered with, without what Postgres does not keep, and only while it goes on', async () => {
    const { store } = await freshStore();
    await store.organizations.create({ name: 'acme' });
    const call = await registerCall(store, 'acme');
    const data = { name: 'A\u0000da \ud800', 'k\u0000ey': [{ deep: '\u0000' }], n: 1 };
    expect(await store.calls.calls.keepDynamicData({ ...call, data })).toBe(true);
    expect((await store.calls.calls.get(call))?.dynamicData).toEqual({ name: 'Ada \ufffd', key: [{ deep: '' }], n: 1 });
    await store.calls.calls.end({ ...call, reason: 'user_ended_call', events: () => [] });
    expect(await store.calls.calls.keepDynamicData({ ...call, data: { late: true } })).toBe(false);
    expect((await store.calls.calls.get(call))?.dynamicData).toMatchObject({ name: 'Ada \ufffd' });
  });
});
