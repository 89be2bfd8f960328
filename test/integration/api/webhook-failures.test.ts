/** The webhook group answers every kind of failure with its own body; keys are refused as everywhere. */
import { describe, expect, it } from 'vitest';

import { describedRoutes } from '../../../api/openapi/described-routes.ts';
import { WEBHOOK_ROOT } from '../../../api/http/webhook-failure.ts';
import { systemClock } from '../../../platform/clock.ts';
import { generateApiKey } from '../../../store/api-key-format.ts';
import { unlimited } from '../../support/limits.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { organization, startFacade, type RestAnswer } from './facade.ts';

const one = `${WEBHOOK_ROOT}/subscription`;
const at = Date.now();
const clock = { ...systemClock, now: () => at };
const facade = suiteFixture(() => startFacade({ clock }));
const org = suiteFixture(() => organization(facade));

const expectFailure = (answer: RestAnswer, status: number, type: string, path: string, details: unknown = {}): void => {
  expect([answer.status, answer.body], answer.text).toEqual([
    status,
    {
      status,
      type,
      message: expect.stringMatching(/./),
      details,
      timestamp: new Date(at).toISOString(),
      path,
      trace_id: answer.headers.get('x-trace-id'),
    },
  ]);
};

const routes = describedRoutes()
  .filter(({ path }) => path.startsWith(WEBHOOK_ROOT))
  .map(({ method, path, permission }) => [method, path.replaceAll(/:\w+/g, 'x'), permission] as const);

describe('without a sound key', () => {
  it.each(routes)('%s %s: 401 and 403 as everywhere', async (method, path, needed) => {
    for (const key of [undefined, 'nonsense', generateApiKey().apiKey]) {
      const answer = await facade.call(method, path, { key });
      expect([answer.status, answer.body]).toEqual([
        401,
        { error: 'unauthorized', message: expect.any(String), traceId: answer.headers.get('x-trace-id') },
      ]);
    }
    const answer = await facade.call(method, path, { key: await org.keyWith('agents:write', 'secrets:read') });
    expect([answer.status, answer.body]).toEqual([
      403,
      { error: 'forbidden', message: expect.stringContaining(needed), traceId: answer.headers.get('x-trace-id') },
    ]);
    if (needed === 'webhooks:write') {
      expect((await facade.call(method, path, { key: await org.keyWith('webhooks:read') })).status).toBe(403);
    } else {
      expect((await facade.call(method, path, { key: await org.keyWith('webhooks:write') })).status).not.toBe(403);
    }
  });
});

describe('a request that can not be used', () => {
  it('is no JSON, no object, or nothing at all', async () => {
    const post = (body: unknown, type = 'application/json') =>
      facade.call('POST', one, { key: org.key, body, headers: { 'content-type': type } });
    expectFailure(await post('{"name": "x",}'), 400, 'VALIDATION_ERROR', one, { body: 'JSON decode error at character 13' });
    expectFailure(await post(new Uint8Array([0x7b, 0xff])), 400, 'VALIDATION_ERROR', one, { body: expect.any(String) });
    expectFailure(await post('[]'), 400, 'VALIDATION_ERROR', one, { body: expect.stringContaining('object') });
    expectFailure(await post('null'), 400, 'VALIDATION_ERROR', one, { body: expect.any(String) });
    expectFailure(await post(''), 400, 'VALIDATION_ERROR', one, { body: 'Field required' });
    expectFailure(await post('{}'), 400, 'VALIDATION_ERROR', one, {
      name: 'Field required',
      url: 'Field required',
      enable_signed_webhooks: 'Field required',
    });
    expectFailure(await post('{}', 'text/plain'), 415, 'UNSUPPORTED_MEDIA_TYPE', one);
    expectFailure(await post('a=b', 'application/x-www-form-urlencoded'), 415, 'UNSUPPORTED_MEDIA_TYPE', one);
    expectFailure(await post(`"${'x'.repeat(1024 * 1024)}"`), 413, 'PAYLOAD_TOO_LARGE', one);
    // Query and body are reported together.
    const both = await org.call('POST', `${one}?dry_run=perhaps`, { name: 5, url: 'https://x', enable_signed_webhooks: 'y e s' });
    expectFailure(both, 400, 'VALIDATION_ERROR', one, {
      dry_run: expect.any(String),
      name: expect.any(String),
      enable_signed_webhooks: expect.any(String),
    });
  });

  it('is for an address or a method that is not there', async () => {
    for (const path of [WEBHOOK_ROOT, `${WEBHOOK_ROOT}/nothing`, `${one}/x/y`, `${one}s/x`])
      expectFailure(await org.call('GET', path), 404, 'NOT_FOUND', path);
    const patch = await org.call('PATCH', one, {});
    expectFailure(patch, 405, 'METHOD_NOT_ALLOWED', one);
    expect(patch.headers.get('allow')).toContain('POST');
    // A path that only looks alike is none of the group.
    expect((await org.call('GET', '/v1/public/webhooks')).body.error).toBe('not_found');
  });

  it('names what is not there: foreign, unknown and impossible ids are one and the same', async () => {
    const theirs = await organization(facade);
    const { body } = await theirs.call('POST', one, { name: 'x', url: 'https://x.example', enable_signed_webhooks: true });
    const ids = [body.id, 'whs-aaaaaaaaaaaaaaaa', 'UPPER', '%00', '%ZZ', 'a%2Fb', 'é', 'x'.repeat(300), '{}'];
    for (const [method, suffix, sent] of [
      ['GET', '', undefined],
      ['PUT', '', { active: false }],
      ['PATCH', '', { active: false }],
      ['DELETE', '', undefined],
      ['POST', '/rotate-secret', {}],
      ['POST', '/test', undefined],
      ['POST', '/recover', { since: '2026-11-21T00:00:00Z' }],
      ['GET', '/deliveries', undefined],
    ] as const) {
      for (const id of ids) {
        const path = `${one}/${id}${suffix}`;
        const answer = await org.call(method, path, sent);
        expectFailure(answer, 404, 'NOT_FOUND', new URL(path, facade.url).pathname);
        expect(answer.body.message).toBe('Webhook subscription not found');
      }
    }
    expect((await theirs.call('GET', `${one}/${body.id}`)).body.active).toBe(true);
  });
});

describe('too many requests', () => {
  it('are 429 in the same body, with Retry-After', async () => {
    const [key] = [{ name: 'key', of: 'key', limit: { perSecond: 0.01, burst: 1 } } as const];
    const limited = await startFacade({ database: facade.database, clock, limits: { ...unlimited, classes: [key] } });
    await limited.call('GET', `${WEBHOOK_ROOT}/event-types`, { key: org.key });
    const answer = await limited.call('GET', `${WEBHOOK_ROOT}/event-types`, { key: org.key });
    expectFailure(answer, 429, 'RATE_LIMITED', `${WEBHOOK_ROOT}/event-types`);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.headers.get('ratelimit-remaining')).toBe('0');
    await limited.close();
  });
});
