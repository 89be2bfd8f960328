/** Tests events, the outbox, and who takes what out of it. */
import { describe, expect, it } from 'vitest';

import { deliveryIdOf, insertEvents, type OutboxEvent, type RelayDecision } from '../../../store/index.ts';
import { failureOf, session } from './support.ts';
import { claimAll, deliver, dispatchAt, eventOf, freshDispatch, only, ORG } from './webhooks-support.ts';

const toOne = (events: readonly OutboxEvent[]): RelayDecision => ({
  deliveries: events.map((event) => ({ event, subscriptionUid: 'sub', state: 'pending' as const })),
});

describe('an event', () => {
  it('is committed or rolled back with its change', async () => {
    const { store, dispatch } = await freshDispatch();
    const failure = store.database.asOrganization(ORG, async (transaction) => {
      await insertEvents(transaction, [eventOf(), eventOf()]);
      throw new Error('the change did not come about');
    });
    await expect(failure).rejects.toThrow('did not come about');
    expect(await dispatch.counts()).toMatchObject({ outbox: 0 });
    const event = eventOf();
    await store.database.asOrganization(ORG, (transaction) => insertEvents(transaction, [event]));
    const seen: OutboxEvent[] = [];
    await dispatch.takeOutbox(10, (events) => {
      seen.push(...events);
      return { deliveries: [] };
    });
    expect(seen.map(({ id }) => id)).toEqual([event.id]);
  });

  it('arrives as it was written, each of a batch with its own bytes', async () => {
    const { store, dispatch } = await freshDispatch();
    const events = [
      eventOf({
        agent: 'reception',
        workspace: 'north',
        onlySubscription: 'a',
        exceptSubscription: 'b',
        body: Buffer.from('first ✓\u0000'),
      }),
      eventOf({ body: new Uint8Array(0) }),
      eventOf({ body: Buffer.alloc(1_048_576, 7) }),
    ];
    await store.webhooks.insert(ORG, events);
    const seen: OutboxEvent[] = [];
    await dispatch.takeOutbox(10, (taken) => {
      seen.push(...taken);
      return { deliveries: [] };
    });
    const byId = new Map(seen.map((event) => [event.id, event]));
    for (const event of events) {
      expect(byId.get(event.id)).toMatchObject({ org: ORG, name: event.name, agent: event.agent, workspace: event.workspace });
      expect(byId.get(event.id)?.body.equals(event.body)).toBe(true);
    }
    expect(byId.get(events[0]?.id ?? '')).toMatchObject({ onlySubscription: 'a', exceptSubscription: 'b' });
  });

  it('is refused where there is no such organisation, or too much to say', async () => {
    const { store, dispatch } = await freshDispatch();
    expect(await failureOf(store.webhooks.insert('absent', [eventOf({ org: 'absent' })]))).toMatchObject({
      kind: 'not_found',
      message: expect.stringContaining('absent'),
    });
    // The event is somebody else's organisation's, inserted from within one's own.
    expect(await failureOf(store.webhooks.insert(ORG, [eventOf({ org: 'other' })]))).toMatchObject({ kind: 'not_found' });
    expect(await failureOf(store.webhooks.insert(ORG, [eventOf({ body: Buffer.alloc(1_048_577) })]))).toMatchObject({ kind: 'invalid' });
    expect(await dispatch.counts()).toMatchObject({ outbox: 0 });
  });

  it('wakes who listens', async () => {
    const { store, dispatch } = await freshDispatch();
    let hints = 0;
    dispatch.listen(() => (hints += 1));
    await expect.poll(() => hints).toBeGreaterThan(0);
    const before = hints;
    await store.webhooks.insert(ORG, [eventOf()]);
    await expect.poll(() => hints).toBeGreaterThan(before);
  });
});

describe('the relay', () => {
  it('makes deliveries, leased or due or skipped, whose ids follow from event and subscription', async () => {
    const { store, dispatch } = await freshDispatch();
    const event = eventOf();
    await store.webhooks.insert(ORG, [event]);
    const result = await dispatch.takeOutbox(10, ([taken]) => ({
      deliveries:
        taken === undefined
          ? []
          : [
              { event: taken, subscriptionUid: 'leased', state: 'pending', leaseMs: 60_000 },
              { event: taken, subscriptionUid: 'due', state: 'pending' },
              { event: taken, subscriptionUid: 'off', state: 'skipped', reason: 'paused' },
              { event: taken, subscriptionUid: 'due', state: 'pending' },
            ],
    }));
    expect(result).toMatchObject({ taken: 1, postponed: 0, lost: 0 });
    expect(result.deliveries.map(({ id, planned }) => [planned.subscriptionUid, id])).toEqual(
      ['leased', 'due', 'off'].map((uid) => [uid, deliveryIdOf(event.id, uid)]),
    );
    expect(await dispatch.dueSubscriptions()).toEqual(['due']);
    expect(only(await store.webhooks.deliveries({ org: ORG, subscriptionUid: 'off', limit: 5 }))).toMatchObject({
      state: 'skipped',
      reason: 'paused',
      attempts: 0,
      endedAt: expect.any(Date),
    });
  });

  it('takes a few of each kind where very many of one kind wait, and puts them back as what they are', async () => {
    const { store, dispatch } = await freshDispatch();
    await store.webhooks.insert(
      ORG,
      Array.from({ length: 200 }, () => eventOf({ workspace: 'loud' })),
    );
    const quiet = Array.from({ length: 5 }, (_, index) => eventOf({ workspace: `quiet-${index}` }));
    await store.webhooks.insert(ORG, quiet);
    const missing = async (): Promise<number> => {
      const seen = new Set<string>();
      await dispatch.takeOutbox(
        100,
        (events) => {
          for (const { id } of events) seen.add(id);
          return { deliveries: [], postponed: events.map(({ id }) => ({ eventId: id, delayMs: 0 })) };
        },
        { order: 'turns' },
      );
      expect(seen.size).toBeLessThanOrEqual(6 * 4);
      return quiet.filter(({ id }) => !seen.has(id)).length;
    };
    expect(await missing()).toBe(0);
    expect(await missing()).toBe(0);
    const { taken } = await dispatch.takeOutbox(1_000, () => ({ deliveries: [] }));
    expect(taken).toBe(205);
  });

  it('puts back what has to wait, and makes nothing of it meanwhile', async () => {
    const { store, dispatch, url } = await freshDispatch();
    await store.webhooks.insert(ORG, [eventOf(), eventOf()]);
    const first = await dispatch.takeOutbox(10, (events) => ({
      ...toOne(events),
      postponed: [{ eventId: events[0]?.id ?? '', delayMs: 600_000 }],
    }));
    expect(first).toMatchObject({ taken: 1, postponed: 1 });
    expect(first.deliveries).toHaveLength(1);
    expect(await dispatch.takeOutbox(10, toOne)).toMatchObject({ taken: 0 });
    await (await session(url)).query("UPDATE parley.outbox SET due_at = due_at - interval '601 seconds'");
    expect(await dispatch.takeOutbox(10, toOne)).toMatchObject({ taken: 1 });
    expect(await claimAll(dispatch)).toHaveLength(2);
  });

  it('knows of every write of a subscription that came before the event', async () => {
    const { store, dispatch } = await freshDispatch();
    const versions: (string | undefined)[] = [];
    for (const version of ['9', '10', '8', '11']) {
      await store.webhooks.raiseWatermark(ORG, { subscriptions: version, ...(version === '10' && { secrets: '4' }) });
      await store.webhooks.insert(ORG, [eventOf()]);
      await dispatch.takeOutbox(10, (events) => {
        versions.push(...events.map(({ watermark }) => `${watermark?.subscriptions} ${watermark?.secrets}`));
        return { deliveries: [] };
      });
    }
    expect(versions).toEqual(['9 undefined', '10 4', '10 4', '11 4']);
    expect(await failureOf(store.webhooks.raiseWatermark(ORG, { secrets: 'abc' }))).toMatchObject({ kind: 'invalid' });
  });

  it('forgets a write that is long ago: another cluster starts its count over', async () => {
    const { url, store, dispatch } = await freshDispatch();
    await store.webhooks.raiseWatermark(ORG, { subscriptions: '1000' });
    await (await session(url)).query("UPDATE parley.webhook_watermarks SET at = now() - interval '11 minutes'");
    await store.webhooks.insert(ORG, [eventOf()]);
    const seen: unknown[] = [];
    await dispatch.takeOutbox(10, (events) => {
      seen.push(...events.map(({ watermark }) => watermark));
      return { deliveries: [] };
    });
    await store.webhooks.raiseWatermark(ORG, { subscriptions: '3' });
    await store.webhooks.insert(ORG, [eventOf()]);
    await dispatch.takeOutbox(10, (events) => {
      seen.push(...events.map(({ watermark }) => watermark));
      return { deliveries: [] };
    });
    expect(seen).toEqual([undefined, expect.objectContaining({ subscriptions: '3' })]);
  });

  it('never takes what another one has', async () => {
    const { url, store, dispatch } = await freshDispatch();
    await store.webhooks.insert(
      ORG,
      Array.from({ length: 600 }, () => eventOf()),
    );
    const relays = [dispatch, dispatchAt(url), dispatchAt(url)];
    const taken: string[] = [];
    await Promise.all(
      relays.map(async (relay) => {
        for (let more = true; more;) {
          const { taken: number } = await relay.takeOutbox(17, (events) => {
            taken.push(...events.map(({ id }) => id));
            return toOne(events);
          });
          more = number > 0;
        }
      }),
    );
    expect([taken.length, new Set(taken).size]).toEqual([600, 600]);
    expect(await claimAll(dispatch)).toHaveLength(600);
    expect(await dispatch.counts()).toMatchObject({ outbox: 0 });
  });

  it('loses and doubles nothing when it dies in between', async () => {
    const { url, store } = await freshDispatch();
    const events = Array.from({ length: 50 }, () => eventOf());
    await store.webhooks.insert(ORG, events);
    const admin = await session(url);
    const kill = (name: string) =>
      admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()', [
        name,
      ]);
    const doomed = dispatchAt(url, { applicationName: 'doomed', retryForMs: 0 });
    const death = doomed.takeOutbox(50, async (taken) => {
      await kill('doomed');
      return toOne(taken);
    });
    await expect(death).rejects.toMatchObject({ kind: 'unavailable' });
    // A dispatcher that is still there begins again by itself.
    const stubborn = dispatchAt(url, { applicationName: 'stubborn', retryForMs: 600_000 });
    let tries = 0;
    const result = await stubborn.takeOutbox(50, async (taken) => {
      tries += 1;
      if (tries === 1) await kill('stubborn');
      return toOne(taken);
    });
    expect([tries, result.deliveries.length]).toEqual([2, 50]);
    const claimed = await claimAll(stubborn);
    expect(claimed.map(({ eventId }) => eventId).sort()).toEqual(events.map(({ id }) => id).sort());
  });

  it('makes a delivery once, however often its event comes', async () => {
    const dispatching = await freshDispatch();
    await deliver(dispatching, { count: 3 });
    await (await session(dispatching.url)).query('INSERT INTO parley.outbox (event_id, org) SELECT id, org FROM parley.events');
    expect(await dispatching.dispatch.takeOutbox(10, toOne)).toMatchObject({ taken: 3, deliveries: [] });
    expect(await claimAll(dispatching.dispatch)).toHaveLength(3);
  });
});
