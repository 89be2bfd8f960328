import { describe, expect, it, vi } from 'vitest';

import type { LimitClass } from '../../../api/limits/limit-class.ts';
import { generateApiKey } from '../../../store/api-key-format.ts';
import { defaultLimits, unlimited } from '../../support/limits.ts';
import { limiterClock } from '../../support/request-clock.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { organization, startFacade, type RestAnswer, type Facade, type TestOrganization } from './facade.ts';

const perKey: LimitClass = { name: 'key', of: 'key', limit: { perSecond: 0.5, burst: 10 } };
const perOrganization: LimitClass = { name: 'organization', of: 'organization', limit: { perSecond: 0.01, burst: 25 } };
/** These limits stand alone, on a clock that only the test moves: nothing is refilled because the machine is slow. */
const alone = { ...unlimited, classes: [perKey, perOrganization], exchangeMs: 0 };
const { clock, move } = limiterClock();

const facade = suiteFixture(() => startFacade({ limits: alone, clock }));
let org: TestOrganization;

const seconds = (answer: RestAnswer, header: string): number => Number(answer.headers.get(header));
const ask = (from: Facade, key: string): Promise<RestAnswer> => from.call('GET', '/v1/api-keys?page_size=1', { key });

async function untilLimited(from: Facade, key: string): Promise<{ readonly allowed: number; readonly refused: RestAnswer }> {
  for (let allowed = 0; ; allowed += 1) {
    const answer = await ask(from, key);
    if (answer.status === 429) return { allowed, refused: answer };
    expect(answer.status).toBe(200);
  }
}

describe('the limit of a key', () => {
  it('comes with every answer, counts down, and ends in 429 with the time to come back', async () => {
    org = await organization(facade);
    const key = await org.keyWith('api_keys:read');
    const first = await ask(facade, key);
    expect(first.status).toBe(200);
    expect(first.headers.get('ratelimit-limit')).toBe('10');
    expect(first.headers.get('ratelimit-remaining')).toBe('9');
    expect(seconds(first, 'ratelimit-reset')).toBe(2);
    expect(first.headers.get('ratelimit-policy')).toBe('10;w=20;comment="key", 25;w=2500;comment="organization"');
    // Failures are requests too.
    const forbidden = await facade.call('GET', '/v2/ai-agents', { key });
    expect([forbidden.status, forbidden.headers.get('ratelimit-remaining')]).toEqual([403, '8']);
    const { allowed, refused } = await untilLimited(facade, key);
    expect(allowed).toBe(8);
    expect(refused.body).toEqual({ error: 'rate_limited', message: expect.any(String) });
    expect(refused.headers.get('ratelimit-remaining')).toBe('0');
    expect(seconds(refused, 'retry-after')).toBe(2);
    move(1_999);
    expect((await ask(facade, key)).status).toBe(429);
    move(1);
    expect((await ask(facade, key)).status).toBe(200);
    expect(facade.log()).toMatch(/"limitedBy":"key"/);
    expect(await facade.registry.metrics()).toMatch(/parley_rate_limited_total\{class="key"\} [1-9]/);
  });

  it('leaves other keys alone, until they reach what the organisation has together', async () => {
    org = await organization(facade);
    const keys = await Promise.all(Array.from({ length: 4 }, () => org.keyWith('api_keys:read')));
    const outcomes: { readonly allowed: number; readonly refused: RestAnswer }[] = [];
    for (const key of keys) outcomes.push(await untilLimited(facade, key));
    expect(outcomes.map(({ allowed }) => allowed)).toEqual([10, 10, 5, 0]);
    const last = outcomes.at(-1);
    expect(last?.refused.body.message).toContain('organisation');
    expect(seconds(last!.refused, 'retry-after')).toBeGreaterThan(2);
    // Another organisation never hears of it.
    const other = await organization(facade);
    expect((await ask(facade, other.key)).status).toBe(200);
  });

  it('is one limit over all replicas', async () => {
    org = await organization(facade);
    const key = await org.keyWith('api_keys:read');
    // Nothing to speak of is refilled meanwhile.
    const limits = { ...unlimited, classes: [{ ...perKey, limit: { perSecond: 1e-5, burst: 10 } }] };
    const { database } = facade;
    const replicas = [await startFacade({ database, limits }), await startFacade({ database, limits })] as const;
    const tells = vi.spyOn(replicas[0].store.rateLimits, 'exchange');
    const hears = vi.spyOn(replicas[1].store.rateLimits, 'exchange');
    const reportedMs = (): number => tells.mock.calls.flat(2).reduce((sum, { ms }) => sum + ms, 0);
    expect((await untilLimited(replicas[0], key)).allowed).toBe(10);
    await expect.poll(reportedMs).toBeCloseTo(10 * (1_000 / 1e-5));
    await Promise.all(tells.mock.results.map(({ value }) => value as Promise<unknown>));
    // The other one hears of it with its own first report.
    expect((await ask(replicas[1], key)).status).toBe(200);
    await expect.poll(() => hears.mock.settledResults).toHaveLength(1);
    expect((await ask(replicas[1], key)).status).toBe(429);
    for (const replica of replicas) await replica.close();
  });

  it('is as documented by default', async () => {
    const shipped = await startFacade({ database: facade.database, limits: defaultLimits });
    org = await organization(facade);
    const answer = await ask(shipped, org.key);
    expect(answer.headers.get('ratelimit-limit')).toBe('120');
    expect(answer.headers.get('ratelimit-policy')).toMatch(/^120;w=2;comment="key", /);
    expect((await shipped.call('GET', '/healthz')).headers.get('ratelimit-limit')).toBeNull();
    await shipped.close();
  });
});

describe('a key without the permission', () => {
  it('uses up its own limit and none that the organisation has together', async () => {
    const calls: LimitClass = {
      name: 'calls',
      of: 'organization',
      limit: { perSecond: 0.01, burst: 3 },
      applies: ({ path }) => path === '/v1/calls/create-web-call',
    };
    const guarded = await startFacade({
      database: facade.database,
      limits: { ...unlimited, classes: [perKey, perOrganization, calls], exchangeMs: 0 },
      clock,
    });
    org = await organization(facade);
    const powerless = await org.keyWith('calls:read');
    const post = (key: string): Promise<RestAnswer> => guarded.call('POST', '/v1/calls/create-web-call', { key, body: {} });
    const statuses = new Set<number>();
    for (let n = 0; n < 45; n += 1) statuses.add((await post(powerless)).status);
    // The replica's own limit is reached, in the end.
    expect([...statuses]).toEqual([403, 429]);
    const full = await post(org.key);
    expect([full.status, full.headers.get('ratelimit-remaining')]).toEqual([422, '2']);
    await guarded.close();
  });
});

describe('keys that no organisation has', () => {
  it('are refused, however many come, and turn away no new key from the same address', async () => {
    org = await organization(facade);
    const invented = Promise.all(Array.from({ length: 300 }, async () => (await ask(facade, generateApiKey().apiKey)).status));
    const fresh = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const other = await organization(facade);
        return (await ask(facade, other.key)).status;
      }),
    );
    expect(fresh).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(await invented)).toEqual(new Set([401]));
  });
});

describe('X-Forwarded-For', () => {
  const invented = (to: Facade, client: string): Promise<RestAnswer> =>
    to.call('GET', '/v1/api-keys', { key: generateApiKey().apiKey, headers: { 'x-forwarded-for': client } });

  it('of a trusted proxy gives the log the address of the client', async () => {
    const behind = await startFacade({ database: facade.database, limits: { ...unlimited, trustedProxies: ['127.0.0.1'] } });
    await invented(behind, '192.0.2.7');
    expect(behind.log()).toMatch(/"client":"192\.0\.2\.7"/);
    expect(behind.log()).not.toMatch(/PARLEY_TRUSTED_PROXIES/);
    await behind.close();
  });

  it('of anybody else is ignored, with one warning for many', async () => {
    const direct = await startFacade({ database: facade.database });
    for (let n = 0; n < 3; n += 1) await invented(direct, `192.0.2.${n}`);
    expect(direct.log()).not.toMatch(/"client":"192/);
    expect(direct.log().match(/PARLEY_TRUSTED_PROXIES/g)).toHaveLength(1);
    await direct.close();
  });
});
