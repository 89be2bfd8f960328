/** Reads endpoints and their credentials from a real API server, also while it refuses or does not answer. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { agentKind, webhookSubscriptionKind, wellKnown } from '../../../crds/index.ts';
import { createTransport, ResourceClient, type KubeObject, type Stored, type Transport } from '../../../kube/index.ts';
import { createLogger } from '../../../platform/logging.ts';
import { generateSigningKey } from '../../../webhooks/signing/signing-keys.ts';
import type { EndpointChange, EndpointDirectory } from '../../../webhooks/subscriptions/directory.ts';
import type { Endpoint } from '../../../webhooks/subscriptions/endpoint.ts';
import { createEndpointDirectory } from '../../../webhooks/subscriptions/open-directory.ts';
import { anAgent, aWebhookSubscription, type TestManifest } from '../../support/builders.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { startFaultProxy } from '../../support/fault-proxy/fault-proxy.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';

const secretDescriptor = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true } as const;
/** A resourceVersion that no server of a test reaches. */
const far = '999999999999';

interface Any extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly stringData?: Readonly<Record<string, string>>;
}

const proxy = suiteFixture(async () => startFaultProxy((await controlPlane()).kubeconfig));
let transport: Transport;
let directory: EndpointDirectory;
let org: string;
const lines: string[] = [];

beforeEach(async () => {
  lines.length = 0;
  org = await organizationNamespace();
  transport = createTransport({ kubeConfig: proxy.kubeConfig });
  const logger = createLogger({ role: 'test', level: 'debug', destination: { write: (line: string) => void lines.push(line) } });
  directory = createEndpointDirectory({ transport, logger, namespace: org });
});
afterEach(async () => {
  proxy.faults.clear();
  proxy.requests.length = 0;
  await directory.stop();
  await transport.close();
});

const client = (descriptor: ConstructorParameters<typeof ResourceClient>[0]['descriptor']): ResourceClient<Any> =>
  new ResourceClient<Any>({ transport, descriptor, fieldManager: 'test' });
const subscriptions = (): ResourceClient<Any> => client(webhookSubscriptionKind.descriptor);
const secrets = (): ResourceClient<Any> => client(secretDescriptor);

const subscribe = (name: string, spec: TestManifest['spec'] = {}, finalizers: readonly string[] = []): Promise<Stored<Any>> => {
  const { metadata, ...subscription } = aWebhookSubscription(name, org, { url: `https://hooks.example.com/${name}`, ...spec });
  return subscriptions().create({ ...subscription, metadata: { ...metadata, finalizers } });
};
const apply = (agent: TestManifest): Promise<Stored<Any>> => client(agentKind.descriptor).apply(agent);
const putSecret = (name: string, stringData: Readonly<Record<string, string>>, annotations = {}): Promise<Stored<Any>> =>
  secrets().apply({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: org, name, annotations }, stringData });

const began = async (): Promise<void> => {
  directory.start();
  await directory.synced(AbortSignal.timeout(300_000));
};
const named = (name: string): Endpoint => {
  const found = directory.list(org).find((each) => each.name === name);
  if (found === undefined) throw new Error(`no endpoint ${name}`);
  return found;
};
const gets = (): number =>
  proxy.requests.filter(({ method, path, watch }) => method === 'GET' && !watch && path.includes('/secrets/')).length;
const hex = (keys: readonly { export(): Buffer }[]): readonly string[] => keys.map((key) => `whsec_${key.export().toString('base64')}`);

describe('what is known of endpoints', () => {
  it('is what the spec says', async () => {
    const spec = {
      events: ['CallHandler.CallEnded'],
      requestTimeout: '10s500ms',
      retryPolicy: { strategy: 'ExponentialBackoff', maxRetries: 10, delay: '1h' },
      headers: [
        { name: 'X-One', value: 'plain' },
        { name: 'X-Two', valueFrom: { secretKeyRef: { name: 'values', key: 'two' } } },
      ],
      signing: { mode: 'Secret', secretRef: { name: 'own' } },
      scope: { type: 'AgentRefs', agentRefs: [{ name: 'anna' }] },
    };
    await Promise.all([
      subscribe('full', spec),
      subscribe('plain', { events: ['*'], signing: { mode: 'Generated' } }),
      subscribe('off', { suspend: true }),
      subscribe('north', { scope: { type: 'Workspaces', workspaces: ['north'] } }),
      apply(anAgent('anna', org, { webhookURL: 'https://anna.example.com/' })),
      apply(anAgent('bert', org)),
    ]);
    await began();
    expect(named('full')).toMatchObject({
      org,
      kind: 'WebhookSubscription',
      url: 'https://hooks.example.com/full',
      events: ['CallHandler.CallEnded'],
      active: true,
      scope: { agents: ['anna'] },
      timeoutMs: 10_500,
      retry: { strategy: 'ExponentialBackoff', maxRetries: 10, delayMs: 3_600_000 },
      signingSecret: 'own',
      headers: [
        { name: 'X-One', value: 'plain' },
        { name: 'X-Two', secret: { name: 'values', key: 'two' } },
      ],
    });
    expect(named('plain')).toMatchObject({
      events: [],
      signingSecret: 'webhooksubscription-plain',
      timeoutMs: 1000,
      retry: { strategy: 'FixedDelay', maxRetries: 3, delayMs: 10_000 },
      headers: [],
    });
    expect(named('plain')).not.toHaveProperty('scope');
    expect(named('off')).toMatchObject({ active: false });
    expect(named('off')).not.toHaveProperty('signingSecret');
    expect(named('north')).toMatchObject({ active: true, scope: { workspaces: ['north'] } });
    expect(named('anna')).toMatchObject({ kind: 'Agent', url: 'https://anna.example.com/', active: true, timeoutMs: 1000 });
    expect(directory.list(org)).toHaveLength(5);
    expect(directory.list()).toHaveLength(5);
    expect(directory.list('other')).toEqual([]);
    expect(directory.byUid(named('full').uid)).toBe(named('full'));
    expect(directory.byUid('absent')).toBeUndefined();
    expect(
      directory
        .matching({ org, name: 'CallHandler.CallEnded', agent: 'anna' })
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['anna', 'full', 'off', 'plain']);
    expect(directory.matching({ org, name: 'A.B', onlySubscription: named('full').uid })).toEqual([named('full')]);
    // An event about an agent belongs to the workspace that the agent has now; one that names another belongs to that.
    const anna = anAgent('anna', org, { webhookURL: 'https://anna.example.com/' });
    await apply({ ...anna, metadata: { ...anna.metadata, labels: { 'parley.dev/workspace': 'north' } } });
    const about = { org, name: 'A.B', agent: 'anna' };
    const north = () => directory.matching(about).filter(({ name }) => name === 'north');
    await eventually(() => expect(north()).toHaveLength(1));
    expect(directory.matching({ ...about, workspace: 'south' })).not.toContainEqual(named('north'));
    expect(directory.matching({ org: 'other', name: 'A.B', onlySubscription: named('full').uid })).toEqual([]);
  });

  it('follows every change, and reports those that matter', async () => {
    await began();
    const changes: string[] = [];
    directory.onChange(({ endpoint, previous }: EndpointChange) => void changes.push(`${previous?.url ?? '-'} → ${endpoint?.url ?? '-'}`));
    const [one, two, none] = ['https://hooks.example.com/one', 'https://two.example.com/', '-'];
    const made = await subscribe('one');
    await directory.waitFor(org, { subscriptions: made.metadata.resourceVersion });
    expect(directory.matching({ org, name: 'A.B' })).toHaveLength(1);
    // A write of its status changes nothing about where events go.
    await subscriptions().applyStatus({ ...made, status: { lastSuccessAt: '2026-11-21T12:00:00Z' } } as Stored<Any>);
    const stored = await subscriptions().get({ namespace: org, name: 'one' });
    await subscriptions().update({ ...stored, spec: { ...made.spec, url: two, suspend: true, requestTimeout: '1500ms' } });
    await eventually(() => expect(directory.byUid(made.metadata.uid)).toMatchObject({ url: two, active: false, timeoutMs: 1500 }));
    await subscriptions().delete({ namespace: org, name: 'one' });
    await eventually(() => expect(directory.byUid(made.metadata.uid)).toBeUndefined());
    expect(directory.list()).toEqual([]);
    expect(changes).toEqual([`${none} → ${one}`, `${one} → ${two}`, `${two} → ${none}`]);
    const agent = await apply(anAgent('anna', org, { webhookURL: two }));
    await eventually(() => expect(directory.byUid(agent.metadata.uid)?.url).toBe(two));
    await apply(anAgent('anna', org));
    await eventually(() => expect(directory.byUid(agent.metadata.uid)).toBeUndefined());
  });

  it('leaves out what is being deleted', async () => {
    await subscribe('leaving', {}, ['parley.dev/finalizer']);
    await began();
    expect(directory.list().map(({ name }) => name)).toEqual(['leaving']);
    await subscriptions().delete({ namespace: org, name: 'leaving' });
    await eventually(() => expect(directory.list()).toEqual([]));
    await subscriptions().patchFinalizers(await subscriptions().get({ namespace: org, name: 'leaving' }), []);
  });

  it('may be old while agents do not arrive, though subscriptions do', async () => {
    await began();
    proxy.faults.next({ kind: 'status', code: 403, reason: 'Forbidden', times: 1_000_000, match: { path: /\/agents$/ } });
    proxy.breakWatches();
    await subscribe('orders');
    await eventually(() => named('orders'));
    expect(directory.connected).toBe(false);
    proxy.faults.clear();
    await eventually(() => expect(directory.connected).toBe(true));
  });

  it('is behind until it has seen what the watermark stands for', async () => {
    await began();
    expect(directory.behind(org, {})).toBe(false);
    expect(directory.behind(org, { subscriptions: '' })).toBe(false);
    const made = await subscribe('one');
    const watermark = { subscriptions: made.metadata.resourceVersion };
    await directory.waitFor(org, watermark);
    expect(directory.behind(org, watermark)).toBe(false);
    const later = { subscriptions: far };
    expect(directory.behind(org, later)).toBe(true);
    await expect(directory.waitFor(org, later, AbortSignal.timeout(50))).rejects.toThrow(/timeout/);
  });

  it('is behind while nothing is known yet', () => {
    expect(directory.behind(org, { subscriptions: '1' })).toBe(true);
  });
});

describe('credentials', () => {
  const [first, second, third] = [generateSigningKey(), generateSigningKey(), generateSigningKey()];

  it('are read once for each version, and follow a rotation', async () => {
    await putSecret('webhooksubscription-one', { current: first, 'header-x': 'Bearer abc\n' });
    const headers = [
      { name: 'Authorization', valueFrom: { secretKeyRef: { name: 'webhooksubscription-one', key: 'header-x' } } },
      { name: 'X-Plain', value: 'yes' },
    ];
    await subscribe('one', { signing: { mode: 'Generated' }, headers });
    await began();
    for (let round = 0; round < 20; round += 1) {
      const { keys, headers: sent } = await directory.credentials(named('one'));
      expect(hex(keys)).toEqual([first]);
      expect(sent).toEqual({ Authorization: 'Bearer abc', 'X-Plain': 'yes' });
    }
    expect(gets()).toBeLessThan(3);
    const ends = new Date(Date.now() + 3_600_000).toISOString();
    await eventually(() => expect(directory.behind(org, { secrets: far })).toBe(true));
    const written = await putSecret(
      'webhooksubscription-one',
      { current: second, 'previous-1': first, 'previous-2': third, 'header-x': 'Bearer def' },
      { [wellKnown.signingExpiry]: JSON.stringify({ 'previous-1': ends, 'previous-2': '2020-01-01T00:00:00Z' }) },
    );
    await directory.waitFor(org, { secrets: written.metadata.resourceVersion });
    const after = await directory.credentials(named('one'));
    expect(hex(after.keys)).toEqual([second, first]);
    expect(after.headers).toEqual({ Authorization: 'Bearer def', 'X-Plain': 'yes' });
  });

  it('of who needs none are there without asking', async () => {
    await subscribe('one');
    await subscribe('two', { headers: [{ name: 'a', value: 'b' }] });
    await began();
    expect(await directory.credentials(named('one'))).toEqual({ keys: [], headers: {} });
    expect(await directory.credentials(named('two'))).toEqual({ keys: [], headers: { a: 'b' } });
    expect(proxy.requests.filter(({ path }) => path.includes('/secrets'))).toEqual([]);
  });

  it.each([
    ['missing', undefined, /Secret \S+\/own does not exist/],
    ['missing', { other: first }, /Secret \S+\/own has no key "current"/],
    ['invalid', { current: 'hunter2' }, /key "current" of Secret \S+\/own cannot sign/],
    ['missing', { current: first }, /Secret \S+\/own has no key "token", which the header X-Token is read from/],
  ])('that are %s are an error that names them and no value: %#', async (reason, values, message) => {
    if (values !== undefined) await putSecret('own', values);
    const headers = [{ name: 'X-Token', valueFrom: { secretKeyRef: { name: 'own', key: 'token' } } }];
    await subscribe('one', { signing: { mode: 'Secret', secretRef: { name: 'own' } }, headers });
    await began();
    const error: unknown = await directory.credentials(named('one')).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'DeliverySecretError', reason, message: expect.stringMatching(message) as string });
    expect((error as Error).message).not.toContain('hunter2');
  });

  it('come as soon as the Secret does', async () => {
    await subscribe('one', { signing: { mode: 'Generated' } });
    await began();
    await expect(directory.credentials(named('one'))).rejects.toMatchObject({ reason: 'missing' });
    const asked = gets();
    await Promise.allSettled(Array.from({ length: 50 }, () => directory.credentials(named('one'))));
    // Those who need a Secret that isn't there share a few requests for it.
    expect(gets() - asked).toBeLessThan(5);
    await putSecret('webhooksubscription-one', { current: first });
    await eventually(async () => expect(hex((await directory.credentials(named('one'))).keys)).toEqual([first]));
    await secrets().delete({ namespace: org, name: 'webhooksubscription-one' });
    await eventually(() => expect(directory.credentials(named('one'))).rejects.toMatchObject({ reason: 'missing' }));
  });

  it('stay good while the API server is unavailable', async () => {
    await putSecret('webhooksubscription-one', { current: first });
    await putSecret('webhooksubscription-two', { current: second });
    await subscribe('one', { signing: { mode: 'Generated' } });
    await subscribe('two', { signing: { mode: 'Generated' } });
    await began();
    // They are read before anybody needs them.
    await eventually(() => expect(gets()).toBeGreaterThanOrEqual(2));
    await eventually(() => expect(directory.credentials(named('two'))).resolves.toMatchObject({ headers: {} }));
    proxy.faults.next({ kind: 'drop', times: 1_000_000 });
    proxy.breakWatches();
    expect(hex((await directory.credentials(named('one'))).keys)).toEqual([first]);
    expect(hex((await directory.credentials(named('two'))).keys)).toEqual([second]);
    expect(directory.matching({ org, name: 'A.B' })).toHaveLength(2);
  });

  it('stay good for a while where a newer version is known of and can not be read', async () => {
    await putSecret('webhooksubscription-one', { current: first });
    await subscribe('one', { signing: { mode: 'Generated' } });
    await began();
    expect(hex((await directory.credentials(named('one'))).keys)).toEqual([first]);
    await eventually(() => expect(directory.behind(org, { secrets: far })).toBe(true));
    proxy.faults.next({ kind: 'status', code: 500, times: 1_000_000, match: { method: 'GET', path: /secrets\/webhook/ } });
    const written = await putSecret('webhooksubscription-one', { current: second });
    await directory.waitFor(org, { secrets: written.metadata.resourceVersion });
    for (let round = 0; round < 10; round += 1) expect(hex((await directory.credentials(named('one'))).keys)).toEqual([first]);
    proxy.faults.clear();
    await eventually(async () => expect(hex((await directory.credentials(named('one'))).keys)).toEqual([second]));
  });

  it('that were never read are an error while the API server is unavailable', async () => {
    await subscribe('one', { signing: { mode: 'Generated' } });
    proxy.faults.next({ kind: 'drop', times: 1_000_000, match: { method: 'GET', path: /secrets/ } });
    await began();
    await expect(directory.credentials(named('one'))).rejects.toMatchObject({ reason: 'unreachable' });
  });

  it('are kept without a watch where Secrets may be read but not listed', async () => {
    await putSecret('webhooksubscription-one', { current: first });
    await subscribe('one', { signing: { mode: 'Generated' } });
    proxy.faults.next({
      kind: 'status',
      code: 403,
      reason: 'Forbidden',
      times: 1_000_000,
      match: { path: `/api/v1/namespaces/${org}/secrets` },
    });
    await began();
    for (let round = 0; round < 10; round += 1) expect(hex((await directory.credentials(named('one'))).keys)).toEqual([first]);
    expect(gets()).toBeLessThan(3);
    expect(directory.behind(org, { secrets: far })).toBe(false);
  });

  it('follow a watermark also while no watch shows their versions', async () => {
    const name = 'webhooksubscription-one';
    await putSecret(name, { current: first });
    const { signing, ...unsigned } = (await subscribe('one', { signing: { mode: 'Generated' } })).spec as { readonly signing: object };
    await began();
    expect(hex((await directory.credentials(named('one'))).keys)).toEqual([first]);
    const change = async (spec: object): Promise<void> => {
      const stored = await subscriptions().get({ namespace: org, name: 'one' });
      const { metadata } = await subscriptions().update({ ...stored, spec: { ...unsigned, ...spec } });
      await directory.waitFor(org, { subscriptions: metadata.resourceVersion });
    };
    // The watch of Secrets ends and begins with the signing: nothing is listed yet when the event is relayed.
    await change({});
    proxy.faults.next({ kind: 'status', code: 500, times: 1_000_000, match: { path: `/api/v1/namespaces/${org}/secrets` } });
    await change({ signing });
    for (const key of [second, third]) {
      const { resourceVersion } = (await putSecret(name, { current: key })).metadata;
      const asked = gets();
      for (let event = 0; event < 5; event += 1) {
        expect(directory.behind(org, { secrets: resourceVersion })).toBe(false);
        expect(hex((await directory.credentials(named('one'))).keys)).toEqual([key]);
      }
      expect(gets() - asked).toBe(1);
    }
  });

  it('are not taken from a read that began before the watermark', async () => {
    const name = 'webhooksubscription-one';
    await putSecret(name, { current: first });
    await subscribe('one', { signing: { mode: 'Generated' } });
    const answered = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const slow: Transport = {
      server: transport.server,
      stream: (request) => transport.stream(request),
      close: () => transport.close(),
      request: async <T>(request: Parameters<Transport['request']>[0]): Promise<T> => {
        const answer = await transport.request<T>(request);
        if (!request.path.endsWith(name)) return answer;
        answered.resolve();
        await go.promise;
        return answer;
      },
    };
    directory = createEndpointDirectory({ transport: slow, logger: createLogger({ role: 'test', level: 'error' }), namespace: org });
    await began();
    await answered.promise;
    await eventually(() => expect(directory.behind(org, { secrets: far })).toBe(true));
    const { resourceVersion } = (await putSecret(name, { current: second })).metadata;
    await directory.waitFor(org, { secrets: resourceVersion });
    const credentials = directory.credentials(named('one'));
    go.resolve();
    expect(hex((await credentials).keys)).toEqual([second]);
  });

  it('that may not be read are an error', async () => {
    await subscribe('one', { signing: { mode: 'Generated' } });
    proxy.faults.next({ kind: 'status', code: 403, reason: 'Forbidden', times: 1_000_000, match: { method: 'GET', path: /secrets/ } });
    await began();
    await expect(directory.credentials(named('one'))).rejects.toMatchObject({ reason: 'forbidden' });
  });
});
