/** Tests claims, leases and the moves of many deliveries at once. */
import { describe, expect, it } from 'vitest';

import { session } from './support.ts';
import { claimAll, deliver, dispatchAt, freshDispatch, only, ORG, resultOf } from './webhooks-support.ts';

describe('a claim', () => {
  it('takes the oldest, of each subscription as many as there is room for, and each to one claimer', async () => {
    const dispatching = await freshDispatch();
    const { dispatch, url } = dispatching;
    await deliver(dispatching, { count: 200, subscriptionUid: 'hung' });
    for (const uid of ['a', 'b']) await deliver(dispatching, { count: 20, subscriptionUid: uid });
    const rooms = new Map([
      ['hung', 8],
      ['a', 5],
      ['b', 0],
      ['unknown', 8],
    ]);
    const claimers = [dispatch, dispatchAt(url), dispatchAt(url)];
    const claims = await Promise.all(claimers.map((claimer) => claimer.claim(rooms, () => 60_000, 256)));
    for (const claimed of claims) {
      const count = (uid: string): number => claimed.filter(({ subscriptionUid }) => subscriptionUid === uid).length;
      expect([count('hung'), count('a'), count('b')]).toEqual([8, 5, 0]);
    }
    const ids = claims.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect((await dispatch.claim(new Map([['hung', 1_000]]), () => 60_000, 10)).length).toBe(10);
    expect(await dispatch.dueSubscriptions()).toEqual(['a', 'b', 'hung']);
  });

  it('takes retries before what was never tried', async () => {
    const dispatching = await freshDispatch();
    const { dispatch } = dispatching;
    await deliver(dispatching, { count: 3 });
    const tried = only(await dispatch.claim(new Map([['sub', 1]]), () => 60_000, 1));
    await dispatch.record([resultOf(tried, { state: 'pending', delayMs: 0 })]);
    await deliver(dispatching, { count: 3 });
    expect(only(await dispatch.claim(new Map([['sub', 1]]), () => 60_000, 1)).id).toBe(tried.id);
    expect(await claimAll(dispatch)).toHaveLength(5);
  });

  it('expires when its dispatcher does not renew it', async () => {
    const dispatching = await freshDispatch();
    const { dispatch, url } = dispatching;
    await deliver(dispatching);
    const first = only(await claimAll(dispatch, 'sub', 600_000));
    expect(await claimAll(dispatch)).toEqual([]);
    await (await session(url)).query("UPDATE parley.deliveries SET due_at = due_at - interval '601 seconds'");
    expect((await claimAll(dispatch)).map(({ id }) => id)).toEqual([first.id]);
  });

  it('is free once its dispatcher is gone', async () => {
    const dispatching = await freshDispatch();
    const { dispatch, url } = dispatching;
    const other = dispatchAt(url);
    for (const store of [dispatch, other]) store.listen(() => undefined);
    await expect.poll(async () => (await other.claimOwners())?.size).toBe(2);
    // One that the relay made, one that was claimed later, two that are over.
    await deliver(dispatching, { subscriptionUid: 'made', leaseMs: 600_000 });
    await deliver(dispatching, { count: 3, subscriptionUid: 'claimed' });
    const [claimed, retried, returned] = await claimAll(dispatch, 'claimed', 600_000);
    if (claimed === undefined || retried === undefined || returned === undefined) throw new Error('not claimed');
    await dispatch.record([resultOf(retried, { state: 'pending', delayMs: 600_000 })]);
    await dispatch.release([returned.id], 600_000);
    expect(await other.freeClaims(new Set())).toEqual([]);

    const owners = (await other.claimOwners()) ?? new Set();
    await dispatch.close();
    await expect.poll(async () => (await other.claimOwners())?.size).toBe(1);
    expect(await other.freeClaims(owners)).toEqual([]);
    expect((await other.freeClaims(new Set())).toSorted()).toEqual(['claimed', 'made']);
    expect((await claimAll(other, 'claimed')).map(({ id }) => id)).toEqual([claimed.id]);
    expect(await claimAll(other, 'made')).toHaveLength(1);
  });

  it('waits for its time where its dispatcher could not be seen', async () => {
    const dispatching = await freshDispatch();
    await deliver(dispatching, { leaseMs: 600_000 });
    const other = dispatchAt(dispatching.url);
    other.listen(() => undefined);
    await expect.poll(async () => (await other.claimOwners())?.size).toBe(1);
    await dispatching.dispatch.close();
    expect(await other.freeClaims(new Set())).toEqual([]);
  });

  it('is handed back', async () => {
    const dispatching = await freshDispatch();
    const { dispatch } = dispatching;
    await deliver(dispatching, { count: 2 });
    const [one, two] = await claimAll(dispatch);
    await dispatch.release([one?.id ?? ''], 0);
    expect((await claimAll(dispatch)).map(({ id }) => id)).toEqual([one?.id]);
    await dispatch.settle([two?.id ?? ''], { state: 'paused' });
    expect(await dispatch.subscriptionsIn(['paused'])).toEqual(['sub']);
    expect(await dispatch.transition({ subscriptionUid: 'sub', from: ['paused'], to: 'pending', due: 'now' })).toBe(1);
    expect((await claimAll(dispatch)).map(({ id }) => id)).toEqual([two?.id]);
  });

  it('of what can’t be sent any more ends it', async () => {
    const dispatching = await freshDispatch();
    const { dispatch, store, url } = dispatching;
    await deliver(dispatching);
    await (await session(url)).query('DELETE FROM parley.event_bodies');
    expect(await claimAll(dispatch)).toEqual([]);
    const [delivery] = await store.webhooks.deliveries({ org: ORG, subscriptionUid: 'sub', limit: 1 });
    expect(delivery).toMatchObject({ state: 'failed', reason: 'body_expired', attempts: 0 });
    expect(await store.webhooks.redeliver({ org: ORG, deliveryId: delivery?.id ?? '' })).toBe('gone');
  });
});

describe('a retry', () => {
  it('is handed to a workflow, which has it until it ends', async () => {
    const dispatching = await freshDispatch();
    const { dispatch } = dispatching;
    await deliver(dispatching, { count: 2 });
    const [now, later] = await claimAll(dispatch);
    if (now === undefined || later === undefined) throw new Error('nothing was claimed');
    await dispatch.record([
      resultOf(now, { state: 'retry_pending', delayMs: 0 }),
      resultOf(later, { state: 'retry_pending', delayMs: 3_600_000 }),
    ]);
    const wanted = { aheadMs: 1_000, lostMs: 60_000, limit: 10 };
    const { id, eventId, traceparent } = now;
    expect(traceparent).toBeDefined();
    expect(await dispatch.retriesToStart(wanted)).toMatchObject([{ id, eventId, traceparent, state: 'retry_pending', dueInMs: 0 }]);
    expect(await dispatch.retriesToStart({ ...wanted, aheadMs: 7_200_000 })).toHaveLength(2);
    expect(await dispatch.retriesToStart({ ...wanted, except: ['sub'] })).toEqual([]);
    await dispatch.markRetrying([now.id]);
    expect(await dispatch.retriesToStart(wanted)).toEqual([]);
    expect(await dispatch.retriesToStart({ ...wanted, lostMs: 0 })).toMatchObject([{ id: now.id, state: 'retrying' }]);

    expect(await dispatch.claimOne(now.id, 60_000)).toMatchObject({
      id: now.id,
      attempts: 1,
      seriesStart: 0,
      body: Buffer.from('{"n":1}'),
    });
    expect(await dispatch.claimOne(now.id, 60_000)).toMatchObject({ state: 'retrying', dueInMs: expect.any(Number) });
    expect(await dispatch.claimOne(later.id, 60_000)).toMatchObject({ state: 'retry_pending' });
    await dispatch.record([resultOf({ ...now }, { state: 'succeeded' })]);
    expect(await dispatch.claimOne(now.id, 60_000)).toEqual({ state: 'succeeded', dueInMs: 0 });
    expect(await dispatch.claimOne('01a1fd79-f85e-81f5-bd13-7394a732f36e', 60_000)).toBeUndefined();
  });

  it('that has no workflow comes before those whose workflow is lost, however old these are', async () => {
    const dispatching = await freshDispatch();
    const { dispatch, url } = dispatching;
    await deliver(dispatching, { count: 5 });
    const claimed = await claimAll(dispatch);
    await dispatch.record(claimed.map((one) => resultOf(one, { state: 'retry_pending', delayMs: 0 })));
    const [oldest = '', old = '', ...others] = claimed.map(({ id }) => id);
    await dispatch.markRetrying([oldest, old]);
    const age = `UPDATE parley.deliveries SET due_at = due_at - $2 * interval '1 hour' WHERE id = $1`;
    const admin = await session(url);
    for (const [index, id] of [...others, old, oldest].entries()) await admin.query(age, [id, index]);
    const wanted = async (limit: number) => (await dispatch.retriesToStart({ aheadMs: 1_000, lostMs: 60_000, limit })).map(({ id }) => id);
    const expected = [...others.toReversed(), oldest, old];
    expect(await wanted(10)).toEqual(expected);
    expect(await wanted(4)).toEqual(expected.slice(0, 4));
    expect(await wanted(2)).toEqual(expected.slice(0, 2));
  });
});

describe('a subscription that is gone', () => {
  it('takes what is left to do with it, a part at a time, and leaves what is done', async () => {
    const dispatching = await freshDispatch();
    const { dispatch, store } = dispatching;
    await deliver(dispatching, { count: 6 });
    await deliver(dispatching, { subscriptionUid: 'other' });
    const [done, inFlight, retried, paused] = await claimAll(dispatch);
    if (done === undefined || inFlight === undefined || retried === undefined || paused === undefined) throw new Error('too few');
    await dispatch.record([resultOf(done, { state: 'succeeded' }), resultOf(retried, { state: 'retry_pending', delayMs: 5_000 })]);
    await dispatch.settle([paused.id], { state: 'paused' });
    expect(await dispatch.removeSubscription('sub', 2)).toBe(true);
    let calls = 1;
    while (await store.webhooks.removeSubscription({ org: ORG, subscriptionUid: 'sub', limit: 2 })) calls += 1;
    expect(calls).toBeGreaterThan(1);
    const states = (await store.webhooks.deliveries({ org: ORG, subscriptionUid: 'sub', limit: 10 })).map(
      ({ state, reason }) => `${state} ${reason}`,
    );
    expect(states.sort()).toEqual([...Array.from({ length: 5 }, () => 'skipped subscription_deleted'), 'succeeded undefined'].sort());
    expect(await store.webhooks.endpoint({ org: ORG, subscriptionUid: 'sub' })).toBeUndefined();
    expect(await dispatch.dueSubscriptions()).toEqual(['other']);
    // A delivery that was on its way counts, and is the truth where it arrived.
    const { attempts } = await dispatch.record([resultOf(inFlight, { state: 'succeeded' })]);
    expect(attempts).toMatchObject([{ outcome: 'new', number: 1, state: 'succeeded' }]);
  });

  it('of another organisation stays out of reach', async () => {
    const dispatching = await freshDispatch();
    const { dispatch, store } = dispatching;
    await store.organizations.create({ name: 'other' });
    const id = only((await deliver(dispatching)).deliveries).id;
    expect(await store.webhooks.removeSubscription({ org: 'other', subscriptionUid: 'sub' })).toBe(false);
    expect(await store.webhooks.deliveries({ org: 'other', subscriptionUid: 'sub', limit: 5 })).toEqual([]);
    expect(await store.webhooks.delivery({ org: 'other', deliveryId: id })).toBeUndefined();
    expect(await store.webhooks.redeliver({ org: 'other', deliveryId: id })).toBeUndefined();
    expect(await store.webhooks.recover({ org: 'other', subscriptionUid: 'sub', since: new Date(0) })).toBe(0);
    expect(await store.webhooks.events({ org: 'other', after: '00000000-0000-0000-0000-000000000000', limit: 5 })).toEqual([]);
    expect(await claimAll(dispatch)).toHaveLength(1);
  });
});
