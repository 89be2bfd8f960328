import type { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';

import { Authenticator } from '../../../store/authenticator.ts';
import { openStore, type Store } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { freshStore, session, storeAt } from './support.ts';

/** Opens two stores that share only Postgres: a key is revoked in one process, and used in the other. */
async function twoProcesses(options: { readonly clock?: FakeClock } = {}) {
  const { url, store: revoker } = await freshStore();
  await revoker.organizations.create({ name: 'acme' });
  const { record, apiKey } = await revoker.apiKeys.create({ org: 'acme', name: 'n', permissions: ['*'], expirationDays: 1 });
  const replica = storeAt(url, options);
  return { url, revoker, replica, apiKey, revoke: () => revoker.apiKeys.revoke({ org: 'acme', keyId: record.keyId }) };
}

const outcomeOf = async (store: Store, apiKey: string): Promise<string> => (await store.apiKeys.authenticate(apiKey)).outcome;

const PROBE_MS = 30_000;

/** Waits until the store listens. Its next timer is then the probe of that connection, set when everything cached was forgotten. */
async function listening(clock: FakeClock): Promise<void> {
  await eventually(() => expect(clock.nextIn).toBe(PROBE_MS));
}

async function cutOff(admin: Client, clock: FakeClock): Promise<void> {
  await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'");
  // The store has noticed: the next timer is a much earlier one, for another attempt.
  await eventually(() => expect(clock.nextIn).toBeLessThan(PROBE_MS));
}

describe('a revocation on one replica', () => {
  it('reaches the others by notification, with no need for time to pass', async () => {
    // The clock stands still: the cached answer would be good for ever.
    const clock = new FakeClock({ now: Date.now() });
    const { replica, apiKey, revoke } = await twoProcesses({ clock });
    await outcomeOf(replica, apiKey);
    await listening(clock);
    expect(await outcomeOf(replica, apiKey)).toBe('ok');
    await revoke();
    await eventually(async () => expect(await outcomeOf(replica, apiKey)).toBe('revoked'));
  });

  it('holds after 4 s when the notification is lost', async () => {
    const clock = new FakeClock({ now: Date.now() });
    const { url, replica, apiKey } = await twoProcesses({ clock });
    await outcomeOf(replica, apiKey);
    await listening(clock);
    expect(await outcomeOf(replica, apiKey)).toBe('ok');
    const admin = await session(url);
    // The key is revoked behind the back of everybody: no notification is sent at all.
    await admin.query('UPDATE parley.api_keys SET revoked_at = now()');
    expect(await outcomeOf(replica, apiKey)).toBe('ok');
    // An administrator who sets the wall clock back must not prolong it.
    clock.jump(-3_600_000);
    await clock.advance(3_999);
    expect(await outcomeOf(replica, apiKey)).toBe('ok');
    await clock.advance(1);
    expect(await outcomeOf(replica, apiKey)).toBe('revoked');
  });

  it('is not overlooked when it happens while the listener is cut off: coming back forgets everything', async () => {
    const clock = new FakeClock({ now: Date.now() });
    const { url, replica, apiKey, revoke } = await twoProcesses({ clock });
    await outcomeOf(replica, apiKey);
    await listening(clock);
    expect(await outcomeOf(replica, apiKey)).toBe('ok');
    await cutOff(await session(url), clock);
    await revoke();
    // There is no notification, and no time has passed.
    expect(await outcomeOf(replica, apiKey)).toBe('ok');
    await clock.advance(clock.nextIn ?? 0);
    // Less than the lifetime of a cached answer has passed: it is the new connection that empties the cache.
    await eventually(async () => expect(await outcomeOf(replica, apiKey)).toBe('revoked'));
    expect(clock.monotonic()).toBeLessThan(1_000);
  });

  it('is seen at once by the process that revoked', async () => {
    const { revoker, apiKey, revoke } = await twoProcesses();
    expect(await outcomeOf(revoker, apiKey)).toBe('ok');
    await revoke();
    expect(await outcomeOf(revoker, apiKey)).toBe('revoked');
  });

  it('is not undone by an answer that was on its way when it happened', async () => {
    const { revoker, apiKey, revoke } = await twoProcesses();
    const [read, arrives] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const query = async (...statement: Parameters<Store['database']['query']>) => {
      const rows = await revoker.database.query(...statement);
      read.resolve();
      await arrives.promise;
      return rows;
    };
    const database = Object.assign(Object.create(revoker.database) as Store['database'], { query });
    const authenticator = new Authenticator({ database, clock: new FakeClock(), ttlMs: 4_000 });
    const racing = authenticator.authenticate(apiKey);
    await read.promise;
    await revoke();
    authenticator.forget();
    arrives.resolve();
    expect((await racing).outcome).toBe('ok');
    expect((await authenticator.authenticate(apiKey)).outcome).toBe('revoked');
  });
});

describe('while Postgres is unavailable', () => {
  it('a known key is good for 4 s more, then and for every other key the question has no answer', async () => {
    const clock = new FakeClock({ now: Date.now() });
    const { url, store: maker } = await freshStore();
    await maker.organizations.create({ name: 'acme' });
    const key = async () => (await maker.apiKeys.create({ org: 'acme', name: 'n', permissions: [], expirationDays: 1 })).apiKey;
    const [known, other] = [await key(), await key()];
    const replica = openStore({ databaseUrl: url, clock, retryForMs: 0 });
    onTestFinished(() => replica.close());
    await outcomeOf(replica, known);
    await listening(clock);
    // Nothing but time, or the loss of the listener, empties the cache from here on.
    expect(await outcomeOf(replica, known)).toBe('ok');
    await maker.close();
    const name = new URL(url).pathname.slice(1);
    const elsewhere = new URL(url);
    elsewhere.pathname = '/postgres';
    const admin = await session(elsewhere.href);
    const allow = (yes: boolean) => admin.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS ${yes}`);
    await allow(false);
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    expect(await outcomeOf(replica, known)).toBe('ok');
    await expect(outcomeOf(replica, other)).rejects.toMatchObject({ name: 'StoreError' });
    await clock.advance(4_000);
    await expect(outcomeOf(replica, known)).rejects.toMatchObject({ name: 'StoreError' });
    await allow(true);
    expect(await eventually(() => outcomeOf(replica, known))).toBe('ok');
    expect(await outcomeOf(replica, other)).toBe('ok');
  });
});
