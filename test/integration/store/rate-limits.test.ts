import { describe, expect, it } from 'vitest';

import { failureOf, freshStore, session, storeAt } from './support.ts';

describe('what the replicas count together', () => {
  it('adds up what each of them reports, by subject', async () => {
    const { url, store } = await freshStore();
    const other = storeAt(url);
    const first = await store.rateLimits.exchange([
      { subject: 'key:a', ms: 600_000, agoMs: 0 },
      { subject: 'key:b', ms: 1_000_000, agoMs: 0 },
    ]);
    expect([...first.keys()].toSorted()).toEqual(['key:a', 'key:b']);
    const second = await other.rateLimits.exchange([{ subject: 'key:a', ms: 300_000, agoMs: 0 }]);
    // The subject owes 900 s less what has passed since the first.
    expect(second.get('key:a')).toBeGreaterThan(600_000);
    expect(second.get('key:a')).toBeLessThanOrEqual(900_000);
  });

  it('counts from when it was taken', async () => {
    const { store } = await freshStore();
    const ahead = await store.rateLimits.exchange([
      { subject: 'key:new', ms: 1_000, agoMs: 400_000 },
      { subject: 'key:busy', ms: 900_000, agoMs: 400_000 },
    ]);
    expect(ahead.get('key:new')).toBeCloseTo(-399_000);
    expect(ahead.get('key:busy')).toBeCloseTo(500_000);
    // A bucket that isn't full owes all that is taken from it, whenever that was.
    const again = await store.rateLimits.exchange([{ subject: 'key:busy', ms: 100_000, agoMs: 400_000 }]);
    expect(again.get('key:busy')).toBeGreaterThan(500_000);
    expect(again.get('key:busy')).toBeLessThanOrEqual(600_000);
  });

  it('forgets with time', async () => {
    const { url, store } = await freshStore();
    await store.rateLimits.exchange([{ subject: 'key:a', ms: 10_000, agoMs: 0 }]);
    const admin = await session(url);
    await admin.query("UPDATE parley.rate_limits SET full_at = full_at - interval '1 hour'");
    const { rows } = await admin.query('SELECT 1 FROM parley.rate_limits');
    expect(rows).toHaveLength(1);
    // A bucket that has long been full holds no more than a full one.
    const again = await store.rateLimits.exchange([{ subject: 'key:a', ms: 500, agoMs: 0 }]);
    expect(again.get('key:a')).toBeGreaterThan(0);
    expect(again.get('key:a')).toBeLessThanOrEqual(500);
    await admin.query("UPDATE parley.rate_limits SET full_at = full_at - interval '1 hour'");
    await store.rateLimits.forgetFull();
    expect((await admin.query('SELECT 1 FROM parley.rate_limits')).rows).toHaveLength(0);
  });

  it('survives many replicas that report the same subjects at once', async () => {
    const { url } = await freshStore();
    const replicas = [storeAt(url), storeAt(url), storeAt(url), storeAt(url)];
    const subjects = Array.from({ length: 50 }, (_, index) => `key:${index}`);
    const rounds = 10;
    await Promise.all(
      replicas.map(async (replica, number) => {
        for (let round = 0; round < rounds; round += 1) {
          const order = number % 2 === 0 ? subjects : subjects.toReversed();
          await replica.rateLimits.exchange(order.map((subject) => ({ subject, ms: 1_000_000, agoMs: 0 })));
        }
      }),
    );
    const total = await storeAt(url).rateLimits.exchange([{ subject: 'key:7', ms: 0, agoMs: 0 }]);
    expect(total.get('key:7')).toBeGreaterThan(rounds * replicas.length * 1_000_000 - 600_000);
    expect(total.get('key:7')).toBeLessThanOrEqual(rounds * replicas.length * 1_000_000);
  });

  it('can be reached through the function and in no other way', async () => {
    const { url, store } = await freshStore();
    await store.rateLimits.exchange([{ subject: 'key:a', ms: 1, agoMs: 0 }]);
    for (const sql of [
      'SELECT * FROM parley.rate_limits',
      'DELETE FROM parley.rate_limits',
      "UPDATE parley.rate_limits SET subject = 'x'",
    ]) {
      const client = await session(url);
      await client.query('SET ROLE parley_app');
      expect(await failureOf(client.query(sql)), sql).toMatchObject({ code: '42501' });
    }
  });
});
