import { describe, expect, it } from 'vitest';

import { wellKnown, type WebhookSubscription } from '../../../crds/index.ts';
import { eventNames } from '../../../events/catalogue.ts';
import type { KubeRequest } from '../../../kube/index.ts';
import { aWebhookSubscription, anAgentRequest } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { type RestAnswer, canary, kubectl, kubectlJson, notLookedAt, organization, startFacade } from './facade.ts';

const one = '/v1/public/webhook/subscription';
const all = '/v1/public/webhook/subscriptions';
const facade = suiteFixture(startFacade);
const ours = suiteFixture(() => organization(facade));

let count = 0;
const aBody = (rest: object = {}): object => ({
  name: `Hook ${++count}`,
  url: 'https://hooks.example.com/parley',
  enable_signed_webhooks: false,
  ...rest,
});
const make = async (rest: object = {}, org = ours): Promise<RestAnswer['body']> => {
  const answer = await org.call('POST', one, aBody(rest));
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};
const stored = (id: string, org = ours): Promise<WebhookSubscription> =>
  kubectlJson<WebhookSubscription>(['get', 'webhooksubscription', id, '-n', org.name]);
interface StoredSecret {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences: readonly { readonly uid: string }[];
  };
  readonly data: Readonly<Record<string, string>>;
}
const storedSecret = (id: string): Promise<StoredSecret> =>
  kubectlJson<StoredSecret>(['get', 'secret', `webhooksubscription-${id}`, '-n', ours.name]);
const inClear = (value: string | undefined): string => Buffer.from(value ?? '', 'base64').toString();

/** Returns the fields that every failure of this group has. */
const failure = (status: number, type: string, path: string, rest: object = {}) => ({
  status,
  type,
  message: expect.any(String),
  details: {},
  timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  path,
  trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
  ...rest,
});
const invalid = (path: string, details: object) => failure(400, 'VALIDATION_ERROR', path, { details });

describe('webhook subscriptions', () => {
  it('are made as resources, and come back as they were sent, with the secret once', async () => {
    const { body: agent } = await ours.call('POST', '/v2/ai-agents', anAgentRequest('Desk'));
    const sent = {
      name: 'সাপোর্ট',
      url: 'https://hooks.example.com/a?b=c',
      active: true,
      events: ['CallHandler.CallEnded', 'Webhook.Test'],
      description: 'Opens tickets',
      agent_ids: [agent.ai_agent_id],
      request_timeout_ms: 2500,
      retry_policy: { retryStrategy: 'EXPONENTIAL_BACKOFF', maxRetryAttempts: 0, maxRetryDelayMs: 3_600_000 },
    };
    const made = await ours.call('POST', `${one}/`, { ...sent, enable_signed_webhooks: true, headers: { 'X-Tenant': 'a' } });
    const { secret, headers, ...rest } = made.body;
    expect([made.status, rest]).toEqual([
      201,
      {
        ...sent,
        id: expect.stringMatching(/^[a-z0-9-]+-[a-z2-7]{8}$/),
        organization_id: ours.name,
        scope: 'AGENT',
        created_user_id: 'user-1',
        signing_enabled: true,
        state: notLookedAt,
        created_at: expect.any(String),
        updated_at: made.body.created_at,
      },
    ]);
    expect(headers).toEqual({ 'X-Tenant': 'a' });
    expect(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')).toHaveLength(32);
    expect(made.headers.get('cache-control')).toBe('no-store');
    const path = `${one}/${rest.id}`;
    for (const slash of ['', '/']) {
      const read = await ours.call('GET', path + slash);
      expect([read.status, read.body, read.headers.get('etag')]).toEqual([200, { ...rest, headers }, made.headers.get('etag')]);
    }
    const { body: list } = await ours.call('GET', `${all}?page_size=100`);
    expect(list.data).toContainEqual(rest);
    const { spec, metadata } = await stored(rest.id);
    expect(spec).toMatchObject({
      displayName: sent.name,
      signing: { mode: 'Generated' },
      requestTimeout: '2500ms',
      retryPolicy: { strategy: 'ExponentialBackoff', maxRetries: 0, delay: '3600s' },
      scope: { type: 'AgentRefs', agentRefs: [{ name: agent.ai_agent_id }] },
      headers: [{ name: 'X-Tenant', valueFrom: { secretKeyRef: { name: `webhooksubscription-${rest.id}` } } }],
    });
    const kept = await storedSecret(rest.id);
    expect(inClear(kept.data['current'])).toBe(secret);
    expect(kept.metadata.labels).toEqual({ 'parley.dev/companion-of': 'webhooksubscription' });
    expect(kept.metadata.ownerReferences.map(({ uid }) => uid)).toEqual([metadata.uid]);
  });

  it('are unsigned without a secret, for everything of the organisation and active where nothing else is said', async () => {
    const { id, created_at, updated_at, ...rest } = await make();
    expect(rest).toEqual({
      organization_id: ours.name,
      scope: 'ORGANIZATION',
      created_user_id: 'user-1',
      name: `Hook ${count}`,
      url: 'https://hooks.example.com/parley',
      events: [],
      active: true,
      request_timeout_ms: 1000,
      retry_policy: { retryStrategy: 'FIXED_DELAY', maxRetryAttempts: 3, maxRetryDelayMs: 10_000 },
      signing_enabled: false,
      state: notLookedAt,
    });
    expect((await stored(id)).spec.signing).toEqual({ mode: 'None' });
    expect(await kubectl(['get', 'secret', `webhooksubscription-${id}`, '-n', ours.name, '--ignore-not-found'])).toBe('');
    expect([created_at, updated_at]).toEqual([expect.any(String), created_at]);
  });

  it.each([
    ['no enable_signed_webhooks', { enable_signed_webhooks: undefined }, { enable_signed_webhooks: 'Field required' }],
    ['a blank name', { name: ' \u00a0 ' }, { name: 'String should have at least 1 character' }],
    ['another scheme', { url: 'ftp://example.com' }, { url: expect.stringContaining('^https?://.*') }],
    ['no host', { url: 'https://' }, { url: expect.any(String) }],
    ['credentials', { url: 'https://a:b@example.com' }, { url: expect.stringContaining('credentials') }],
    ['a forbidden address', { url: 'http://169.254.169.254/latest' }, { url: expect.stringContaining('169.254.169.254') }],
    ['the same in other words', { url: 'http://0xa9fea9fe/' }, { url: expect.stringContaining('public internet') }],
    ['a mapped one', { url: 'http://[::ffff:10.0.0.1]/' }, { url: expect.stringContaining('public internet') }],
    ['a forbidden port', { url: 'http://example.com:22/' }, { url: expect.stringContaining('port 22') }],
    [
      'a character that nothing can store',
      { name: 'a\0', description: 'b\0' },
      { name: expect.any(String), description: expect.any(String) },
    ],
    ['a long description', { description: 'x'.repeat(1501) }, { description: expect.stringContaining('1500') }],
    [
      'both scopes',
      { agent_ids: ['a'], workspace_ids: ['w'] },
      { agent_ids: expect.any(String), workspace_ids: expect.any(String), 'agent_ids.0': expect.any(String) },
    ],
    ['a scope without its list', { scope: 'AGENT' }, { scope: expect.stringContaining('agent_ids') }],
    ['unknown agents', { agent_ids: ['agent-x', 'UPPER'] }, { 'agent_ids.0': expect.any(String), 'agent_ids.1': expect.any(String) }],
    [
      '101 workspaces',
      { workspace_ids: Array.from({ length: 101 }, (_, n) => `w${n}`) },
      { workspace_ids: expect.stringContaining('100') },
    ],
    ['an unknown event', { events: ['Webhook.Test', 'webhook.test'] }, { events: expect.stringContaining('"webhook.test"') }],
    ['an event twice', { events: ['Webhook.Test', 'Webhook.Test'] }, { 'events.1': expect.any(String) }],
    [
      '33 headers',
      { headers: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`X-${n}`, 'x'])) },
      { headers: expect.stringContaining('32') },
    ],
    ['one header in two spellings', { headers: { 'X-A': 'a', 'x-a': 'b' } }, { 'headers.x-a': expect.any(String) }],
    ['a short time', { request_timeout_ms: 99 }, { request_timeout_ms: expect.stringContaining('100') }],
    ['a long time', { request_timeout_ms: 30_001 }, { request_timeout_ms: expect.stringContaining('30000') }],
    [
      'retries out of bounds',
      { retry_policy: { retryStrategy: 'NEVER', maxRetryAttempts: 11, maxRetryDelayMs: 3_600_001 } },
      {
        'retry_policy.retryStrategy': expect.stringContaining('EXPONENTIAL_BACKOFF'),
        'retry_policy.maxRetryAttempts': expect.stringContaining('10'),
        'retry_policy.maxRetryDelayMs': expect.stringContaining('3600000'),
      },
    ],
  ])('are refused with %s, by field', async (_, rest, details) => {
    const answer = await ours.call('POST', one, aBody(rest));
    expect([answer.status, answer.body]).toEqual([400, invalid(one, details)]);
  });

  it('list the known events when a request names another', async () => {
    const { body } = await ours.call('POST', one, aBody({ events: ['Absent.Event'] }));
    for (const name of ['Absent.Event', ...eventNames]) expect(body.details.events).toContain(name);
    const types = await ours.call('GET', '/v1/public/webhook/event-types');
    expect(types.body.data.map(({ name }: { name: string }) => name)).toEqual(eventNames);
  });

  it('have names that differ within the organisation, in any order of requests', async () => {
    const name = 'The same';
    const answers = await Promise.all(Array.from({ length: 8 }, () => ours.call('POST', one, aBody({ name }))));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toEqual(failure(409, 'CONFLICT', one));
    const other = await make();
    expect((await ours.call('PATCH', `${one}/${other.id}`, { name })).status).toBe(409);
    // Spaces around a name make no other name.
    expect((await ours.call('PATCH', `${one}/${other.id}`, { name: ` ${name}\t` })).status).toBe(409);
    expect((await ours.call('POST', one, aBody({ name: `  ${name} ` }))).status).toBe(409);
    expect((await make({ name: '  Padded ' })).name).toBe('Padded');
    expect((await ours.call('POST', one, aBody({ name: ' \u00a0 ' }))).status).toBe(400);
    expect((await ours.call('PATCH', `${one}/${other.id}`, { name: other.name })).status).toBe(200);
    expect((await make({ name }, await organization(facade))).name).toBe(name);
    await kubectl(['create', '-f', '-'], aWebhookSubscription('by-hand', ours.name));
    await eventually(async () => expect((await ours.call('POST', one, aBody({ name: 'by-hand' }))).status).toBe(409));
  });

  it('that are renamed at the same moment: one of them gets the name, the others keep all that they have', async () => {
    const before = await Promise.all(Array.from({ length: 4 }, () => make()));
    const change = { name: 'Contested', description: 'renamed' };
    const answers = await Promise.all(before.map(({ id }) => ours.call('PATCH', `${one}/${id}`, change)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
    for (const [index, { id, name, description }] of before.entries()) {
      const { body } = await ours.call('GET', `${one}/${id}`);
      expect([body.name, body.description]).toEqual(answers[index]?.status === 200 ? ['Contested', 'renamed'] : [name, description]);
    }
  });

  it.each(['PUT', 'PATCH'])('take a %s: absent keeps, null brings the default back', async (method) => {
    const whole = await make({
      description: 'd',
      events: ['Webhook.Test'],
      headers: { 'X-Tenant': 'a', Authorization: 'secret' },
      workspace_ids: ['w', 'v'],
      request_timeout_ms: 5000,
      retry_policy: { retryStrategy: 'EXPONENTIAL_BACKOFF', maxRetryAttempts: 2, maxRetryDelayMs: 1 },
    });
    const path = `${one}/${whole.id}`;
    const same = await ours.call(method, path, whole);
    expect([same.status, same.body]).toEqual([200, whole]);
    const nothing = await ours.call(method, path, {});
    expect([nothing.status, nothing.body]).toEqual([200, whole]);
    const changed = await ours.call(method, path, {
      url: 'https://hooks.example.com/else',
      retry_policy: { maxRetryAttempts: 4 },
      active: false,
    });
    expect(changed.body).toEqual({
      ...whole,
      url: 'https://hooks.example.com/else',
      active: false,
      retry_policy: { ...whole.retry_policy, maxRetryAttempts: 4 },
      updated_at: expect.any(String),
    });
    const { body: agent } = await ours.call('POST', '/v2/ai-agents', anAgentRequest('Scope'));
    const moved = await ours.call(method, path, { agent_ids: [agent.ai_agent_id], events: ['*'] });
    expect(moved.body).toMatchObject({ scope: 'AGENT', agent_ids: [agent.ai_agent_id], events: ['*'] });
    expect(moved.body).not.toHaveProperty('workspace_ids');
    const plain = await ours.call(method, path, {
      description: null,
      events: null,
      headers: null,
      agent_ids: null,
      request_timeout_ms: null,
      retry_policy: null,
      active: null,
    });
    const { description: _, headers: __, workspace_ids: ___, ...rest } = whole;
    expect(plain.body).toEqual({
      ...rest,
      scope: 'ORGANIZATION',
      url: 'https://hooks.example.com/else',
      events: [],
      request_timeout_ms: 1000,
      retry_policy: { retryStrategy: 'FIXED_DELAY', maxRetryAttempts: 3, maxRetryDelayMs: 10_000 },
      updated_at: expect.any(String),
    });
    expect((await ours.call('GET', path)).body).toEqual(plain.body);
    expect((await ours.call(method, path, { name: null, url: 'gopher://x', events: 'all' })).body).toEqual(
      invalid(path, { name: expect.any(String), url: expect.any(String), events: expect.any(String) }),
    );
  });

  it('heed If-Match, dry_run and the ownership of others', async () => {
    const { id, name } = await make();
    const path = `${one}/${id}`;
    const stale = { headers: { 'if-match': '"1"' } };
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const answer = await ours.call(method, path, method === 'DELETE' ? undefined : { active: false }, stale);
      expect([answer.status, answer.body]).toEqual([412, failure(412, 'PRECONDITION_FAILED', path)]);
    }
    expect((await ours.call('PATCH', `${path}?dry_run=true`, { name: 'Rehearsed' })).body.name).toBe('Rehearsed');
    expect((await ours.call('DELETE', `${path}?dry_run=true`)).body.message).toContain('would be');
    expect((await ours.call('GET', path)).body.name).toBe(name);
    const dry = await ours.call('POST', `${one}?dry_run=true`, aBody({ enable_signed_webhooks: true, headers: { A: 'b' } }));
    expect([dry.status, dry.body.secret]).toEqual([201, undefined]);
    // A dry run masks what the real answer masks.
    const plain = { headers: { 'X-Plain': 'v', Authorization: 'secret' } };
    const rehearsed = await ours.call('PATCH', `${path}?dry_run=true`, plain);
    const real = await ours.call('PATCH', path, plain);
    expect([rehearsed.body.headers, real.body.headers]).toEqual(
      Array.from({ length: 2 }, () => ({ 'X-Plain': 'v', Authorization: '********' })),
    );
    const [a, b, c] = ['Webhook.Test', 'CallHandler.CallEnded', 'CallHandler.CallStarted'];
    for (const events of [
      [a, b],
      [b, a, c],
      [c, b],
    ])
      expect((await ours.call('PATCH', path, { events })).body.events).toEqual(events);
    for (const [tag, status] of [
      ['*', 412],
      ['"1"', 200],
    ] as const)
      expect((await ours.call('PATCH', path, { active: true }, { headers: { 'if-none-match': tag } })).status).toBe(status);
    expect([dry.body.id, dry.body.state.reason]).toEqual(['', 'DryRun']);

    await kubectl(
      ['apply', '--server-side', '--field-manager=gitops', '-f', '-'],
      aWebhookSubscription('gitops', ours.name, { suspend: true, signing: { mode: 'Generated' } }),
    );
    const owned = `${one}/gitops`;
    const refused = await ours.call('PATCH', owned, { url: 'https://example.com/x', description: 'd' });
    expect([refused.status, refused.body]).toEqual([
      409,
      failure(409, 'CONFLICT', owned, { details: { conflicts: [{ field: 'url', manager: 'gitops' }] } }),
    ]);
    expect((await ours.call('GET', owned)).body).not.toHaveProperty('description');
    expect((await ours.call('PATCH', owned, { description: 'd' })).status).toBe(200);
    const resumed = await ours.call('PATCH', owned, { active: true });
    expect(resumed.body.details.conflicts).toEqual([{ field: 'active', manager: 'gitops' }]);
    const unsigned = await ours.call('PATCH', owned, { enable_signed_webhooks: false });
    expect(unsigned.body.details.conflicts).toEqual([{ field: 'enable_signed_webhooks', manager: 'gitops' }]);
    expect((await ours.call('PATCH', `${owned}?force=true`, { url: 'https://example.com/x', active: true })).body).toMatchObject({
      url: 'https://example.com/x',
      active: true,
    });
  });

  it('are deleted with their Secret, and gone from the answer on', async () => {
    const { id } = await make({ enable_signed_webhooks: true });
    const path = `${one}/${id}`;
    expect((await ours.call('DELETE', path)).body).toEqual({ data: {}, message: 'The webhook subscription was deleted' });
    for (const [method, address] of [
      ['GET', path],
      ['DELETE', path],
      ['POST', `${path}/test`],
      ['POST', `${path}/rotate-secret`],
      ['GET', `${path}/deliveries`],
    ] as const)
      expect((await ours.call(method, address)).status, `${method} ${address}`).toBe(404);
    expect((await ours.call('GET', `${all}?page_size=100`)).body.data.map((each: { id: string }) => each.id)).not.toContain(id);
  });
});

describe('the signing secret', () => {
  it.each<[string, (request: KubeRequest) => boolean]>([
    ['its Secret', ({ path }) => path.includes('/secrets')],
    ['the subscription', ({ path }) => path.includes('/webhooksubscriptions/')],
  ])('is what the answer says, also where another replica is about to write %s', async (_, isHeld) => {
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const replica = await startFacade({
      database: facade.database,
      wrap: (transport) => ({
        server: transport.server,
        async request<T>(request: KubeRequest): Promise<T> {
          if (request.method !== 'GET' && request.query?.['dryRun'] === undefined && isHeld(request)) {
            reached.resolve();
            await released.promise;
          }
          return transport.request<T>(request);
        },
        stream: (request) => transport.stream(request),
        close: () => transport.close(),
      }),
    });
    try {
      const { id } = await make({ headers: { 'X-Tenant': 'a' } });
      const options = { body: { enable_signed_webhooks: true }, key: ours.key };
      const late = replica.call('PATCH', `${one}/${id}`, options);
      await reached.promise;
      const { body } = await facade.call('PATCH', `${one}/${id}`, options);
      released.resolve();
      const { status, body: answer } = await late;
      expect([status, answer.signing_enabled, answer.secret]).toEqual([200, true, undefined]);
      expect(inClear((await storedSecret(id)).data['current'])).toBe(body.secret);
    } finally {
      released.resolve();
      await replica.close();
    }
  });

  it('is answered once, and signs, however many requests on two replicas switch signing on', async () => {
    const replica = await startFacade({ database: facade.database });
    try {
      for (let round = 0; round < 8; round += 1) {
        const { id } = await make(round % 2 ? { headers: { 'X-Tenant': 'a' } } : {});
        const options = { body: { enable_signed_webhooks: true }, key: ours.key };
        const answers = await Promise.all(
          Array.from({ length: 6 }, (__, n) => (n % 2 ? facade : replica).call('PATCH', `${one}/${id}`, options)),
        );
        expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
        expect(answers.flatMap(({ body }) => body.secret ?? [])).toEqual([inClear((await storedSecret(id)).data['current'])]);
      }
    } finally {
      await replica.close();
    }
  });

  it('is switched on later and answered once, and off again', async () => {
    const made = await make({ headers: { 'X-Tenant': 'a' } });
    const path = `${one}/${made.id}`;
    expect((await ours.call('PATCH', path, { enable_signed_webhooks: false })).body).toEqual(made);
    const on = await ours.call('PATCH', path, { enable_signed_webhooks: true });
    expect([on.status, on.body.signing_enabled, inClear((await storedSecret(made.id)).data['current'])]).toEqual([
      200,
      true,
      on.body.secret,
    ]);
    const again = await ours.call('PUT', path, { enable_signed_webhooks: true, name: made.name });
    expect(again.body).not.toHaveProperty('secret');
    expect(inClear((await storedSecret(made.id)).data['current'])).toBe(on.body.secret);
    expect((await ours.call('POST', `${path}/rotate-secret`, {})).status).toBe(200);
    const off = await ours.call('PATCH', path, { enable_signed_webhooks: false });
    expect(off.body).toEqual({ ...made, updated_at: expect.any(String) });
    expect(Object.keys((await storedSecret(made.id)).data)).toEqual([expect.stringMatching(/^headers\.x-tenant-/)]);
    const rotate = await ours.call('POST', `${path}/rotate-secret`, {});
    expect([rotate.status, rotate.body]).toEqual([409, failure(409, 'CONFLICT', `${path}/rotate-secret`)]);
  });

  it('is rotated: the former one signs along for a day, an hour, or not at all, and of former ones there are four at most', async () => {
    const { id, secret: first } = await make({ enable_signed_webhooks: true });
    const path = `${one}/${id}/rotate-secret`;
    // The request has no body at all.
    const day = await ours.call('POST', path);
    expect([day.status, day.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(day.body.secret).toMatch(/^whsec_/);
    expect(day.body.secret).not.toBe(first);
    const lasts = Date.parse(day.body.previous_secret_expires_at) - Date.parse(day.headers.get('date')!);
    expect(Math.round(lasts / 3_600_000)).toBe(24);
    const hour = await ours.call('POST', path, { grace_period_hours: 1 });
    const kept = await storedSecret(id);
    expect(['current', 'previous-1', 'previous-2'].map((key) => inClear(kept.data[key]))).toEqual([
      hour.body.secret,
      day.body.secret,
      first,
    ]);
    expect(JSON.parse(kept.metadata.annotations?.[wellKnown.signingExpiry] ?? '')).toEqual({
      'previous-1': hour.body.previous_secret_expires_at,
      'previous-2': day.body.previous_secret_expires_at,
    });
    const atOnce = await Promise.all(Array.from({ length: 6 }, () => ours.call('POST', path, {})));
    // A second rotation would end the promise that was made for the first secret.
    expect(atOnce.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 409, 409, 409, 409]);
    expect(atOnce.find(({ status }) => status === 409)?.body.message).toContain(`wait until ${hour.body.previous_secret_expires_at}`);
    const many = await storedSecret(id);
    expect(Object.keys(many.data).toSorted()).toEqual(['current', 'previous-1', 'previous-2', 'previous-3', 'previous-4']);
    const secrets = atOnce.flatMap(({ status, body }) => (status === 200 ? [body.secret as string] : []));
    expect(new Set(secrets).size).toBe(2);
    expect(secrets).toContain(inClear(many.data['current']));
    const misnamed = await ours.call('POST', path, { grace_period: 0 });
    expect([misnamed.status, misnamed.body.details]).toEqual([400, { grace_period: expect.any(String) }]);
    const leaked = await ours.call('POST', path, { grace_period_hours: 0 });
    expect(leaked.body.previous_secret_expires_at).toBeNull();
    const alone = await storedSecret(id);
    expect(Object.entries(alone.data).map(([key, value]) => [key, inClear(value)])).toEqual([['current', leaked.body.secret]]);
    expect(alone.metadata.annotations?.[wellKnown.signingExpiry]).toBeUndefined();
    for (const hours of [-1, 169, 'x'])
      expect((await ours.call('POST', path, { grace_period_hours: hours })).body).toEqual(
        invalid(path, { grace_period_hours: expect.any(String) }),
      );
  });

  it('of a person is theirs to rotate', async () => {
    await kubectl(
      ['create', '-f', '-'],
      aWebhookSubscription('own-key', ours.name, { signing: { mode: 'Secret', secretRef: { name: 'mine' } } }),
    );
    const path = `${one}/own-key`;
    await eventually(async () => expect((await ours.call('GET', path)).status).toBe(200));
    const answer = await ours.call('POST', `${path}/rotate-secret`, {});
    expect([answer.status, answer.body.message]).toEqual([409, expect.stringContaining('mine')]);
  });

  it('is never answered again, nor logged', async () => {
    const token = canary();
    const made = await make({ enable_signed_webhooks: true, headers: { Authorization: token, 'X-Plain': `plain-${token}` } });
    const path = `${one}/${made.id}`;
    const rotated = await ours.call('POST', `${path}/rotate-secret`, {});
    const answers = [
      await ours.call('GET', path),
      await ours.call('GET', `${all}?page_size=100`),
      await ours.call('PATCH', path, { description: 'x' }),
      await ours.call('PUT', path, { name: made.name, enable_signed_webhooks: true }),
      await ours.call('POST', one, aBody({ name: made.name })),
      await ours.call('PATCH', path, { headers: { Authorization: `${token}\r\nx: y` } }),
      await ours.call('DELETE', `${path}?dry_run=true`),
    ];
    const texts = [...answers.map(({ text }) => text), facade.log(), JSON.stringify((await stored(made.id)).spec)];
    for (const text of texts)
      for (const secret of [made.secret, rotated.body.secret, made.secret.slice(6), rotated.body.secret.slice(6)])
        expect(text.includes(secret as string)).toBe(false);
    // A header's value is shown only to requests by id, and only where its name suggests no credential.
    const shown = texts.map((text) => [text.includes(`"plain-${token}"`), text.replaceAll(`plain-${token}`, '').includes(token)]);
    expect(shown).toEqual([
      [true, false],
      [false, false],
      [true, false],
      [true, false],
      [false, false],
      [false, false],
      [false, false],
      [false, false],
      [false, false],
    ]);
  });
});

describe('headers', () => {
  it('that suggest credentials are masked unless the key may read secrets; the mask sent back changes nothing', async () => {
    const made = await make({ headers: { 'X-Tenant': 'a', 'X-Api-Key': 'hush' } });
    expect(made.headers).toEqual({ 'X-Tenant': 'a', 'X-Api-Key': '********' });
    const path = `${one}/${made.id}`;
    const spy = await ours.keyWith('webhooks:read', 'secrets:read');
    const seen = async () => (await facade.call('GET', path, { key: spy })).body.headers;
    expect(await seen()).toEqual({ 'X-Tenant': 'a', 'X-Api-Key': 'hush' });
    const before = (await storedSecret(made.id)).data;
    const kept = await ours.call('PATCH', path, { headers: made.headers });
    expect([kept.status, kept.body]).toEqual([200, made]);
    expect((await storedSecret(made.id)).data).toEqual(before);
    const changed = await ours.call('PATCH', path, { headers: { ...made.headers, 'X-Tenant': 'b', 'X-New': 'c' } });
    expect(changed.body.headers).toEqual({ 'X-Tenant': 'b', 'X-Api-Key': '********', 'X-New': 'c' });
    expect(await seen()).toEqual({ 'X-Tenant': 'b', 'X-Api-Key': 'hush', 'X-New': 'c' });
    expect(Object.keys((await storedSecret(made.id)).data)).toHaveLength(3);
    expect((await ours.call('PATCH', path, { headers: { Cookie: '********' } })).body).toEqual(
      invalid(path, { 'headers.Cookie': expect.stringContaining('none is stored') }),
    );
    expect((await ours.call('PATCH', path, { headers: {} })).body).not.toHaveProperty('headers');
    expect((await storedSecret(made.id)).data ?? {}).toEqual({});
  });

  it('of a Secret that a person keeps are masked', async () => {
    await kubectl(['create', 'secret', 'generic', 'kept', '-n', ours.name, '--from-literal=tenant=t']);
    const valueFrom = { secretKeyRef: { name: 'kept', key: 'tenant' } };
    const headers = [
      { name: 'X-Tenant', valueFrom },
      { name: 'X-Plain', value: 'p' },
    ];
    await kubectl(['create', '-f', '-'], aWebhookSubscription('with-headers', ours.name, { headers }));
    await eventually(async () =>
      expect((await ours.call('GET', `${one}/with-headers`)).body.headers).toEqual({ 'X-Tenant': '********', 'X-Plain': 'p' }),
    );
  });

  it('that name the signing secret never show it', async () => {
    const { id, secret } = await make({ enable_signed_webhooks: true, headers: { 'X-Tenant': 'a' } });
    const ref = { name: `webhooksubscription-${id}`, key: 'current' };
    const patch = { spec: { headers: [{ name: 'X-Tenant', valueFrom: { secretKeyRef: ref } }] } };
    await kubectl(['patch', 'webhooksubscription', id, '-n', ours.name, '--type=merge', '-p', JSON.stringify(patch)]);
    const spy = await ours.keyWith('webhooks:read', 'secrets:read');
    await eventually(async () => {
      const { body, text } = await facade.call('GET', `${one}/${id}`, { key: spy });
      expect([body.headers, text.includes(secret as string)]).toEqual([{ 'X-Tenant': '********' }, false]);
    });
  });

  it.each([
    'Host',
    'content-length',
    'Content-Type',
    'TRANSFER-ENCODING',
    'Connection',
    'Keep-Alive',
    'te',
    'Trailer',
    'Upgrade',
    'Expect',
    'User-Agent',
    'Proxy-Authorization',
    'proxy-x',
    'Webhook-Id',
    'WEBHOOK-signature',
    'with space',
    'naïve',
    'a\r\nb',
    'a\0b',
    '',
    'a:b',
  ])('named %j are refused', async (name) => {
    const answer = await ours.call('POST', one, aBody({ headers: { [name]: 'x' } }));
    expect([answer.status, answer.body]).toEqual([400, invalid(one, { [`headers.${name}`]: expect.any(String) })]);
  });

  it.each(['a\r\nInjected: yes', 'a\nb', 'a\0', 'é', 'ключ', ' a', 'a ', '\u007f'])('of the value %j are refused', async (value) => {
    const answer = await ours.call('POST', one, aBody({ headers: { 'X-Tenant': value } }));
    expect([answer.status, answer.body]).toEqual([400, invalid(one, { 'headers.X-Tenant': expect.any(String) })]);
    expect(answer.body.message).not.toContain('Injected');
  });
});
