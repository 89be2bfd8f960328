import { describe, expect, it } from 'vitest';

import type { WebhookSubscription } from '../../crds/index.ts';
import { storedObject } from '../../test/support/arbitrary-things.ts';
import { eventNames } from '../../events/catalogue.ts';
import { adoptionsOf } from '../references/adoptions.ts';
import { memorySnapshot, type DataEntry } from '../references/memory-snapshot.ts';
import { referencesOf } from '../references/references-of.ts';
import { findCondition } from '../../crds/kind.ts';
import { planWebhookSubscription } from './plan.ts';
import { unusableKeys } from './signing-keys.ts';

const now = Date.parse('2026-11-21T12:00:00Z');
const goodKey = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

function subscriptionOf(spec: object, status?: object): WebhookSubscription {
  const stored = storedObject('WebhookSubscription', 'orders', { url: 'https://hooks.example.com/', ...spec });
  return { ...stored, ...(status && { status }) } as WebhookSubscription;
}

function secretOf(values: Readonly<Record<string, string>>, more: Partial<DataEntry> = {}): DataEntry {
  const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
  return {
    namespace: 'acme',
    name: 'keys',
    uid: 'uid-keys',
    resourceVersion: '5',
    keys: Object.keys(values),
    unusable: unusableKeys(data),
    ...more,
  };
}

function planned(
  spec: object,
  { secrets = [], status, addressProblem }: { secrets?: readonly DataEntry[]; status?: object; addressProblem?: string } = {},
) {
  const subscription = subscriptionOf(spec, status);
  const snapshot = memorySnapshot({ organizations: ['acme'], subscriptions: [subscription], secrets });
  const plan = planWebhookSubscription(subscription, snapshot, { now, addressProblem: () => addressProblem });
  const condition = (type: 'Ready' | 'Accepted' | 'ResolvedRefs' | 'Synced' | 'EndpointHealthy' | 'Stalled' | 'Reconciling') => {
    const found = findCondition({ status: plan.status ?? {} }, type);
    return found && `${found.status} ${found.reason}`;
  };
  const message = (type: 'Ready' | 'Accepted' | 'ResolvedRefs' | 'Synced') =>
    findCondition({ status: plan.status ?? {} }, type)?.message ?? '';
  return { plan, condition, message };
}

describe('events', () => {
  it.each([
    ['absent', {}],
    ['all', { events: ['*'] }],
    ['each that there is', { events: [...eventNames] }],
  ])('takes %s', (_name, spec) => {
    const { condition } = planned(spec);
    expect([condition('Accepted'), condition('Ready')]).toEqual(['True SpecAccepted', 'True Available']);
  });

  it('names those that there are not, and those that there are', () => {
    const { condition, message } = planned({ events: ['Webhook.Test', 'Webhook.Tset', 'Absent.Event'] });
    expect([condition('Accepted'), condition('Ready'), condition('Stalled')]).toEqual([
      'False UnknownEvents',
      'False UnknownEvents',
      'True UnknownEvents',
    ]);
    expect(message('Accepted')).toContain('"Webhook.Tset", "Absent.Event"');
    for (const name of eventNames) expect(message('Accepted')).toContain(name);
    // What is known is delivered all the same.
    expect(condition('Synced')).toBe('True Delivering');
  });
});

describe('the address', () => {
  it('is judged by the guard of outgoing calls', () => {
    const { condition, message } = planned({}, { addressProblem: 'it is not on the public internet' });
    expect(condition('Accepted')).toBe('False AddressForbidden');
    expect(message('Ready')).toBe('spec.url cannot be called: it is not on the public internet');
  });
});

describe('signing keys', () => {
  const spec = { signing: { mode: 'Secret', secretRef: { name: 'keys' } } };
  const short = `whsec_${Buffer.alloc(23).toString('base64')}`;

  it.each([
    ['a good key', { current: goodKey }, 'True ReferencesResolved', 'True Delivering'],
    ['the shortest', { current: `whsec_${Buffer.alloc(24).toString('base64')}` }, 'True ReferencesResolved', 'True Delivering'],
    ['the longest', { current: `whsec_${Buffer.alloc(64).toString('base64')}` }, 'True ReferencesResolved', 'True Delivering'],
    ['keys that no one asked about', { current: goodKey, 'previous-5': 'x', other: '\0' }, 'True ReferencesResolved', 'True Delivering'],
    ['no current key', { 'previous-1': goodKey }, 'False SecretKeyNotFound', 'False DeliveryHeldUp'],
    ['no key at all', { current: 'sesame' }, 'False SigningKeyInvalid', 'False DeliveryHeldUp'],
    ['one without its prefix', { current: goodKey.slice(6) }, 'False SigningKeyInvalid', 'False DeliveryHeldUp'],
    ['one that is too short', { current: short }, 'False SigningKeyInvalid', 'False DeliveryHeldUp'],
    [
      'one that is too long',
      { current: `whsec_${Buffer.alloc(65).toString('base64')}` },
      'False SigningKeyInvalid',
      'False DeliveryHeldUp',
    ],
    // That key was to sign along only.
    ['a former one that is none', { current: goodKey, 'previous-2': 'sesame' }, 'False SigningKeyInvalid', 'True Delivering'],
  ] as const)('%s', (_name, values, resolvedRefs, synced) => {
    const { condition, message } = planned(spec, { secrets: [secretOf(values)] });
    expect([condition('ResolvedRefs'), condition('Synced')]).toEqual([resolvedRefs, synced]);
    for (const value of Object.values(values)) if (value.length > 5) expect(message('ResolvedRefs')).not.toContain(value);
  });

  it('waits for a Secret that is missing', () => {
    const { condition } = planned(spec);
    expect([condition('ResolvedRefs'), condition('Synced')]).toEqual(['False SecretNotFound', 'False DeliveryHeldUp']);
  });
});

it('never signs with the key of a former subscription, and takes back what a restore left without an owner', () => {
  const generated = (more: object) =>
    secretOf({ current: goodKey }, { name: 'webhooksubscription-orders', companionOf: 'webhooksubscription', ...more });
  const former = planned({ signing: { mode: 'Generated' } }, { secrets: [generated({ owners: ['uid-of-the-former'] })] });
  expect(former.condition('ResolvedRefs')).toBe('False SecretNotOwned');
  const subscription = subscriptionOf({ signing: { mode: 'Generated' } });
  const adopted = (secret: DataEntry) =>
    adoptionsOf(subscription, referencesOf(subscription), memorySnapshot({ organizations: ['acme'], secrets: [secret] }));
  expect(adopted(generated({ owners: [] }))).toEqual([
    { type: 'adopt', kind: 'Secret', name: 'webhooksubscription-orders', uid: 'uid-keys', resourceVersion: '5' },
  ]);
  expect(adopted(generated({ owners: ['another'] }))).toEqual([]);
  expect(adopted(generated({ owners: [], companionOf: 'agent' }))).toEqual([]);
});

describe('former keys', () => {
  const generated = { name: 'webhooksubscription-orders', owners: ['uid-WebhookSubscription-acme-orders'] };
  const keys = { current: goodKey, 'previous-1': goodKey, 'previous-2': goodKey, 'previous-3': goodKey };
  const signingExpiry = JSON.stringify({
    'previous-1': '2026-11-21T12:30:00Z',
    'previous-2': '2026-11-21T12:00:00Z',
    'previous-3': 'soon',
  });

  it('go from a generated Secret when their time is over, and the next one is waited for', () => {
    const { plan } = planned({ signing: { mode: 'Generated' } }, { secrets: [secretOf(keys, { ...generated, signingExpiry })] });
    expect(plan.actions).toEqual([
      {
        type: 'removeSigningKeys',
        name: 'webhooksubscription-orders',
        keys: ['previous-2'],
        from: { uid: 'uid-keys', resourceVersion: '5' },
      },
    ]);
    expect(plan.requeueAfterMs).toBe(30 * 60_000);
  });

  it.each([
    ['stay without a date', { signing: { mode: 'Generated' } }, { ...generated }],
    ['stay with a date that cannot be read', { signing: { mode: 'Generated' } }, { ...generated, signingExpiry: 'tomorrow' }],
    [
      "stay in somebody's own Secret",
      { signing: { mode: 'Secret', secretRef: { name: 'webhooksubscription-orders' } } },
      { ...generated, signingExpiry },
    ],
    ['stay in a Secret that belongs to something else', { signing: { mode: 'Generated' } }, { name: generated.name, signingExpiry }],
  ])('%s', (_name, spec, more) => {
    const { plan } = planned(spec, { secrets: [secretOf(keys, more)] });
    expect(plan.actions).toEqual([]);
  });
});

describe('header values', () => {
  const spec = { headers: [{ name: 'x-token', valueFrom: { secretKeyRef: { name: 'keys', key: 'token' } } }] };

  it.each([
    ['plain', 'abc', 'True ReferencesResolved'],
    ['as an editor leaves it', 'abc\n', 'True ReferencesResolved'],
    ['as an editor on Windows leaves it', 'abc\r\n', 'True ReferencesResolved'],
    ['with an accent', 'café', 'True ReferencesResolved'],
    ['with a line break', 'abc\nx-other: 1', 'False HeaderValueInvalid'],
    ['with two line breaks at the end', 'abc\n\n', 'False HeaderValueInvalid'],
    ['beyond Latin-1', '5 €', 'False HeaderValueInvalid'],
    ['with a NUL', 'abc\0', 'False HeaderValueInvalid'],
    ['of 20 KB', 'x'.repeat(20_000), 'False HeaderValueInvalid'],
  ])('%s', (_name, token, expected) => {
    const { condition, message } = planned(spec, { secrets: [secretOf({ token })] });
    expect(condition('ResolvedRefs')).toBe(expected);
    expect(message('ResolvedRefs')).not.toContain(token);
  });
});

describe('what is delivered', () => {
  it('nothing while it is suspended, and it says so', () => {
    const { plan } = planned({ suspend: true, signing: { mode: 'Generated' }, events: ['Absent.Event'] });
    expect(plan.actions).toEqual([]);
    expect(plan.status?.conditions).toMatchObject([
      {
        type: 'Suspended',
        status: 'True',
        message: 'spec.suspend is true, so nothing is sent and changes are ignored; set it to false to resume',
      },
    ]);
  });

  it('nothing since it was switched off, until somebody does something', () => {
    const autoDisabled = { since: '2026-11-20T08:00:00Z', reason: 'the endpoint answered 410 Gone' };
    const { condition, message } = planned({}, { status: { autoDisabled } });
    expect([condition('Synced'), condition('Ready'), condition('Stalled')]).toEqual([
      'False AutoDisabled',
      'False AutoDisabled',
      'True AutoDisabled',
    ]);
    expect(message('Ready')).toContain('since 2026-11-20T08:00:00Z: the endpoint answered 410 Gone');
    expect(message('Ready')).toContain(
      'kubectl annotate --overwrite webhooksubscription/orders parley.dev/reconcile-requested-at="$(date -Is)"',
    );
  });

  it.each([
    ['nothing is known against it', undefined, 'True CircuitBreakerClosed', 'True Available'],
    ['it has begun to take deliveries again', 'HalfOpen', 'True CircuitBreakerClosed', 'True Available'],
    ['it only fails', 'Open', 'False CircuitBreakerOpen', 'False CircuitBreakerOpen'],
  ] as const)('shows whether the endpoint gets it: %s', (_name, state, healthy, ready) => {
    const circuitBreaker = state && { state, failingSince: '2026-11-20T08:00:00Z' };
    const { condition, message } = planned({}, { status: { circuitBreaker } });
    expect([condition('EndpointHealthy'), condition('Ready')]).toEqual([healthy, ready]);
    if (!ready.startsWith('False')) return;
    expect([condition('Stalled'), condition('Reconciling')]).toEqual([undefined, 'True Retrying']);
    expect(message('Ready')).toContain('since 2026-11-20T08:00:00Z');
  });

  it('needs no finalizer', () => {
    const subscription = subscriptionOf({});
    const going = { ...subscription, metadata: { ...subscription.metadata, deletionTimestamp: '2026-11-21T11:00:00Z' } };
    const snapshot = memorySnapshot({ organizations: ['acme'] });
    expect(planWebhookSubscription(going, snapshot, { now, addressProblem: () => undefined })).toEqual({ actions: [] });
  });
});
