/** Tests results of attempts, endpoints, and replayed deliveries. */
import { describe, expect, it } from 'vitest';

import type { BreakerChange } from '../../../store/index.ts';
import { session } from './support.ts';
import { claimAll, deliver, dispatchAt, eventOf, freshDispatch, only, ORG, resultOf, type Dispatching } from './webhooks-support.ts';

async function claimedOne(dispatching: Dispatching) {
  await deliver(dispatching);
  return only(await claimAll(dispatching.dispatch));
}

const attemptsOf = ({ store }: Dispatching, deliveryId: string) => store.webhooks.attempts({ org: ORG, deliveryId });
const stateOf = ({ store }: Dispatching, deliveryId: string) => store.webhooks.delivery({ org: ORG, deliveryId });

describe('a result', () => {
  it('counts once, however often and by whichever process it is recorded', async () => {
    const dispatching = await freshDispatch();
    await deliver(dispatching, { count: 40 });
    const claimed = await claimAll(dispatching.dispatch);
    const results = claimed.map((delivery, index) =>
      resultOf(delivery, index % 2 === 0 ? { state: 'succeeded' } : { state: 'pending', delayMs: 60_000 }, {
        message: 'half a \ud800 pair\u0000'.repeat(200),
      }),
    );
    const others = [dispatchAt(dispatching.url), dispatchAt(dispatching.url)];
    const recorded = await Promise.all([dispatching.dispatch, ...others].map((other) => other.record(results.toReversed())));
    await dispatching.dispatch.record(results.slice(0, 7));
    expect(recorded.flatMap(({ attempts }) => attempts).filter(({ outcome }) => outcome === 'new')).toHaveLength(40);
    for (const { id } of claimed) {
      expect(only(await attemptsOf(dispatching, id))).toMatchObject({
        number: 1,
        durationMs: 12,
        message: expect.stringMatching(/^half a \ufffd pair/),
      });
      expect(await stateOf(dispatching, id)).toMatchObject({ attempts: 1 });
    }
    expect(await dispatching.store.webhooks.endpoint({ org: ORG, subscriptionUid: 'sub' })).toMatchObject({ failureSlots: 1 });
  });

  it('is written whole or not at all, and recorded again when the answer was lost', async () => {
    const dispatching = await freshDispatch();
    await deliver(dispatching, { count: 30 });
    const claimed = await claimAll(dispatching.dispatch);
    const results = claimed.map((delivery) => resultOf(delivery, { state: 'retry_pending', delayMs: 0 }));
    const [admin, holder] = [await session(dispatching.url), await session(dispatching.url)];
    // The table is held while its writers are ended, so that they end in the middle.
    await holder.query('BEGIN; LOCK TABLE parley.webhook_endpoints IN ACCESS EXCLUSIVE MODE');
    const doomed = dispatchAt(dispatching.url, { applicationName: 'doomed', retryForMs: 0 }).record(results);
    const stubborn = dispatchAt(dispatching.url, { applicationName: 'stubborn', retryForMs: 600_000 }).record(results);
    const ended = expect(doomed).rejects.toMatchObject({ kind: 'unavailable' });
    const waiting = async (): Promise<number> => {
      const { rows } = await admin.query<{ n: number }>(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name IN ('doomed', 'stubborn') AND wait_event_type = 'Lock'",
      );
      return rows[0]?.n ?? 0;
    };
    await expect.poll(waiting).toBe(2);
    await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name IN ('doomed', 'stubborn')");
    await ended;
    expect((await admin.query('SELECT FROM parley.delivery_attempts')).rowCount).toBe(0);
    await holder.query('COMMIT');
    expect((await stubborn).attempts.map(({ outcome, number }) => [outcome, number])).toEqual(results.map(() => ['new', 1]));
    expect((await admin.query('SELECT FROM parley.delivery_attempts')).rowCount).toBe(30);
  });

  it('of several attempts at one delivery comes in their order', async () => {
    const dispatching = await freshDispatch();
    const claimed = await claimedOne(dispatching);
    const results = [
      resultOf(claimed, { state: 'pending', delayMs: 0 }),
      resultOf(claimed, { state: 'pending', delayMs: 0 }),
      resultOf(claimed, { state: 'failed' }),
    ];
    const { attempts } = await dispatching.dispatch.record(results);
    expect(attempts.map(({ number, state }) => [number, state])).toEqual([
      [1, 'failed'],
      [2, 'failed'],
      [3, 'failed'],
    ]);
    expect(await stateOf(dispatching, claimed.id)).toMatchObject({
      state: 'failed',
      reason: 'http_status',
      attempts: 3,
      endedAt: expect.any(Date),
    });
  });

  it('of a deleted delivery is reported as such', async () => {
    const { dispatch } = await freshDispatch();
    const gone = { id: '01a1fd79-f85e-81f5-bd13-7394a732f36e', subscriptionUid: 'sub', seriesStart: 0 };
    expect(await dispatch.record([resultOf(gone, { state: 'succeeded' })])).toMatchObject({
      attempts: [{ outcome: 'unknown', number: 0 }],
    });
    expect(await dispatch.record([])).toEqual({ attempts: [], endpoints: [], disabled: [] });
  });

  it('of a former series leaves the present one all of its attempts', async () => {
    const dispatching = await freshDispatch();
    const { dispatch, store } = dispatching;
    const claimed = await claimedOne(dispatching);
    await dispatch.record([resultOf(claimed, { state: 'failed' })]);
    expect(await store.webhooks.redeliver({ org: ORG, deliveryId: claimed.id })).toMatchObject({
      state: 'pending',
      attempts: 1,
      seriesStart: 1,
    });
    const late = await dispatch.record([resultOf(claimed, { state: 'failed' })]);
    expect(late.attempts).toMatchObject([{ outcome: 'new', number: 2, state: 'pending' }]);
    const replayed = only(await claimAll(dispatch));
    expect(replayed).toMatchObject({ id: claimed.id, attempts: 2, seriesStart: 2 });
    await dispatch.record([resultOf(replayed, { state: 'succeeded' })]);
    expect((await attemptsOf(dispatching, claimed.id)).map(({ number, succeeded }) => [number, succeeded])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
  });
});

describe('an endpoint', () => {
  it('is known by what came of its attempts', async () => {
    const dispatching = await freshDispatch();
    const { dispatch } = dispatching;
    const claimed = await claimedOne(dispatching);
    const at = Date.parse('2026-02-01T11:00:00Z');
    const again = { state: 'pending', delayMs: 0 } as const;
    const fail = (startedAt: number) => resultOf(claimed, again, { startedAt });
    await dispatch.record([fail(at), fail(at + 1)]);
    await dispatch.record([fail(at + 2)]);
    const [first] = (await dispatch.record([fail(at + 13 * 3_600_000)])).endpoints;
    expect(first).toMatchObject({
      consecutiveFailures: 4,
      failingSince: new Date(at),
      failureSlots: 2,
      lastFailureAt: new Date(at + 13 * 3_600_000),
    });
    const [third] = (await dispatch.record([fail(at + 49 * 3_600_000)])).endpoints;
    expect(third).toMatchObject({ failureSlots: 3, failingSince: new Date(at) });
    const [back] = (await dispatch.record([resultOf(claimed, { state: 'succeeded' }, { startedAt: at + 50 * 3_600_000 })])).endpoints;
    expect(back).toMatchObject({
      consecutiveFailures: 0,
      failingSince: undefined,
      failureSlots: 0,
      lastSuccessAt: new Date(at + 50 * 3_600_000),
    });
  });

  it('that goes on well is written down now and then', async () => {
    const dispatching = await freshDispatch();
    const { dispatch } = dispatching;
    await deliver(dispatching, { count: 3 });
    const [a, b, c] = await claimAll(dispatch);
    if (a === undefined || b === undefined || c === undefined) throw new Error('too few');
    const at = Date.parse('2026-02-01T11:00:00Z');
    const succeed = (claimed: typeof a, startedAt: number) => dispatch.record([resultOf(claimed, { state: 'succeeded' }, { startedAt })]);
    expect((await succeed(a, at)).endpoints).toHaveLength(1);
    expect((await succeed(b, at + 9_000)).endpoints).toHaveLength(0);
    expect((await succeed(c, at + 11_000)).endpoints).toHaveLength(1);
  });

  it('is disabled once, with its event, and enabled again', async () => {
    const dispatching = await freshDispatch();
    const { dispatch, store, url } = dispatching;
    await deliver(dispatching, { count: 2 });
    const [a, b] = await claimAll(dispatch);
    if (a === undefined || b === undefined) throw new Error('too few');
    const disable = () => ({
      reason: 'gone',
      generation: 4,
      event: eventOf({ name: 'Webhook.SubscriptionDisabled', exceptSubscription: 'sub' }),
    });
    const results = [a, b].map((claimed) => resultOf(claimed, { state: 'failed' }, { disable: disable() }));
    const tellers = [dispatch, dispatchAt(url)];
    const disabled = await Promise.all(tellers.map((teller, index) => teller.record(results.slice(index, index + 1))));
    expect(disabled.flatMap((done) => done.disabled)).toEqual(['sub']);
    expect(await dispatch.counts()).toMatchObject({ outbox: 1 });
    expect(only(await dispatch.endpoints({ uids: ['sub'] }))).toMatchObject({
      disabledReason: 'gone',
      disabledGeneration: 4,
      disabledAt: expect.any(Date),
    });
    expect(await store.webhooks.disable({ org: ORG, subscriptionUid: 'sub', reason: 'again', event: eventOf() })).toBe(false);
    expect(await store.webhooks.enable({ org: ORG, subscriptionUid: 'sub' })).toBe(true);
    expect(await store.webhooks.enable({ org: ORG, subscriptionUid: 'sub' })).toBe(false);
    expect(await store.webhooks.endpoint({ org: ORG, subscriptionUid: 'sub' })).toMatchObject({
      disabledAt: undefined,
      consecutiveFailures: 0,
    });
    expect(await dispatch.counts()).toMatchObject({ outbox: 1 });
  });

  it('has one breaker, whichever dispatcher decides about it', async () => {
    const { dispatch, url } = await freshDispatch();
    const other = dispatchAt(url);
    const change = (fields: Partial<BreakerChange>): BreakerChange => ({
      org: ORG,
      subscriptionUid: 'sub',
      version: 0,
      breaker: 'open',
      probeInMs: 0,
      opened: 1,
      ramp: 0,
      rampLeft: 0,
      ...fields,
    });
    const opened = (await Promise.all([dispatch, other].map((who) => who.changeBreaker(change({}))))).filter(
      (record) => record !== undefined,
    );
    expect(only(opened)).toMatchObject({ breaker: 'open', version: 1, opened: 1, probeAt: expect.any(Date) });
    const probes = await Promise.all([dispatch, other].map((who) => who.takeProbe('sub', 60_000)));
    expect(probes.filter((taken) => taken)).toHaveLength(1);
    expect(await dispatch.changeBreaker(change({ version: 7 }))).toBeUndefined();
    expect(await dispatch.changeBreaker(change({ version: 1, breaker: 'half_open', ramp: 4, rampLeft: 4 }))).toMatchObject({ version: 2 });
    const granted = await Promise.all([dispatch, other, dispatch].map((who) => who.takeRamp('sub', 3)));
    expect(granted.reduce((sum, number) => sum + number)).toBe(4);
    expect(await dispatch.takeProbe('sub', 60_000)).toBe(false);
    expect(await dispatch.changeBreaker(change({ subscriptionUid: 'unknown', version: 3 }))).toBeUndefined();
    const since = only(await dispatch.endpoints()).changedAt;
    expect(await dispatch.endpoints({ changedSince: since })).toHaveLength(1);
    expect(await dispatch.endpoints({ changedSince: new Date(since.getTime() + 1) })).toHaveLength(0);
  });

  it('is as good as new once its failures are forgotten', async () => {
    const dispatching = await freshDispatch();
    const { dispatch } = dispatching;
    const claimed = await claimedOne(dispatching);
    await dispatch.record([resultOf(claimed, { state: 'pending', delayMs: 0 })]);
    const forgotten = {
      breaker: 'closed',
      opened: 0,
      consecutiveFailures: 0,
      failureSlots: 0,
      failingSince: undefined,
      probeAt: undefined,
    };
    expect(await dispatch.forgetFailures('sub')).toMatchObject({ ...forgotten, lastFailureAt: expect.any(Date), version: 1 });
    expect(await dispatch.forgetFailures('sub')).toBeUndefined();
    const parked = {
      org: ORG,
      subscriptionUid: 'sub',
      version: 1,
      breaker: 'open',
      probeInMs: 9_000,
      opened: 2,
      ramp: 0,
      rampLeft: 0,
    } as const;
    await dispatch.changeBreaker(parked);
    expect(await dispatch.forgetFailures('sub')).toMatchObject({ ...forgotten, version: 3 });
    expect(await dispatch.forgetFailures('unknown')).toBeUndefined();
  });

  it('shows what its attempts of late came to', async () => {
    const dispatching = await freshDispatch();
    const { dispatch } = dispatching;
    await deliver(dispatching, { count: 3 });
    const [a, b, c] = await claimAll(dispatch);
    if (a === undefined || b === undefined || c === undefined) throw new Error('too few');
    const now = Date.now();
    const again = { state: 'pending', delayMs: 0 } as const;
    await dispatch.record([
      resultOf(a, again, { startedAt: now - 3_600_000 }),
      resultOf(a, again, { startedAt: now - 2 }),
      resultOf(a, again, { startedAt: now - 1 }),
      resultOf(b, again, { startedAt: now }),
      resultOf(c, { state: 'succeeded' }, { startedAt: now }),
    ]);
    expect(await dispatch.attemptWindows(['sub', 'unknown'], 600_000)).toEqual([
      { subscriptionUid: 'sub', attempts: 4, failures: 3, events: 3 },
    ]);
  });
});

describe('deliveries for people', () => {
  it('come newest first, in pages that nothing is missing from, by state and by event', async () => {
    const dispatching = await freshDispatch();
    const { dispatch, store } = dispatching;
    for (let event = 0; event < 7; event += 1) await deliver(dispatching);
    await deliver(dispatching, { subscriptionUid: 'other' });
    const claimed = await claimAll(dispatch);
    await dispatch.record(claimed.slice(0, 3).map((delivery) => resultOf(delivery, { state: 'failed' })));
    const page = { org: ORG, subscriptionUid: 'sub' };
    const all = await store.webhooks.deliveries({ ...page, limit: 100 });
    expect(all.map(({ id }) => id)).toEqual(
      claimed
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    );
    const first = await store.webhooks.deliveries({ ...page, limit: 3 });
    await deliver(dispatching);
    const second = await store.webhooks.deliveries({ ...page, limit: 3, before: first.at(-1)?.id });
    expect([...first, ...second].map(({ id }) => id)).toEqual(all.slice(0, 6).map(({ id }) => id));
    expect(await store.webhooks.deliveries({ ...page, limit: 9, states: ['failed', 'skipped'] })).toHaveLength(3);
    expect(await store.webhooks.deliveries({ ...page, limit: 9, states: ['pending'] })).toHaveLength(5);
    expect(await store.webhooks.deliveries({ ...page, limit: 9, states: [] })).toEqual([]);
    expect(await store.webhooks.deliveries({ ...page, limit: 9, eventName: 'Webhook.Other' })).toEqual([]);
    expect(await store.webhooks.deliveries({ ...page, limit: 9, before: 'no id' })).toEqual([]);
    expect(await store.webhooks.delivery({ org: ORG, deliveryId: "x' OR true" })).toBeUndefined();
  });

  it('of a span of time are replayed', async () => {
    const dispatching = await freshDispatch();
    const { dispatch, store, url } = dispatching;
    await deliver(dispatching, { count: 1_205 });
    const ids: string[] = [];
    for (let more = true; more;) {
      const claimed = await claimAll(dispatch);
      ids.push(...claimed.map(({ id }) => id));
      await dispatch.record(claimed.map((delivery, index) => resultOf(delivery, { state: index % 5 === 0 ? 'succeeded' : 'failed' })));
      more = claimed.length > 0;
    }
    const failed = (await (await session(url)).query("SELECT count(*)::int AS n FROM parley.deliveries WHERE state = 'failed'")).rows[0].n;
    const span = { org: ORG, subscriptionUid: 'sub' };
    const [soon, anHourAgo] = [new Date(Date.now() + 60_000), new Date(Date.now() - 3_600_000)];
    expect(await store.webhooks.recover({ ...span, since: soon })).toBe(0);
    expect(await store.webhooks.recover({ ...span, since: new Date(0), until: anHourAgo })).toBe(0);
    expect(await store.webhooks.recover({ ...span, since: new Date(0), states: ['skipped', 'pending'] })).toBe(0);
    expect(await store.webhooks.recover({ ...span, since: anHourAgo })).toBe(failed);
    expect(await store.webhooks.recover({ ...span, since: new Date(0) })).toBe(0);
    expect(await dispatch.counts()).toMatchObject({ byState: { pending: failed } });
    expect(await store.webhooks.recover({ ...span, since: new Date(0), states: ['succeeded'] })).toBe(ids.length - failed);
  });

  it('that wait for a retry go out at once when somebody asks for it', async () => {
    const dispatching = await freshDispatch();
    const { dispatch, store } = dispatching;
    const claimed = await claimedOne(dispatching);
    await dispatch.record([resultOf(claimed, { state: 'retry_pending', delayMs: 3_600_000 })]);
    expect(await store.webhooks.redeliver({ org: ORG, deliveryId: claimed.id })).toMatchObject({ state: 'pending', seriesStart: 0 });
    expect(await dispatch.claimOne(claimed.id, 1_000)).toMatchObject({ state: 'pending' });
    expect(only(await claimAll(dispatch))).toMatchObject({ id: claimed.id, attempts: 1, seriesStart: 0 });
  });
});
