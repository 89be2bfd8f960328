import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';

import {
  agentKind,
  phoneNumberKind,
  toolKind,
  webhookSubscriptionKind,
  type AgentSpec,
  type PhoneNumberSpec,
  type ToolSpec,
  type WebhookSubscriptionSpec,
} from '../../crds/index.ts';
import { agentFromRest, agentUpdate } from '../agents/fields.ts';
import { MASK } from '../http/caller.ts';
import { phoneNumberFromRest, providerOf } from '../phone-numbers/fields.ts';
import { phoneNumberUpdates } from '../phone-numbers/fields.ts';
import {
  builtinToolUpdates,
  builtinTypeOf,
  customToolUpdate,
  inlineTool,
  mcpToolUpdate,
  toolFromRest,
  type BuiltinToolUpdate,
} from '../tools/fields.ts';
import type { ValidationIssue } from '../validation/issue.ts';
import { validate } from '../validation/validate.ts';
import { subscriptionFromRest, subscriptionUpdate } from '../webhooks/fields.ts';
import { movedSecrets, type SecretUse } from './secret-origins.ts';
import { refId, SecretWriter, type KeyRef } from './secrets.ts';

/** A value, and the place to which the spec sends it. */
type Sending = readonly [value: string, to: string];
type ValueOf = (ref: KeyRef | undefined) => string;

interface Kind<S> {
  /** Generates specs that `kubectl apply` may have stored. */
  readonly start: fc.Arbitrary<S>;
  readonly body: fc.Arbitrary<object>;
  readonly schema: z.ZodType<S>;
  /** Encodes a body; undefined for one that the route refuses. */
  readonly encode: (body: object, previous: S, secrets: SecretWriter, found: ValidationIssue[]) => unknown;
  readonly sendings: (spec: S, valueOf: ValueOf) => readonly Sending[];
}

const url = fc.constantFrom(
  'https://a.example/1',
  'https://A.example:443/2',
  'http://a.example/1',
  'https://a.example:8443/1',
  'https://b.example/1',
  'https://{{x}}.a.example/1',
  'https://{{y}}.a.example/1',
);
const kubeKey: KeyRef = { name: 'mine', key: 'k' };
const secret = fc.constantFrom(MASK, MASK, 'first', 'second', 'kube');
const partial = (fields: Readonly<Record<string, fc.Arbitrary<unknown>>>) => fc.record(fields, { requiredKeys: [] });
const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 4 });
const headerName = fc.constantFrom('Authorization', 'authorization', 'X-Api-Key', 'X-Tenant');
const headers = fc
  .uniqueArray(fc.tuple(headerName, secret), { maxLength: 3, selector: ([name]) => name.toLowerCase() })
  .map((list) => Object.fromEntries(list));
const kubeHeaders = fc.uniqueArray(
  fc
    .tuple(headerName, fc.boolean())
    .map(([name, plain]) => (plain ? { name, value: 'plain' } : { name, valueFrom: { secretKeyRef: kubeKey } })),
  { maxLength: 2, selector: ({ name }) => name.toLowerCase() },
);

const origin = (address: string): string => (address.includes('{') ? address.split('/').slice(0, 3).join('/') : new URL(address).origin);

interface SpecHeader {
  readonly name: string;
  readonly value?: string | undefined;
  readonly valueFrom?: { readonly secretKeyRef: KeyRef } | undefined;
}

/** Returns the sent headers without those that an answer shows to everybody. */
const headersTo = (address: string, list: readonly SpecHeader[] | undefined, valueOf: ValueOf): readonly Sending[] =>
  (list ?? [])
    .filter(({ name, valueFrom }) => valueFrom !== undefined || name !== 'X-Tenant')
    .map(({ value, valueFrom }) => [value ?? valueOf(valueFrom?.secretKeyRef), origin(address)]);

function read<T>(schema: z.ZodType<T>, body: object): T | undefined {
  const result = validate(schema, JSON.parse(JSON.stringify(body)), ['body']);
  return result.ok ? result.value : undefined;
}

const lookup = fc.record({ url, headers: nullable(headers), method: fc.constantFrom('GET', 'POST') }, { requiredKeys: ['url'] });
const provider = fc.constantFrom('openai', 'groq', 'google');
const speechProvider = fc.constantFrom('openai', 'azure');
const llmFallback = fc.record(
  { model_provider: provider, model_name: fc.constantFrom('m', 'n'), base_url: nullable(url), api_key: nullable(secret) },
  { requiredKeys: ['model_provider', 'model_name'] },
);
const agents: Kind<AgentSpec> = {
  schema: agentKind.spec,
  start: fc
    .record({
      llm: partial({ provider, baseURL: url }),
      fallbacks: fc.array(partial({ provider, baseURL: url, apiKeySecretRef: fc.constant(kubeKey) }), { maxLength: 2 }),
      speech: speechProvider,
      listeners: fc.array(partial({ baseURL: url, apiKeySecretRef: fc.constant(kubeKey) }), { maxLength: 2 }),
      dynamicData: fc.array(fc.record({ url, headers: kubeHeaders }), { maxLength: 3 }),
    })
    .map(({ llm, fallbacks, speech, listeners, dynamicData }) =>
      agentKind.spec.parse({
        llm: {
          ...llm,
          model: 'm',
          apiKeySecretRef: kubeKey,
          fallbacks: fallbacks.map((each) => ({ provider: 'openai', model: 'm', ...each })),
        },
        speechToText: {
          provider: speech,
          apiKeySecretRef: kubeKey,
          fallbacks: listeners.map((each) => ({ provider: speech, ...each })),
        },
        textToSpeech: { provider: speech },
        dynamicData: dynamicData.map((each, index) => ({ ...each, name: `l${index}` })),
      }),
    ),
  body: partial({
    llm: partial({
      model_provider: nullable(provider),
      base_url: nullable(url),
      api_key: nullable(secret),
      fallbacks: nullable(fc.array(llmFallback, { maxLength: 3 })),
    }),
    stt: partial({
      provider: speechProvider,
      fallbacks: nullable(fc.array(fc.record({ provider: speechProvider }), { maxLength: 3 })),
    }),
    dynamic_data_config: nullable(fc.array(lookup, { maxLength: 3 })),
  }),
  encode(body, previous, secrets, found) {
    const sound = read(agentUpdate, body);
    const promptRef = () => kubeKey;
    return sound && agentFromRest(sound, previous, { objectName: 'o', secrets, loc: ['body'], promptRef, storedLongPrompt: null, found });
  },
  sendings: ({ llm, speechToText: stt, dynamicData }, valueOf) => [
    [valueOf(llm.apiKeySecretRef), `llm ${llm.provider} ${llm.baseURL === undefined ? '' : origin(llm.baseURL)}`],
    ...(llm.fallbacks ?? []).map((each): Sending => [
      valueOf(each.apiKeySecretRef),
      `llm fallback ${each.provider} ${each.baseURL === undefined ? '' : origin(each.baseURL)}`,
    ]),
    [valueOf(stt.apiKeySecretRef), `stt ${stt.provider}`],
    ...(stt.fallbacks ?? []).map((each): Sending => [valueOf(each.apiKeySecretRef), `stt fallback ${each.provider} ${each.baseURL ?? ''}`]),
    ...(dynamicData ?? []).flatMap((each) => headersTo(each.url, each.headers, valueOf)),
  ],
};

const api = (required: readonly 'endpoint'[]) =>
  fc.record({ endpoint: url, headers: nullable(headers), method: fc.constantFrom('GET', 'PUT') }, { requiredKeys: [...required] });
const customTools: Kind<ToolSpec> = {
  schema: toolKind.spec,
  start: fc
    .record({ url, headers: kubeHeaders })
    .map((http) => toolKind.spec.parse({ type: 'Custom', custom: { function: { name: 'f' }, http } })),
  body: fc.oneof(
    partial({ additional_tool_info: partial({ api: api([]) }) }),
    fc.record({ tool_id: fc.constant('t'), additional_tool_info: nullable(fc.record({ api: api(['endpoint']) })) }),
  ),
  encode(body, previous, secrets, found) {
    const sound = 'tool_id' in body ? read(inlineTool, body) : read(customToolUpdate, body);
    return sound && toolFromRest(sound, previous, { secrets, loc: ['body'], found });
  },
  sendings: ({ custom }, valueOf) => headersTo(custom?.http.url ?? '', custom?.http.headers, valueOf),
};

const mcpTools: Kind<ToolSpec> = {
  schema: toolKind.spec,
  start: fc.record({ server: url, token: url, headers: kubeHeaders }).map(({ server, token, headers: list }) =>
    toolKind.spec.parse({
      type: 'MCP',
      mcp: { url: server, headers: list, oauth: { tokenURL: token, clientID: 'c', clientSecretRef: kubeKey } },
    }),
  ),
  body: partial({
    server_url: url,
    headers: nullable(headers),
    oauth: nullable(partial({ token_url: url, client_id: fc.constantFrom('c', 'd'), client_secret: secret })),
  }),
  encode(body, previous, secrets, found) {
    const sound = read(mcpToolUpdate, body);
    return sound && toolFromRest(sound, previous, { secrets, loc: ['body'], found });
  },
  sendings({ mcp: { url: server = '', headers: list, oauth } = {} }, valueOf) {
    const clientSecret = valueOf(oauth?.clientSecretRef);
    return [
      ...headersTo(server, list, valueOf),
      ...(oauth === undefined
        ? []
        : [[clientSecret, `token ${origin(oauth.tokenURL)}`] as const, [clientSecret, `access to ${origin(server)}`] as const]),
    ];
  },
};

const mail = fc.constantFrom('a@a.example', 'a@A.example', 'b@a.example', 'a@b.example');
const sipAddress = fc.constantFrom('+15550100', '+15550199', 'sip:a@a.example', 'sip:a@b.example:5070', 'sip:a.example');
const builtinTools: Kind<ToolSpec> = {
  schema: toolKind.spec,
  start: fc
    .oneof(
      mail.map((from) => ({ type: 'SendEmail', sendEmail: { from, passwordSecretRef: kubeKey } })),
      sipAddress.map((to) => ({ type: 'TransferCall', transferCall: { to } })),
    )
    .map((each) => toolKind.spec.parse(each)),
  body: partial({ from_email: mail, app_password: secret, transfer_to: sipAddress }),
  encode(body, previous, secrets, found) {
    const type = builtinTypeOf(previous) ?? 'SendEmail';
    const { from_email, app_password, transfer_to } = body as Readonly<Record<string, string>>;
    const fields =
      type === 'SendEmail' ? { tool_name: 'send_email', from_email, app_password } : { tool_name: 'transfer_call', transfer_to };
    const sound = read<BuiltinToolUpdate>(builtinToolUpdates[type], fields);
    return sound && toolFromRest(sound, previous, { secrets, loc: ['body'], found });
  },
  sendings: ({ sendEmail, transferCall }, valueOf) => [
    ...(sendEmail === undefined
      ? []
      : [[valueOf(sendEmail.passwordSecretRef), sendEmail.from.split('@')[1]?.toLowerCase() ?? ''] as const]),
    ...(transferCall?.to.startsWith('sip:') === true ? [['the login of a trunk', transferCall.to] as const] : []),
  ],
};

const termination = fc.constantFrom('sip:a.example', 'a.example', 'sip:u@a.example', 'sips:a.example', 'sip:b.example:5070', 'b.example');
const terminations: Readonly<Record<string, string>> = { 'sip:a.example': 'a.example' };
const account = fc.constantFrom('u', 'v');
const phoneNumbers: Kind<PhoneNumberSpec> = {
  schema: phoneNumberKind.spec,
  start: fc
    .oneof(
      partial({ terminationURI: termination, username: account, passwordSecretRef: fc.constant(kubeKey) }).map((sip) => ({
        type: 'SIP',
        sip,
      })),
      partial({ accountSID: account, authTokenSecretRef: fc.constant(kubeKey) }).map((carrier) => ({ type: 'Carrier', carrier })),
    )
    .map((variant) => phoneNumberKind.spec.parse({ number: '+15550100', ...variant })),
  body: fc.record({
    sip: partial({
      sip_termination_uri: nullable(fc.oneof(termination, fc.constant(''))),
      sip_trunk_username: nullable(account),
      sip_trunk_password: nullable(secret),
    }),
    carrier: partial({ carrier_account_sid: nullable(account), carrier_auth_token: nullable(secret) }),
  }),
  encode(body, previous, secrets, found) {
    const variant = providerOf(previous);
    const sound = read<Parameters<typeof phoneNumberFromRest>[0]>(
      phoneNumberUpdates[variant],
      (body as Readonly<Record<string, object>>)[variant] ?? {},
    );
    return sound && phoneNumberFromRest(sound, previous, { secrets, loc: ['body'], found });
  },
  sendings({ sip, carrier }, valueOf) {
    const { terminationURI: uri = '', username, passwordSecretRef: password } = sip ?? {};
    const { accountSID, authTokenSecretRef: token } = carrier ?? {};
    return [
      ...(uri === '' || username === undefined || password === undefined
        ? []
        : [[valueOf(password), `${username} ${terminations[uri] ?? uri}`] as const]),
      ...(accountSID === undefined || token === undefined ? [] : [[valueOf(token), accountSID] as const]),
    ];
  },
};

const metadata = { name: 'o', namespace: 'org', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-11-21T09:00:00Z' };
const subscriptions: Kind<WebhookSubscriptionSpec> = {
  schema: webhookSubscriptionKind.spec,
  start: fc.record({ url, headers: kubeHeaders }).map((each) => webhookSubscriptionKind.spec.parse(each)),
  body: partial({ url, headers: nullable(headers), active: fc.boolean() }),
  encode(body, spec, secrets, found) {
    const sound = read(subscriptionUpdate, body);
    const stored = { apiVersion: 'parley.dev/v1beta1', kind: 'WebhookSubscription', metadata, spec };
    return sound && subscriptionFromRest(sound, stored, { loc: ['body'], secrets, eventNames: new Set(), found });
  },
  sendings: ({ url: address, headers: list = [] }, valueOf) =>
    headersTo(
      address,
      list.filter(({ name, valueFrom }) => name !== 'X-Tenant' || valueFrom?.secretKeyRef.name === kubeKey.name),
      valueOf,
    ),
};

/** Walks through requests, and throws where a value is sent somewhere that no request with the value in it has named. */
function walk<S>(kind: Kind<S>, start: S, bodies: readonly object[], mayMove: boolean): void {
  const values = new Map([[refId(kubeKey), 'kube']]);
  const given = new Map<string, Set<string>>();
  const give = ([value, to]: Sending): void => void given.set(value, new Set(given.get(value)).add(to));
  const valueOf: ValueOf = (ref) => (ref === undefined ? '' : (values.get(refId(ref)) ?? ''));
  let count = 0;
  let spec = start;
  kind.sendings(spec, valueOf).forEach(give);
  for (const body of bodies) {
    const found: ValidationIssue[] = [];
    // The Secret of a subscription has its usual name: the values in it under `headers.` came over REST.
    const secrets = new SecretWriter({ name: 'webhooksubscription-o', stored: values, mayMove, randomId: () => `r${(count += 1)}` });
    const draft = kind.encode(body, spec, secrets, found);
    const parsed = kind.schema.safeParse(draft);
    if (found.length > 0 || !parsed.success) continue;
    spec = parsed.data;
    for (const [key, value] of secrets.pending) values.set(refId({ name: 'webhooksubscription-o', key }), value);
    for (const sending of kind.sendings(spec, valueOf)) {
      const [value, to] = sending;
      if (value === '') continue;
      if (JSON.stringify(body).includes(JSON.stringify(value))) give(sending);
      if (given.get(value)?.has(to) !== true) throw new Error(`${value} was not given for ${to}`);
    }
  }
}

const kinds: readonly (readonly [string, (mayMove: boolean) => void])[] = [
  ['agents', agents],
  ['custom tools', customTools],
  ['MCP tools', mcpTools],
  ['built-in tools', builtinTools],
  ['phone numbers', phoneNumbers],
  ['webhook subscriptions', subscriptions],
].map(([name, kind]) => {
  const { start, body } = kind as Kind<unknown>;
  const check = (mayMove: boolean): void =>
    fc.assert(
      fc.property(start, fc.array(body, { minLength: 1, maxLength: 8 }), (spec, bodies) =>
        walk(kind as Kind<unknown>, spec, bodies, mayMove),
      ),
      { numRuns: 1000 },
    );
  return [name as string, check];
});

describe.each(kinds)('stored secrets of %s', (_, check) => {
  it('reach no origin that they were not given for, whatever a caller who may not read them sends in whatever order', () =>
    expect(() => check(false)).not.toThrow());

  it('go where a caller who may read them sends them', () => expect(() => check(true)).toThrow(/^Property failed/));
});

describe('a secret that would move', () => {
  const use = (origin_: SecretUse['origin']): SecretUse => ({ id: 's', loc: ['body', 'key'], origin: origin_ });
  const moved = (from: SecretUse['origin'], to: SecretUse['origin'], mayMove = false) =>
    movedSecrets([use(from)], [use(to)], new SecretWriter({ name: 's', mayMove, randomId: () => 'r' })).map(({ loc, msg }) => [loc, msg]);

  it('is refused at its own field, with what changed and the cure', () => {
    expect(moved({ a: '1', b: '2' }, { a: '1', b: '3' })).toEqual([
      [
        ['body', 'key'],
        'Value error, a change of b sends the stored secret elsewhere: send the secret itself again, or use a key with the permission secrets:read',
      ],
    ]);
    expect(moved(undefined, { a: '1' })).toHaveLength(1);
  });

  it('is one only where it goes elsewhere', () => {
    expect([moved({ a: '1' }, { a: '1' }), moved({ a: '1' }, undefined), moved({ a: '1', b: '2' }, { a: '1', b: undefined })]).toEqual([
      [],
      [],
      [],
    ]);
    expect(moved({ a: '1' }, { a: '2' }, true)).toEqual([]);
  });
});
