import { beforeAll, expect, it } from 'vitest';

import { webhookSubscriptionKind, wellKnown, type WebhookSubscription } from '../../../crds/index.ts';
import { KubeError, ResourceClient } from '../../../kube/index.ts';
import { generateSigningKey, parseSigningKey } from '../../../webhooks/signing/signing-keys.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { condition, startCluster, type AnyObject } from './harness.ts';

const cluster = suiteFixture(startCluster);
let namespace: string;
beforeAll(async () => {
  await cluster.operator();
  namespace = await cluster.organization('hooks');
});

const subscription = (name: string, spec: object = {}) => ({
  apiVersion: 'parley.dev/v1beta1',
  kind: 'WebhookSubscription',
  metadata: { namespace, name },
  spec: { url: 'https://hooks.example.com/', ...spec },
});
const secret = (name: string, stringData: Readonly<Record<string, string>>) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name },
  stringData,
});
const valuesOf = ({ data = {} }: AnyObject): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));

it('delivers what it can of a spec, and says what it can not', async () => {
  await cluster.apply(subscription('events', { events: ['Webhook.Test', 'Webhook.Tset'] }));
  const wrong = await cluster.reason('WebhookSubscription', namespace, 'events', 'Accepted', 'UnknownEvents');
  expect(condition(wrong, 'Accepted')?.message).toMatch(/"Webhook.Tset".*known events: .*CallAnalysis.Completed, .*Webhook.Test/);
  expect(condition(wrong, 'Stalled')?.reason).toBe('UnknownEvents');
  await cluster.apply(subscription('events', { events: ['Webhook.Test'] }));
  const right = await cluster.ready('WebhookSubscription', namespace, 'events');
  expect(condition(right, 'Synced')?.reason).toBe('Delivering');

  await cluster.apply(subscription('events', { suspend: true }));
  const suspended = await cluster.reason('WebhookSubscription', namespace, 'events', 'Suspended', 'Suspended');
  expect(condition(suspended, 'Suspended')?.message).toContain('nothing is sent');
  expect(condition(suspended, 'Ready')).toBeUndefined();

  await cluster.apply(subscription('inside', { url: 'http://10.0.0.1/' }));
  await cluster.reason('WebhookSubscription', namespace, 'inside', 'Accepted', 'AddressForbidden');
});

it('shows on the object what a quota refuses, and heals when it is raised', async () => {
  const tight = await cluster.organization('tight');
  const limit = async (secrets: string): Promise<void> => {
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'few', namespace: tight }, spec: { hard: { secrets } } };
    await cluster.apply(quota);
    await cluster.client('ResourceQuota').applyStatus({ ...quota, status: { hard: { secrets }, used: { secrets: '0' } } });
  };
  await limit('0');
  // The API server learns of a quota by a watch.
  const probe = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'probe', namespace: tight } };
  await eventually(() => expect(cluster.client('Secret').create(probe, { dryRun: true })).rejects.toMatchObject({ code: 403 }));
  await cluster.apply({ ...subscription('signed', { signing: { mode: 'Generated' } }), metadata: { namespace: tight, name: 'signed' } });
  await eventually(async () => {
    const { items } = await cluster.client<AnyObject & { reason?: string; note?: string }>('Event').listAll({ namespace: tight });
    const refused = { reason: 'ReconcileFailed', note: expect.stringContaining('exceeded quota: few') };
    expect(items).toContainEqual(expect.objectContaining(refused));
  });
  await limit('1');
  await cluster.ready('WebhookSubscription', tight, 'signed');
});

it('judges the keys of a Secret by what is in them, and heals when that is mended', async () => {
  await cluster.apply(
    secret('own', { current: 'sesame' }),
    subscription('own', { signing: { mode: 'Secret', secretRef: { name: 'own' } } }),
  );
  const wrong = await cluster.reason('WebhookSubscription', namespace, 'own', 'ResolvedRefs', 'SigningKeyInvalid');
  expect([condition(wrong, 'Synced')?.reason, condition(wrong, 'Ready')?.status]).toEqual(['DeliveryHeldUp', 'False']);
  expect(JSON.stringify(wrong.status)).not.toContain('sesame');
  const key = generateSigningKey();
  await cluster.apply(secret('own', { current: key }));
  await cluster.ready('WebhookSubscription', namespace, 'own');
  // A person rotated the key by hand, with a former key that was cut off while it was copied.
  await cluster.apply(secret('own', { current: generateSigningKey(), 'previous-1': key.slice(0, 20) }));
  const cut = await cluster.reason('WebhookSubscription', namespace, 'own', 'ResolvedRefs', 'SigningKeyInvalid');
  expect(condition(cut, 'Synced')?.reason).toBe('Delivering');
  await cluster.apply(secret('own', { current: generateSigningKey(), 'previous-1': key }));
  await cluster.ready('WebhookSubscription', namespace, 'own');
});

it('takes a generated Secret over that a restore has left without an owner, so that it goes with the subscription', async () => {
  await cluster.apply(subscription('restored', { signing: { mode: 'Generated' } }));
  const { metadata } = await cluster.ready('WebhookSubscription', namespace, 'restored');
  const name = 'webhooksubscription-restored';
  const secrets = cluster.client('Secret');
  const before = await secrets.get({ namespace, name });
  await secrets.mergePatch(before, { metadata: { ownerReferences: null } });
  const after = await cluster.until('Secret', namespace, name, (object) => (object.metadata.ownerReferences ?? []).length > 0);
  expect(after.metadata.ownerReferences).toMatchObject([{ kind: 'WebhookSubscription', name: 'restored', uid: metadata.uid }]);
  expect(after['data']).toEqual(before['data']);
});

it('takes former keys out of a Secret that it generated when their time is over, and leaves the current one', async () => {
  await cluster.apply(subscription('generated', { signing: { mode: 'Generated' } }));
  await cluster.ready('WebhookSubscription', namespace, 'generated');
  const name = 'webhooksubscription-generated';
  const { current } = valuesOf(await cluster.get('Secret', namespace, name));
  expect(parseSigningKey(current ?? '')?.symmetricKeySize).toBe(32);
  const next = generateSigningKey();
  const keys = { current: next, 'previous-1': current!, 'previous-2': generateSigningKey() };
  const expiry = {
    'previous-1': new Date(Date.now() + 86_400_000).toISOString(),
    'previous-2': new Date(Date.now() + 3_000).toISOString(),
  };
  await cluster.apply({
    ...secret(name, keys),
    metadata: { namespace, name, annotations: { [wellKnown.signingExpiry]: JSON.stringify(expiry) } },
  });
  const tidied = await eventually(async () => {
    const found = await cluster.get('Secret', namespace, name);
    expect(Object.keys(found.data ?? {}).sort()).toEqual(['current', 'previous-1']);
    return found;
  });
  expect(valuesOf(tidied)).toEqual({ current: next, 'previous-1': current });
  expect(JSON.parse(tidied.metadata.annotations?.[wellKnown.signingExpiry] ?? '{}')).toEqual({ 'previous-1': expiry['previous-1'] });
  await cluster.ready('WebhookSubscription', namespace, 'generated');
});

it('leaves to the dispatcher what belongs to it, and shows that a subscription was switched off', async () => {
  await cluster.apply(subscription('disabled'));
  const { metadata } = await cluster.ready('WebhookSubscription', namespace, 'disabled');
  const dispatcher = new ResourceClient<WebhookSubscription>({
    transport: cluster.transport,
    descriptor: webhookSubscriptionKind.descriptor,
    fieldManager: 'parley-dispatcher',
  });
  const say = (status: WebhookSubscription['status']) =>
    dispatcher.applyStatus(
      {
        apiVersion: 'parley.dev/v1beta1',
        kind: 'WebhookSubscription',
        metadata: { namespace, name: 'disabled', uid: metadata.uid },
        status,
      } as WebhookSubscription,
      { force: true },
    );
  const theirs = {
    autoDisabled: { since: '2026-11-20T08:00:00Z', reason: 'the endpoint answered 410 Gone' },
    lastFailureAt: '2026-11-20T08:00:00Z',
  };
  await say(theirs);
  const off = await cluster.reason('WebhookSubscription', namespace, 'disabled', 'Ready', 'AutoDisabled');
  expect(off.status).toMatchObject(theirs);
  expect(condition(off, 'Stalled')?.reason).toBe('AutoDisabled');
  const owned = off.metadata.managedFields?.find(({ manager, subresource }) => manager === 'parley-operator' && subresource === 'status');
  expect(Object.keys(owned?.fieldsV1?.['f:status'] ?? {}).sort()).toEqual(['f:conditions', 'f:observedGeneration']);
  await say({ lastSuccessAt: '2026-11-21T08:00:00Z' });
  const on = await cluster.ready('WebhookSubscription', namespace, 'disabled');
  expect(on.status).toMatchObject({ lastSuccessAt: '2026-11-21T08:00:00Z' });
  expect(on.status?.['autoDisabled']).toBeUndefined();
});

it('holds up no deletion', async () => {
  await cluster.apply(subscription('going', { signing: { mode: 'Generated' } }));
  await cluster.ready('WebhookSubscription', namespace, 'going');
  await cluster.remove('WebhookSubscription', namespace, 'going');
  await expect(cluster.get('WebhookSubscription', namespace, 'going')).rejects.toBeInstanceOf(KubeError);
});
