import { beforeEach, describe, expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import type { ClaimedDelivery } from '../../store/webhooks/types.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { endpoint } from '../../test/support/webhook-endpoint.ts';
import type { AttemptOutcome } from '../attempt/outcome.ts';
import { DeliverySecretError } from '../subscriptions/delivery-secret-error.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import type { JudgedAttempt } from '../endpoint-health/park-failing-endpoints.ts';
import { Attempter } from './attempter.ts';
import { EndpointQueues } from './endpoint-queues.ts';
import { EndpointSlots } from './endpoint-slots.ts';
import type { HandBack } from './recorder.ts';
import { EndpointHealthCache } from '../endpoint-health/endpoint-health-cache.ts';

const ok = (startedAt: number, durationMs = 1): AttemptOutcome => ({ succeeded: true, statusCode: 200, startedAt, durationMs });

const delivery = (id: string, subscriptionUid: string): ClaimedDelivery => ({
  id,
  org: 'acme',
  eventId: id,
  eventName: 'Webhook.Test',
  subscriptionUid,
  attempts: 0,
  seriesStart: 0,
  createdAt: new Date(0),
  body: Buffer.from('{}'),
});

let clock: FakeClock;
let endpoints: Map<string, Endpoint>;
let attempted: JudgedAttempt[];
let handedBack: { readonly id: string; readonly why: HandBack }[];
/** Endpoints that answer on command. */
let hanging: Map<string, ((outcome: AttemptOutcome) => void)[]>;
let attempter: Attempter;
let queues: EndpointQueues;
let slots: EndpointSlots;
/** Ends of recordings, to be called by the test. */
let recorded: ((row: undefined) => void)[];
let unrecorded: number;
const health = new EndpointHealthCache({ store: { endpoints: async () => [], enable: async () => true } });

beforeEach(() => {
  clock = new FakeClock();
  endpoints = new Map();
  attempted = [];
  handedBack = [];
  hanging = new Map();
  unrecorded = 0;
  recorded = [];
  slots = new EndpointSlots();
  const { perEndpoint } = slots;
  queues = new EndpointQueues({ clock, perEndpoint, mostHeld: 1_024, admitted: (uid) => health.admitted(endpoints.get(uid), perEndpoint) });
  attempter = new Attempter({
    directory: {
      byUid: (uid) => endpoints.get(uid),
      credentials: async ({ signingSecret }) => {
        if (signingSecret !== undefined) throw new DeliverySecretError({ reason: 'missing', message: 'there is no such Secret' });
        return { keys: [], headers: {} };
      },
    },
    health,
    attempt: ({ endpoint: { url } }) => {
      const waiting = hanging.get(url);
      return waiting === undefined ? Promise.resolve(ok(clock.now())) : new Promise((resolve) => waiting.push(resolve));
    },
    queues,
    slots,
    recorder: {
      get size() {
        return unrecorded;
      },
      record: (one) => {
        attempted.push(one);
        return new Promise((resolve) => recorded.push(resolve));
      },
      handBack: async ({ id }, why) => void handedBack.push({ id, why }),
    },
    retries: { add: () => undefined },
    metrics: { attempted: () => undefined, received: () => undefined, finished: () => undefined },
    clock,
    random: () => 0,
    logger: createLogger({ role: 'test', level: 'silent' }),
  });
});

function know(uid: string, more: Partial<Endpoint> = {}): void {
  endpoints.set(uid, endpoint({ uid, url: `http://${uid}/`, ...more }));
}

function accept(deliveries: readonly ClaimedDelivery[], leaseMs = 6_000): void {
  for (const { subscriptionUid } of deliveries) queues.hold(subscriptionUid);
  attempter.accept(deliveries, { leaseMs: () => leaseMs });
}

const settle = () => clock.advance(0);

describe('an attempter', () => {
  it('sends at most eight at once to an endpoint that hangs, and everything to the others meanwhile', async () => {
    know('hangs');
    know('healthy');
    hanging.set('http://hangs/', []);
    accept(Array.from({ length: 30 }, (_, index) => delivery(`h${index}`, 'hangs')));
    accept(Array.from({ length: 100 }, (_, index) => delivery(`ok${index}`, 'healthy')));
    await settle();
    expect(hanging.get('http://hangs/')).toHaveLength(8);
    expect(attempted).toHaveLength(100);
    expect(slots.total).toBe(8);
    hanging.get('http://hangs/')?.shift()?.(ok(clock.now()));
    await settle();
    expect(hanging.get('http://hangs/')).toHaveLength(8);
    expect(queues.held).toBe(29);
  });

  it('begins nothing more while too many attempts are not written down', async () => {
    know('a');
    accept([delivery('0', 'a')]);
    await settle();
    unrecorded = 256;
    accept([delivery('1', 'a')]);
    await settle();
    expect(attempted).toHaveLength(1);
    unrecorded = 255;
    // Another one was recorded.
    recorded[0]?.(undefined);
    await settle();
    expect(attempted).toHaveLength(2);
  });

  it('sends one that comes twice once', async () => {
    know('a');
    accept([delivery('1', 'a'), delivery('1', 'a')]);
    await settle();
    expect(attempted).toHaveLength(1);
    expect(queues.held).toBe(0);
  });

  it.each<[string, Partial<Endpoint> | undefined, HandBack]>([
    ['of an unknown endpoint', undefined, 'unknown_endpoint'],
    ['of one that was switched off', { active: false }, 'closed_endpoint'],
    ['whose Secret is missing', { signingSecret: 'gone' }, 'credentials'],
  ])('hands back a delivery %s, and sends the others', async (_name, more, why) => {
    know('a');
    if (more !== undefined) know('b', more);
    accept([delivery('1', 'b'), delivery('2', 'a'), delivery('3', 'b')]);
    await settle();
    expect(attempted.map((one) => one.deliveryId)).toEqual(['2']);
    expect(handedBack.map(({ id }) => id).toSorted()).toEqual(['1', '3']);
    expect(handedBack.map((one) => one.why)).toContain(why);
    expect([slots.total, queues.held]).toEqual([0, 0]);
  });

  it('does not fetch all deliveries of an endpoint to find that each lacks the same Secret', async () => {
    know('a', { signingSecret: 'gone' });
    accept([delivery('1', 'a')]);
    await settle();
    expect(queues.toClaim(256)).toEqual({ rooms: new Map(), waitMs: 5_000 });
    expect(queues.reserve('a')).toBe(false);
    accept([delivery('2', 'a')]);
    await settle();
    expect(handedBack.at(-1)).toEqual({ id: '2', why: 'blocked' });
    clock.tick(5_000);
    expect([...queues.toClaim(256).rooms]).toEqual([['a', 8]]);
  });

  it.each<[string, Partial<Endpoint> | undefined]>([
    ['is switched off', { active: false }],
    ['is gone', undefined],
  ])('fetches nothing for an endpoint that %s', (_name, more) => {
    if (more !== undefined) know('a', more);
    queues.markHot('a');
    expect(queues.toClaim(256).rooms.size).toBe(0);
  });

  it('hands back what is our own fault: it says nothing about the endpoint', async () => {
    know('a');
    const waiting: ((outcome: AttemptOutcome) => void)[] = [];
    hanging.set('http://a/', waiting);
    accept([delivery('1', 'a')]);
    await settle();
    waiting[0]?.({ succeeded: false, ours: true, reason: 'dns_unavailable', message: 'no DNS', startedAt: clock.now(), durationMs: 3 });
    await settle();
    expect(handedBack).toEqual([{ id: '1', why: 'local' }]);
    expect(attempted).toEqual([]);
  });

  it('does not begin what its lease may not outlast', async () => {
    know('a', { timeoutMs: 1_000 });
    const waiting: ((outcome: AttemptOutcome) => void)[] = [];
    hanging.set('http://a/', waiting);
    accept(
      Array.from({ length: 9 }, (_, index) => delivery(String(index), 'a')),
      6_000,
    );
    await clock.advance(4_500);
    waiting[0]?.(ok(clock.now()));
    await settle();
    expect(handedBack).toEqual([{ id: '8', why: 'late' }]);
  });

  it('finishes what is on its way when it stops, and hands back the rest', async () => {
    know('a');
    const waiting: ((outcome: AttemptOutcome) => void)[] = [];
    hanging.set('http://a/', waiting);
    accept(Array.from({ length: 10 }, (_, index) => delivery(String(index), 'a')));
    await settle();
    let stopped = false;
    const stopping = attempter.stop().then(() => (stopped = true));
    await settle();
    expect(handedBack.map(({ id, why }) => `${id} ${why}`)).toEqual(['8 stopping', '9 stopping']);
    expect(stopped).toBe(false);
    for (const resolve of waiting) resolve(ok(clock.now()));
    await stopping;
    expect(attempted).toHaveLength(8);
    accept([delivery('late', 'a')]);
    expect(handedBack.at(-1)).toEqual({ id: 'late', why: 'stopping' });
  });
});
