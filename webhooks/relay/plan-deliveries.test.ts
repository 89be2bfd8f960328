import { describe, expect, it } from 'vitest';

import { outboxEvent as event } from '../../test/support/outbox-event.ts';
import { endpoint } from '../../test/support/webhook-endpoint.ts';
import type { EndpointGate } from '../endpoint-health/endpoint-health-cache.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import { decide, type DecideOptions } from './plan-deliveries.ts';

function options(
  endpoints: readonly Endpoint[],
  more: Partial<DecideOptions> & { gates?: Readonly<Record<string, EndpointGate>> } = {},
): DecideOptions {
  const { gates = {}, ...rest } = more;
  return {
    directory: { matching: ({ org }) => endpoints.filter((one) => one.org === org), behind: () => false },
    gate: ({ uid }) => gates[uid] ?? 'open',
    reserve: () => 6_000,
    behindDelayMs: () => 20,
    ...rest,
  };
}

describe('who gets an event', () => {
  it('each endpoint that it matches, claimed at once where there is room', () => {
    const rooms = new Map([
      ['a', 1],
      ['b', 0],
    ]);
    const reserve = ({ uid }: Endpoint): number | undefined => {
      const room = rooms.get(uid) ?? 0;
      rooms.set(uid, room - 1);
      return room > 0 ? 6_000 : undefined;
    };
    const decision = decide([event('1'), event('2')], options([endpoint({ uid: 'a' }), endpoint({ uid: 'b' })], { reserve }));
    expect(decision.deliveries.map(({ event: { id }, subscriptionUid, state, leaseMs }) => [id, subscriptionUid, state, leaseMs])).toEqual([
      ['1', 'a', 'pending', 6_000],
      ['1', 'b', 'pending', undefined],
      ['2', 'a', 'pending', undefined],
      ['2', 'b', 'pending', undefined],
    ]);
    expect([...decision.left].toSorted()).toEqual(['a', 'b']);
  });

  it.each<[EndpointGate, string, string | undefined]>([
    ['paused', 'skipped', 'paused'],
    ['disabled', 'skipped', 'disabled'],
    ['parked', 'pending', undefined],
  ])('an endpoint that is %s takes no place', (gate, state, reason) => {
    const reserve = (): never => {
      throw new Error('asked for a place');
    };
    const { deliveries } = decide([event('1')], options([endpoint({ uid: 'a' })], { gates: { a: gate }, reserve }));
    expect(deliveries.map((one) => [one.subscriptionUid, one.state, one.reason, one.leaseMs])).toEqual([['a', state, reason, undefined]]);
  });

  it('an endpoint that is left alone at once, where it is a test of it', () => {
    const test = event('1', { name: 'Webhook.Test', onlySubscription: 'a' });
    const reserve = (_endpoint: Endpoint, pastBreaker: boolean) => (pastBreaker ? 6_000 : undefined);
    const { deliveries } = decide([test, event('2')], options([endpoint({ uid: 'a' })], { gates: { a: 'parked' }, reserve }));
    expect(deliveries.map(({ event: { id }, leaseMs }) => [id, leaseMs])).toEqual([
      ['1', 6_000],
      ['2', undefined],
    ]);
  });

  it('no endpoint, where none is subscribed: it is neither delivered nor put back', () => {
    expect(decide([event('1')], options([]))).toMatchObject({ deliveries: [], postponed: [], behind: [] });
  });

  it('waits for a subscription that was just written, and only the events of that organisation do', () => {
    const watermark = { subscriptions: '1001', secrets: undefined, at: new Date(0) };
    const asked: string[] = [];
    const directory = {
      matching: ({ org }: { org: string }) => [endpoint({ uid: `of-${org}`, org })],
      behind: (org: string, mark: { subscriptions?: string }) => {
        asked.push(`${org} ${mark.subscriptions}`);
        return org === 'new';
      },
    };
    const events = [
      event('1', { org: 'new', watermark }),
      event('2', { watermark }),
      event('3', { org: 'new', watermark }),
      event('4', { watermark }),
    ];
    const decision = decide(events, options([], { directory }));
    expect(decision.deliveries.map(({ event: { id } }) => id)).toEqual(['2', '4']);
    expect(decision.postponed).toEqual([
      { eventId: '1', delayMs: 20 },
      { eventId: '3', delayMs: 20 },
    ]);
    expect(decision.behind).toEqual([{ org: 'new', watermark: { subscriptions: '1001' } }]);
    expect(asked).toEqual(['new 1001', 'acme 1001']);
  });
});
