import { describe, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startProxyOf } from '../../support/tcp-proxy.ts';
import { organization, startFacade, startProxiedFacade, type RestAnswer } from './facade.ts';

const one = '/v1/public/webhook/subscription';
const all = '/v1/public/webhook/subscriptions?page_size=100';
const facade = suiteFixture(startFacade);
const org = suiteFixture(() => organization(facade));

let count = 0;
const aBody = (): object => ({
  name: `Hook ${++count}`,
  url: 'https://x.example',
  enable_signed_webhooks: true,
  headers: { 'X-Tenant': 'a', Authorization: 'b' },
});
const age = (answer: RestAnswer): number => Number(answer.headers.get('age') ?? Number.NaN);

const expectUnavailable = (answer: RestAnswer, what: string): void => {
  expect([answer.status, answer.body], what).toEqual([
    503,
    expect.objectContaining({ status: 503, type: 'UNAVAILABLE', details: {}, trace_id: answer.headers.get('x-trace-id') }),
  ]);
  expect(Number(answer.headers.get('retry-after')), what).toBeGreaterThan(0);
};

const writes = (id: string, delivery: string): readonly (readonly [method: string, path: string, body?: object])[] => [
  ['POST', one, aBody()],
  ['PUT', `${one}/${id}`, { description: 'd' }],
  ['PATCH', `${one}/${id}`, { active: true }],
  ['DELETE', `${one}/${id}`],
  ['POST', `${one}/${id}/rotate-secret`, {}],
  // These need Postgres alone.
  ['POST', `${one}/${id}/test`],
  ['POST', `${one}/${id}/recover`, { since: '2026-11-21T00:00:00Z' }],
  ['POST', `${one}/${id}/deliveries/${delivery}/redeliver`],
];
const inResource = 5;

describe.each(['cut', 'stall'] as const)('when the API server goes away (%s)', (how) => {
  it('subscriptions are read from the cache with their age and masked headers, deliveries as ever, and writes are refused', async () => {
    const { behind, proxy } = await startProxiedFacade(facade);
    const ask = (method: string, path: string, body?: unknown): Promise<RestAnswer> =>
      behind.call(method, path, { key: org.key, ...(body !== undefined && { body }) });
    const { body: made } = await ask('POST', one, aBody());
    const { secret: _, ...subscription } = made as Readonly<Record<string, unknown>>;
    const path = `${one}/${made.id}`;
    expect((await ask('GET', path)).body).toEqual(subscription);
    const { headers: __, ...item } = subscription;
    // A subscription in the list is in the cache.
    expect((await ask('GET', all)).body.data).toContainEqual(item);

    proxy[how]();
    await eventually(async () => expect(age(await ask('GET', path))).toBeGreaterThanOrEqual(1));
    // Values of headers are kept nowhere for such times.
    expect((await ask('GET', path)).body).toEqual({ ...subscription, headers: { 'X-Tenant': '********', Authorization: '********' } });
    const list = await ask('GET', all);
    expect([list.status, age(list)]).toEqual([200, expect.any(Number)]);
    expect(list.body.data).toContainEqual(item);
    expect((await ask('GET', `${one}/whs-aaaaaaaaaaaaaaaa`)).status).toBe(404);
    const test = await ask('POST', `${path}/test`);
    expect(test.status).toBe(202);
    expect((await ask('GET', `${path}/deliveries`)).status).toBe(200);
    expect((await ask('GET', '/v1/public/webhook/event-types')).status).toBe(200);
    for (const [method, address, body] of writes(made.id as string, test.body.delivery_id as string).slice(0, inResource))
      expectUnavailable(await ask(method, address, body), `${method} ${address}`);

    proxy.restore();
    await eventually(async () => expect((await ask('PATCH', path, { description: 'back' })).status).toBe(200));
    expect((await ask('GET', path)).body.headers['X-Tenant']).toBe('a');
    await behind.close();
  });
});

describe('when Postgres goes away', () => {
  it('everything is a 503 in the body of the group, nothing is made, and it comes back by itself', async () => {
    const address = new URL(facade.database.url);
    const proxy = await startProxyOf(address.href);
    address.port = String(proxy.port);
    const behind = await startFacade({ database: { ...facade.database, url: address.href } });
    const ask = (method: string, path: string, body?: unknown): Promise<RestAnswer> =>
      behind.call(method, path, { key: org.key, ...(body !== undefined && { body }) });
    const { body: made } = await ask('POST', one, aBody());
    const { total_count: before } = (await ask('GET', all)).body as { total_count: number };
    const requests = writes(made.id as string, 'dlv_0199f2d0-7b1e-8a4f-b0c1-6d5e4f3a2b1c');
    proxy.cut();
    // The requests come at once, while the key is still known, and in a row, when it isn't any more.
    const answers = await Promise.all(
      [...requests.filter(([method]) => method !== 'DELETE'), ['GET', all] as const, ['GET', `${one}/${made.id}`] as const].map(
        async ([method, path, body]) => [`${method} ${path}`, await ask(method, path, body)] as const,
      ),
    );
    for (const [what, answer] of answers) expectUnavailable(answer, what);
    proxy.restore();
    await eventually(async () => expect((await ask('GET', all)).status).toBe(200));
    expect((await ask('GET', all)).body.total_count).toBe(before);
    expect((await facade.call('GET', `${one}/${made.id}`, { key: org.key })).body.id).toBe(made.id);
    await behind.close();
    await proxy.close();
  });
});
