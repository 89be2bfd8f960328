import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { webhookSubscriptionKind, type WebhookSubscription, type WebhookSubscriptionSpec } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import { eventNames } from '../../events/catalogue.ts';
import { fieldsWithoutCase } from '../../test/support/field-cases.ts';
import { refId } from '../codec/secrets.ts';
import {
  subscriptionCreate,
  subscriptionFromRest,
  subscriptionToRest,
  subscriptionUpdate,
  type SubscriptionCreate,
  type SubscriptionEncoding,
  type SubscriptionUpdate,
  webhookFieldNames,
} from './fields.ts';
import { encoding as encodingFor, parsed } from '../../test/support/rest-fields.ts';
import { shownHeaders } from './header-values.ts';

const own = 'webhooksubscription-w';
const text = fc.oneof(fc.constant(''), fc.string({ maxLength: 12, unit: 'grapheme' }));
const named = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme-ascii' }).filter((name) => name.trim() !== '');
const url = fc.webUrl({ validSchemes: ['http', 'https'] }).filter((each) => each.length <= 2048);
const headerName = fc.constantFrom('X-Tenant', 'Authorization', 'X-Api-Key', 'Accept-Language');
const headerValue = fc.stringMatching(/^[!-~]([ -~]{0,10}[!-~])?$/);
const events = fc.oneof(fc.constant(['*']), fc.uniqueArray(fc.constantFrom(...eventNames), { minLength: 1, maxLength: 4 }));
const names = (max: number) => fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: max });
const keyRef = fc.record({ name: fc.constantFrom('mine', own), key: fc.constantFrom('headers.k', 'headers.l', 'other') });

const header = fc
  .tuple(headerName, fc.oneof(fc.record({ value: headerValue }), fc.record({ valueFrom: fc.record({ secretKeyRef: keyRef }) })))
  .map(([name, source]) => Object.assign({ name }, source));

/** Any spec that `kubectl apply` may have stored. */
const spec = fc
  .record(
    {
      url,
      suspend: fc.boolean(),
      displayName: named,
      description: text,
      events: fc.oneof(events, fc.constant(['Later.Version'])),
      headers: fc.uniqueArray(header, { maxLength: 4, selector: ({ name }) => name }),
      requestTimeout: fc.constantFrom('100ms', '500ms', '1s', '30s', '0m20s'),
      retryPolicy: fc.record(
        {
          strategy: fc.constantFrom('FixedDelay', 'ExponentialBackoff'),
          maxRetries: fc.integer({ min: 0, max: 10 }),
          delay: fc.constantFrom('0s', '400ms', '1m30s', '1h'),
        },
        { requiredKeys: [] },
      ),
      signing: fc.constantFrom({ mode: 'None' }, { mode: 'Generated' }, { mode: 'Secret', secretRef: { name: 'mine' } }),
      scope: fc.oneof(
        names(3).map((agents) => ({ type: 'AgentRefs', agentRefs: agents.map((name) => ({ name })) })),
        names(3).map((workspaces) => ({ type: 'Workspaces', workspaces })),
      ),
    },
    { requiredKeys: ['url'] },
  )
  .map((each) => webhookSubscriptionKind.spec.parse(each));

const subscription = (stored: WebhookSubscriptionSpec): Stored<WebhookSubscription> => ({
  apiVersion: 'parley.dev/v1beta1',
  kind: 'WebhookSubscription',
  metadata: { name: 'w', namespace: 'org', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-11-21T09:00:00Z' },
  spec: stored,
});

const encoding = (stored?: ReadonlyMap<string, string>): SubscriptionEncoding => ({
  ...encodingFor(own, stored),
  eventNames: new Set(eventNames),
});

const create = (body: object): SubscriptionCreate => parsed(subscriptionCreate, body);
const update = (body: object): SubscriptionUpdate => parsed(subscriptionUpdate, body);

const valuesOf = (name: string): (readonly [string, string])[] =>
  ['headers.k', 'headers.l', 'other'].map((key) => [refId({ name, key }), `${name}+${key}`] as const);
const values = new Map([...valuesOf('mine'), ...valuesOf(own)]);

const state = { ready: true, reason: 'Available', message: 'events that match are delivered' };

describe('a subscription: resource → REST → resource', () => {
  it('changes nothing, whatever is stored, masked and unmasked, where Secrets can not be read, and where nothing is named', () => {
    fc.assert(
      fc.property(spec, (stored) => {
        const object = subscription(stored);
        const shown = [
          { values, everything: true },
          { values, everything: false },
          { values: undefined, everything: true },
        ].map((sight) => subscriptionToRest(object, { disabled: false, state, headers: shownHeaders(object, sight) }));
        for (const body of [...shown, subscriptionToRest(object, { disabled: false, state }), {}]) {
          const context = encoding(values);
          expect(subscriptionFromRest(update(body), object, context)).toEqual(stored);
          expect([context.found, [...context.secrets.pending]]).toEqual([[], []]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('sent as it was answered with enable_signed_webhooks, is signed as it was', () => {
    fc.assert(
      fc.property(spec, (stored) => {
        const body = update({ enable_signed_webhooks: stored.signing.mode !== 'None' });
        expect(subscriptionFromRest(body, subscription(stored), encoding()).signing).toEqual(stored.signing);
      }),
    );
  });
});

const limits = fc.oneof(
  fc.constant({}),
  names(5).map((agent_ids) => ({ agent_ids, scope: 'AGENT' })),
  names(5).map((workspace_ids) => ({ workspace_ids, scope: 'WORKSPACE' })),
);
const body = fc
  .record({
    required: fc.record({ name: named.map((name) => name.trim()), url, enable_signed_webhooks: fc.boolean() }),
    optional: fc.record(
      {
        active: fc.boolean(),
        events: fc.oneof(events, fc.constant([])),
        description: text,
        headers: fc.dictionary(headerName, headerValue, { minKeys: 1, maxKeys: 4 }),
        request_timeout_ms: fc.integer({ min: 100, max: 30_000 }),
        retry_policy: fc.record(
          {
            retryStrategy: fc.constantFrom('FIXED_DELAY', 'EXPONENTIAL_BACKOFF'),
            maxRetryAttempts: fc.integer({ min: 0, max: 10 }),
            maxRetryDelayMs: fc.integer({ min: 0, max: 3_600_000 }),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    ),
    limits,
  })
  .map(({ required, optional, limits: chosen }) => Object.assign({}, required, optional, chosen));

describe('a subscription: REST → resource → REST', () => {
  it('returns what was sent, with no value of a header in the spec', () => {
    fc.assert(
      fc.property(body, (sent) => {
        const context = encoding();
        const stored = webhookSubscriptionKind.spec.parse(subscriptionFromRest(create(sent), undefined, context));
        expect(context.found).toEqual([]);
        const known = new Map([...context.secrets.pending].map(([key, value]) => [refId({ name: own, key }), value]));
        const object = subscription(stored);
        const headers = shownHeaders(object, { values: known, everything: true });
        const { enable_signed_webhooks: signed, ...rest } = sent;
        expect(subscriptionToRest(object, { disabled: false, state, headers })).toMatchObject({
          ...(JSON.parse(JSON.stringify(rest)) as object),
          signing_enabled: signed,
        });
        expect((stored.headers ?? []).filter(({ value }) => value !== undefined)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('has the defaults of the contract where little is sent, and nothing of what is unset', () => {
    const stored = webhookSubscriptionKind.spec.parse(
      subscriptionFromRest(create({ name: 'n', url: 'https://example.com', enable_signed_webhooks: false }), undefined, encoding()),
    );
    expect(subscriptionToRest(subscription(stored), { disabled: false, state, headers: {} })).toEqual({
      id: 'w',
      organization_id: 'org',
      scope: 'ORGANIZATION',
      name: 'n',
      url: 'https://example.com',
      events: [],
      active: true,
      request_timeout_ms: 1000,
      retry_policy: { retryStrategy: 'FIXED_DELAY', maxRetryAttempts: 3, maxRetryDelayMs: 10_000 },
      signing_enabled: false,
      state,
      created_at: '2026-11-21T09:00:00Z',
      updated_at: '2026-11-21T09:00:00Z',
    });
  });
});

describe('an update', () => {
  const full = webhookSubscriptionKind.spec.parse({
    url: 'https://example.com',
    displayName: 'n',
    description: 'd',
    events: ['Webhook.Test'],
    suspend: true,
    headers: [{ name: 'X-Tenant', value: 'a' }],
    requestTimeout: '5s',
    retryPolicy: { strategy: 'ExponentialBackoff', maxRetries: 7, delay: '1m' },
    signing: { mode: 'Generated' },
    scope: { type: 'AgentRefs', agentRefs: [{ name: 'a' }] },
  });
  const changed = (sent: object, context = encoding()) => subscriptionFromRest(update(sent), subscription(full), context);

  it('brings defaults back with null, and changes single fields of the retry policy', () => {
    const { url: address, displayName, signing } = full;
    expect(
      changed({
        description: null,
        events: null,
        active: null,
        headers: null,
        request_timeout_ms: null,
        retry_policy: null,
        agent_ids: null,
      }),
    ).toEqual({
      url: address,
      displayName,
      signing,
      requestTimeout: '1s',
      retryPolicy: { strategy: 'FixedDelay', maxRetries: 3, delay: '10s' },
    });
    expect(changed({ retry_policy: { maxRetryAttempts: 2 } })).toEqual({ ...full, retryPolicy: { ...full.retryPolicy, maxRetries: 2 } });
  });

  it('resumes with active: true, and says nothing where nothing is suspended', () => {
    expect(changed({ active: true })).not.toHaveProperty('suspend');
    expect(changed({ active: false }).suspend).toBe(true);
    const resumed = subscription({ ...full, suspend: false });
    expect(subscriptionFromRest(update({ active: true }), resumed, encoding()).suspend).toBe(false);
    expect(subscriptionFromRest(update({ active: false }), resumed, encoding()).suspend).toBe(true);
  });

  it('signs with a key of its own, and no longer', () => {
    expect(changed({ enable_signed_webhooks: false }).signing).toEqual({ mode: 'None' });
    const unsigned = subscription({ ...full, signing: { mode: 'None' } });
    expect(subscriptionFromRest(update({ enable_signed_webhooks: true }), unsigned, encoding()).signing).toEqual({ mode: 'Generated' });
  });

  it('puts one scope in the place of the other, and takes it away with an empty list', () => {
    expect(changed({ workspace_ids: ['w'] }).scope).toEqual({ type: 'Workspaces', workspaces: ['w'] });
    expect(changed({ workspace_ids: ['w'], agent_ids: [] }).scope).toEqual({ type: 'Workspaces', workspaces: ['w'] });
    expect(changed({ agent_ids: ['b'], workspace_ids: null }).scope).toEqual({ type: 'AgentRefs', agentRefs: [{ name: 'b' }] });
    expect(changed({ agent_ids: [] }).scope).toBeUndefined();
    expect(changed({ workspace_ids: [] }).scope).toEqual(full.scope);
  });

  it.each([
    [{ agent_ids: ['a'], workspace_ids: ['w'] }, ['agent_ids', 'workspace_ids']],
    [{ scope: 'ORGANIZATION' }, ['scope']],
    [{ scope: 'AGENT', agent_ids: [] }, ['scope']],
    [{ events: ['Absent.Event'] }, ['events']],
    [{ events: ['*', 'Webhook.Test'] }, ['events']],
    [{ headers: { 'X-New': '********' } }, ['headers.X-New']],
  ])('refuses %j', (sent, fields) => {
    const context = encoding();
    changed(sent, context);
    expect(context.found.map(({ loc }) => loc.slice(1).join('.'))).toEqual(fields);
  });
});

it('has a case for each field of the table: add what is named here to the bodies above', () => {
  expect(fieldsWithoutCase(webhookFieldNames, fc.sample(body, { seed: 1, numRuns: 300 }))).toEqual([]);
});
