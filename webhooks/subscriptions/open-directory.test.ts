import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { agentKind, webhookSubscriptionKind, wellKnown } from '../../crds/index.ts';
import { createTransport, ResourceClient, type KubeObject, type Stored, type Transport } from '../../kube/index.ts';
import { startApiServerDouble, type ApiServerDouble } from '../../test/support/api-server-double/index.ts';
import { createLogger } from '../../platform/logging.ts';
import { eventually } from '../../test/support/eventually.ts';
import { generateSigningKey } from '../signing/signing-keys.ts';
import type { EndpointChange, EndpointDirectory } from './directory.ts';
import type { Endpoint } from './endpoint.ts';
import { createEndpointDirectory } from './open-directory.ts';

const secretDescriptor = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true } as const;

interface Any extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
}

let double: ApiServerDouble;
let transport: Transport;
let directory: EndpointDirectory;
const lines: string[] = [];

beforeEach(async () => {
  lines.length = 0;
  double = await startApiServerDouble({
    resources: [{ descriptor: webhookSubscriptionKind.descriptor }, { descriptor: agentKind.descriptor }],
    namespaces: ['acme', 'other'],
  });
  transport = createTransport({ kubeConfig: double.kubeConfig });
  const logger = createLogger({ role: 'test', level: 'debug', destination: { write: (line: string) => void lines.push(line) } });
  directory = createEndpointDirectory({ transport, logger });
});
afterEach(async () => {
  await directory.stop();
  await transport.close();
  await double.stop();
});

const client = (descriptor: ConstructorParameters<typeof ResourceClient>[0]['descriptor']): ResourceClient<Any> =>
  new ResourceClient<Any>({ transport, descriptor, fieldManager: 'test' });
const subscriptions = (): ResourceClient<Any> => client(webhookSubscriptionKind.descriptor);
const secrets = (): ResourceClient<Any> => client(secretDescriptor);

const subscription = (name: string, spec: Readonly<Record<string, unknown>> = {}, namespace = 'acme'): Any => ({
  apiVersion: 'parley.dev/v1alpha1',
  kind: 'WebhookSubscription',
  metadata: { namespace, name },
  spec: {
    url: `https://hooks.example.com/${name}`,
    active: true,
    requestTimeout: '1s',
    retryPolicy: { strategy: 'FixedDelay', maxAttempts: 3, maxDelay: '10s' },
    ...spec,
  },
});
const agent = (name: string, spec: Readonly<Record<string, unknown>> = {}): Any => ({
  apiVersion: 'parley.dev/v1alpha1',
  kind: 'Agent',
  metadata: { namespace: 'acme', name },
  spec,
});
const secret = (name: string, values: Readonly<Record<string, string>>, annotations: Readonly<Record<string, string>> = {}): Any => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'acme', name, annotations },
  data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
});

const began = async (): Promise<void> => {
  directory.start();
  await directory.synced(AbortSignal.timeout(30_000));
};
const named = (name: string): Endpoint => {
  const found = directory.list('acme').find((each) => each.name === name);
  if (found === undefined) throw new Error(`no endpoint ${name}`);
  return found;
};
const gets = (): number =>
  double.requests.filter(({ method, path, watch }) => method === 'GET' && !watch && path.includes('/secrets/')).length;
const hex = (keys: readonly { export(): Buffer }[]): readonly string[] => keys.map((key) => `whsec_${key.export().toString('base64')}`);

describe('what is known of endpoints', () => {
  it('is what the spec says', async () => {
    const spec = {
      events: ['CallHandler.CallEnded'],
      requestTimeout: '1m500ms',
      retryPolicy: { strategy: 'ExponentialBackoff', maxAttempts: 10, maxDelay: '1h' },
      headers: [
        { name: 'X-One', value: 'plain' },
        { name: 'X-Two', valueFrom: { secretKeyRef: { name: 'values', key: 'two' } } },
      ],
      signing: { secretRef: { name: 'own' } },
      scope: { agentRefs: [{ name: 'anna' }] },
    };
    double.seed(webhookSubscriptionKind.descriptor, [
      subscription('full', spec),
      subscription('plain', { events: ['*'], signing: {} }),
      subscription('off', { active: false }),
      subscription('suspended', { suspend: true, scope: { workspaces: ['north'] } }),
    ]);
    double.seed(agentKind.descriptor, [agent('anna', { webhookURL: 'https://anna.example.com/' }), agent('bert')]);
    await began();
    expect(named('full')).toMatchObject({
      org: 'acme',
      kind: 'WebhookSubscription',
      url: 'https://hooks.example.com/full',
      events: ['CallHandler.CallEnded'],
      active: true,
      scope: { agents: ['anna'] },
      timeoutMs: 60_500,
      retry: { strategy: 'ExponentialBackoff', maxRetries: 10, maxDelayMs: 3_600_000 },
      signingSecret: 'own',
      headers: [
        { name: 'X-One', value: 'plain' },
        { name: 'X-Two', secret: { name: 'values', key: 'two' } },
      ],
    });
    expect(named('plain')).toMatchObject({ events: [], signingSecret: 'webhooksubscription-plain', timeoutMs: 1000, headers: [] });
    expect(named('plain')).not.toHaveProperty('scope');
    expect(named('off')).toMatchObject({ active: false });
    expect(named('off')).not.toHaveProperty('signingSecret');
    expect(named('suspended')).toMatchObject({ active: false, scope: { workspaces: ['north'] } });
    expect(named('anna')).toMatchObject({ kind: 'Agent', url: 'https://anna.example.com/', active: true, timeoutMs: 1000 });
    expect(directory.list('acme')).toHaveLength(5);
    expect(directory.list()).toHaveLength(5);
    expect(directory.list('other')).toEqual([]);
    expect(directory.byUid(named('full').uid)).toBe(named('full'));
    expect(directory.byUid('nobody')).toBeUndefined();
    expect(
      directory
        .matching({ org: 'acme', name: 'CallHandler.CallEnded', agent: 'anna' })
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['anna', 'full', 'off', 'plain']);
    expect(directory.matching({ org: 'acme', name: 'A.B', onlySubscription: named('full').uid })).toEqual([named('full')]);
    expect(directory.matching({ org: 'other', name: 'A.B', onlySubscription: named('full').uid })).toEqual([]);
  });

  it('follows every change, and tells of those that matter', async () => {
    await began();
    const changes: string[] = [];
    directory.onChange(({ endpoint, previous }: EndpointChange) => void changes.push(`${previous?.url ?? '-'} → ${endpoint?.url ?? '-'}`));
    const [one, two, none] = ['https://hooks.example.com/one', 'https://two.example.com/', '-'];
    const made = await subscriptions().create(subscription('one'));
    await directory.waitFor('acme', { subscriptions: made.metadata.resourceVersion });
    expect(directory.matching({ org: 'acme', name: 'A.B' })).toHaveLength(1);
    // A write of its status changes nothing about where events go.
    await subscriptions().applyStatus({ ...made, status: { lastSuccessAt: '2026-11-21T12:00:00Z' } } as Stored<Any>);
    await subscriptions().update({ ...(await subscriptions().get({ namespace: 'acme', name: 'one' })), spec: { ...made.spec, url: two } });
    await eventually(() => expect(directory.byUid(made.metadata.uid)?.url).toBe(two));
    await subscriptions().delete({ namespace: 'acme', name: 'one' });
    await eventually(() => expect(directory.byUid(made.metadata.uid)).toBeUndefined());
    expect(directory.list()).toEqual([]);
    expect(changes).toEqual([`${none} → ${one}`, `${one} → ${two}`, `${two} → ${none}`]);
  });

  it('leaves out what is being deleted, and what can not be read', async () => {
    const leaving = subscription('leaving');
    double.seed(webhookSubscriptionKind.descriptor, [
      { ...leaving, metadata: { ...leaving.metadata, finalizers: ['parley.dev/finalizer'] } },
      subscription('odd', { requestTimeout: 'soon' }),
    ]);
    await began();
    expect(directory.list().map(({ name }) => name)).toEqual(['leaving']);
    await subscriptions().delete({ namespace: 'acme', name: 'leaving' });
    await eventually(() => expect(directory.list()).toEqual([]));
    expect(lines.join('')).toContain('acme/odd');
  });

  it('is behind until it has seen what the watermark stands for', async () => {
    await began();
    expect(directory.behind('acme', {})).toBe(false);
    expect(directory.behind('acme', { subscriptions: '' })).toBe(false);
    const made = await subscriptions().create(subscription('one'));
    const watermark = { subscriptions: made.metadata.resourceVersion };
    await directory.waitFor('acme', watermark);
    expect(directory.behind('acme', watermark)).toBe(false);
    const later = { subscriptions: String(Number(made.metadata.resourceVersion) + 1) };
    expect(directory.behind('acme', later)).toBe(true);
    await expect(directory.waitFor('acme', later, AbortSignal.timeout(50))).rejects.toThrow(/timeout/);
  });

  it('is behind while nothing is known yet', () => {
    expect(directory.behind('acme', { subscriptions: '1' })).toBe(true);
  });
});

describe('credentials', () => {
  const [first, second, third] = [generateSigningKey(), generateSigningKey(), generateSigningKey()];

  it('are read once for each version, and follow a rotation', async () => {
    double.seed(secretDescriptor, [secret('webhooksubscription-one', { current: first, 'header-x': 'Bearer abc\n' })]);
    const headers = [
      { name: 'Authorization', valueFrom: { secretKeyRef: { name: 'webhooksubscription-one', key: 'header-x' } } },
      { name: 'X-Plain', value: 'yes' },
    ];
    double.seed(webhookSubscriptionKind.descriptor, [subscription('one', { signing: {}, headers })]);
    await began();
    for (let round = 0; round < 20; round += 1) {
      const { keys, headers: sent } = await directory.credentials(named('one'));
      expect(hex(keys)).toEqual([first]);
      expect(sent).toEqual({ Authorization: 'Bearer abc', 'X-Plain': 'yes' });
    }
    expect(gets()).toBeLessThan(3);
    const ends = new Date(Date.now() + 3_600_000).toISOString();
    const rotated = secret(
      'webhooksubscription-one',
      { current: second, 'previous-1': first, 'previous-2': third, 'header-x': 'Bearer def' },
      { [wellKnown.signingExpiry]: JSON.stringify({ 'previous-1': ends, 'previous-2': '2020-01-01T00:00:00Z' }) },
    );
    await eventually(() => expect(directory.behind('acme', { secrets: '1000000' })).toBe(true));
    const stored = await secrets().get({ namespace: 'acme', name: 'webhooksubscription-one' });
    const written = await secrets().update({
      ...rotated,
      metadata: { ...stored.metadata, annotations: rotated.metadata.annotations ?? {} },
    });
    await directory.waitFor('acme', { secrets: written.metadata.resourceVersion });
    const after = await directory.credentials(named('one'));
    expect(hex(after.keys)).toEqual([second, first]);
    expect(after.headers).toEqual({ Authorization: 'Bearer def', 'X-Plain': 'yes' });
  });

  it('of who needs none are there without asking', async () => {
    double.seed(webhookSubscriptionKind.descriptor, [subscription('one'), subscription('two', { headers: [{ name: 'a', value: 'b' }] })]);
    await began();
    expect(await directory.credentials(named('one'))).toEqual({ keys: [], headers: {} });
    expect(await directory.credentials(named('two'))).toEqual({ keys: [], headers: { a: 'b' } });
    expect(double.requests.filter(({ path }) => path.includes('/secrets'))).toEqual([]);
  });

  it.each([
    ['missing', undefined, /Secret acme\/own does not exist/],
    ['missing', { other: first }, /Secret acme\/own has no key "current"/],
    ['invalid', { current: 'hunter2' }, /key "current" of Secret acme\/own cannot sign/],
    ['missing', { current: first }, /Secret acme\/own has no key "token", which the header X-Token is read from/],
  ])('that are %s are an error that names them and no value: %#', async (reason, values, message) => {
    if (values !== undefined) double.seed(secretDescriptor, [secret('own', values)]);
    const headers = [{ name: 'X-Token', valueFrom: { secretKeyRef: { name: 'own', key: 'token' } } }];
    double.seed(webhookSubscriptionKind.descriptor, [subscription('one', { signing: { secretRef: { name: 'own' } }, headers })]);
    await began();
    const error: unknown = await directory.credentials(named('one')).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'DeliverySecretError', reason, message: expect.stringMatching(message) as string });
    expect((error as Error).message).not.toContain('hunter2');
  });

  it('come as soon as the Secret does', async () => {
    double.seed(webhookSubscriptionKind.descriptor, [subscription('one', { signing: {} })]);
    await began();
    await expect(directory.credentials(named('one'))).rejects.toMatchObject({ reason: 'missing' });
    const asked = gets();
    await Promise.allSettled(Array.from({ length: 50 }, () => directory.credentials(named('one'))));
    // One that isn't there is not asked for by everybody who needs it.
    expect(gets() - asked).toBeLessThan(5);
    await secrets().create(secret('webhooksubscription-one', { current: first }));
    await eventually(async () => expect(hex((await directory.credentials(named('one'))).keys)).toEqual([first]));
    await secrets().delete({ namespace: 'acme', name: 'webhooksubscription-one' });
    await eventually(() => expect(directory.credentials(named('one'))).rejects.toMatchObject({ reason: 'missing' }));
  });

  it('stay good while the API server is away', async () => {
    double.seed(secretDescriptor, [
      secret('webhooksubscription-one', { current: first }),
      secret('webhooksubscription-two', { current: second }),
    ]);
    double.seed(webhookSubscriptionKind.descriptor, [subscription('one', { signing: {} }), subscription('two', { signing: {} })]);
    await began();
    // They are read before anybody needs them.
    await eventually(() => expect(gets()).toBeGreaterThanOrEqual(2));
    await eventually(() => expect(directory.credentials(named('two'))).resolves.toMatchObject({ headers: {} }));
    double.faults.next({ kind: 'drop', times: 1_000_000 });
    double.resetConnections();
    expect(hex((await directory.credentials(named('one'))).keys)).toEqual([first]);
    expect(hex((await directory.credentials(named('two'))).keys)).toEqual([second]);
    expect(directory.matching({ org: 'acme', name: 'A.B' })).toHaveLength(2);
  });

  it('stay good for a while where a newer version is known of and can not be read', async () => {
    double.seed(secretDescriptor, [secret('webhooksubscription-one', { current: first })]);
    double.seed(webhookSubscriptionKind.descriptor, [subscription('one', { signing: {} })]);
    await began();
    expect(hex((await directory.credentials(named('one'))).keys)).toEqual([first]);
    await eventually(() => expect(directory.behind('acme', { secrets: '1000000' })).toBe(true));
    const stored = await secrets().get({ namespace: 'acme', name: 'webhooksubscription-one' });
    double.faults.next({ kind: 'status', code: 500, times: 1_000_000, match: { method: 'GET', path: /secrets\/webhook/ } });
    const written = await secrets().update({ ...secret('webhooksubscription-one', { current: second }), metadata: stored.metadata });
    await directory.waitFor('acme', { secrets: written.metadata.resourceVersion });
    for (let round = 0; round < 10; round += 1) expect(hex((await directory.credentials(named('one'))).keys)).toEqual([first]);
    double.faults.clear();
    await eventually(async () => expect(hex((await directory.credentials(named('one'))).keys)).toEqual([second]));
  });

  it('that were never read are an error while the API server is away', async () => {
    double.seed(webhookSubscriptionKind.descriptor, [subscription('one', { signing: {} })]);
    double.faults.next({ kind: 'drop', times: 1_000_000, match: { path: /secrets/ } });
    await began();
    await expect(directory.credentials(named('one'))).rejects.toMatchObject({ reason: 'unreachable' });
  });

  it('are kept without a watch where Secrets may be read but not listed', async () => {
    double.seed(secretDescriptor, [secret('webhooksubscription-one', { current: first })]);
    double.seed(webhookSubscriptionKind.descriptor, [subscription('one', { signing: {} })]);
    double.faults.next({
      kind: 'status',
      code: 403,
      reason: 'Forbidden',
      times: 1_000_000,
      match: { path: '/api/v1/namespaces/acme/secrets' },
    });
    await began();
    for (let round = 0; round < 10; round += 1) expect(hex((await directory.credentials(named('one'))).keys)).toEqual([first]);
    expect(gets()).toBeLessThan(3);
    expect(directory.behind('acme', { secrets: '1000000' })).toBe(false);
  });

  it('that may not be read are an error', async () => {
    double.seed(webhookSubscriptionKind.descriptor, [subscription('one', { signing: {} })]);
    double.faults.next({ kind: 'status', code: 403, reason: 'Forbidden', times: 1_000_000, match: { path: /secrets/ } });
    await began();
    await expect(directory.credentials(named('one'))).rejects.toMatchObject({ reason: 'forbidden' });
  });
});
