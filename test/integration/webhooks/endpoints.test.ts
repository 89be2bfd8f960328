/** Endpoints and their credentials as a real API server tells of them. */
import { afterAll, beforeAll, expect, it } from 'vitest';

import { createTransport, loadKubeConfig, type Transport } from '../../../kube/index.ts';
import { createLogger } from '../../../platform/logging.ts';
import { generateSigningKey } from '../../../webhooks/signing/signing-keys.ts';
import type { EndpointDirectory } from '../../../webhooks/subscriptions/directory.ts';
import type { Endpoint } from '../../../webhooks/subscriptions/endpoint.ts';
import { createEndpointDirectory } from '../../../webhooks/subscriptions/open-directory.ts';
import { aSecret, anAgent, aWebhookSubscription } from '../../support/builders.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { run } from '../../support/run.ts';

let transport: Transport;
let directory: EndpointDirectory;
let org: string;
let kubectl: (args: readonly string[], input?: unknown) => Promise<string>;

beforeAll(async () => {
  const plane = await controlPlane();
  org = await organizationNamespace();
  kubectl = async (args, input) => {
    const options = input === undefined ? {} : { input: JSON.stringify(input) };
    const { code, stdout, stderr } = await run(plane.kubectl, [`--kubeconfig=${plane.kubeconfig}`, '-n', org, ...args], options);
    expect(code, stderr).toBe(0);
    return stdout;
  };
  transport = createTransport({ kubeConfig: loadKubeConfig({ path: plane.kubeconfig }) });
  directory = createEndpointDirectory({ transport, logger: createLogger({ role: 'test', level: 'silent' }) });
  directory.start();
  await directory.synced();
});
afterAll(async () => {
  await directory.stop();
  await transport.close();
});

const apply = (object: unknown): Promise<string> => kubectl(['apply', '-f', '-'], object);
const named = (name: string): Endpoint => {
  const endpoint = directory.list(org).find((each) => each.name === name);
  if (endpoint === undefined) throw new Error(`${name} is not there`);
  return endpoint;
};
const signing = async (name: string): Promise<readonly string[]> =>
  (await directory.credentials(named(name))).keys.map((key) => `whsec_${key.export().toString('base64')}`);

it('fills in what a short spec leaves out, and follows edits', async () => {
  await apply(aWebhookSubscription('short'));
  const endpoint = await eventually(() => named('short'));
  expect(endpoint).toMatchObject({
    org,
    kind: 'WebhookSubscription',
    url: 'https://hooks.example.com/parley',
    events: [],
    active: true,
    timeoutMs: 1000,
    retry: { strategy: 'FixedDelay', maxRetries: 3, maxDelayMs: 10_000 },
    headers: [],
  });
  expect(await directory.credentials(endpoint)).toEqual({ keys: [], headers: {} });
  await apply(aWebhookSubscription('short', undefined, { active: false, retryPolicy: { maxDelay: '0s' }, requestTimeout: '1.5s' }));
  await eventually(() => expect(named('short')).toMatchObject({ active: false, timeoutMs: 1500, retry: { maxDelayMs: 0, maxRetries: 3 } }));
  await kubectl(['delete', 'webhooksubscription', 'short', '--wait=false']);
  await eventually(() => expect(directory.byUid(endpoint.uid)).toBeUndefined());
});

it('signs with the keys that a Secret holds now, however it was edited', async () => {
  const [first, second] = [generateSigningKey(), generateSigningKey()];
  await apply(aSecret('own', { current: first, token: 'abc' }));
  const headers = [{ name: 'Authorization', valueFrom: { secretKeyRef: { name: 'own', key: 'token' } } }];
  await apply(aWebhookSubscription('signed', undefined, { signing: { secretRef: { name: 'own' } }, headers }));
  await eventually(async () => expect(await signing('signed')).toEqual([first]));
  expect((await directory.credentials(named('signed'))).headers).toEqual({ Authorization: 'abc' });
  await apply(aSecret('own', { current: second, 'previous-1': first, token: 'def' }));
  await eventually(async () => expect(await signing('signed')).toEqual([second, first]));
  expect((await directory.credentials(named('signed'))).headers).toEqual({ Authorization: 'def' });
  await kubectl(['annotate', 'secret', 'own', 'parley.dev/signing-expiry={"previous-1":"2020-01-01T00:00:00Z"}']);
  await eventually(async () => expect(await signing('signed')).toEqual([second]));
  await kubectl(['delete', 'secret', 'own']);
  await eventually(() => expect(signing('signed')).rejects.toMatchObject({ reason: 'missing' }));
});

it('knows the addresses that agents have for their calls', async () => {
  await apply(anAgent('anna'));
  await apply(anAgent('bert', undefined, { webhookURL: 'https://bert.example.com/calls' }));
  const endpoint = await eventually(() => named('bert'));
  expect(endpoint).toMatchObject({ kind: 'Agent', url: 'https://bert.example.com/calls', timeoutMs: 1000 });
  expect(directory.matching({ org, name: 'CallHandler.CallEnded', agent: 'bert' })).toContain(endpoint);
  expect(directory.matching({ org, name: 'CallHandler.CallEnded', agent: 'anna' })).not.toContain(endpoint);
  await apply(anAgent('bert'));
  await eventually(() => expect(directory.byUid(endpoint.uid)).toBeUndefined());
});
