/** Generates what can be in a cluster for property tests: objects as the API server would store them, Secrets and ConfigMaps. */
import * as fc from 'fast-check';

import {
  agentKind,
  agentTestKind,
  API_VERSION,
  knowledgeBaseKind,
  phoneNumberKind,
  toolKind,
  webhookSubscriptionKind,
  type KindDefinition,
} from '../../crds/index.ts';
import type { DataEntry } from '../../operator/references/memory-snapshot.ts';
import type { ParleyObject } from '../../operator/references/references-of.ts';

/** Something that arrives in the cluster: one of the six kinds, or a Secret or ConfigMap. */
export type Thing =
  | { readonly type: 'object'; readonly object: ParleyObject }
  | { readonly type: 'Secret' | 'ConfigMap'; readonly entry: DataEntry };

const definitions: Readonly<Record<string, KindDefinition>> = {
  Agent: agentKind,
  Tool: toolKind,
  PhoneNumber: phoneNumberKind,
  KnowledgeBase: knowledgeBaseKind,
  WebhookSubscription: webhookSubscriptionKind,
  AgentTest: agentTestKind,
};

export interface ObjectOptions {
  readonly namespace?: string;
  readonly uid?: string;
  readonly creationTimestamp?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Returns an object as the API server would store it: with defaults filled in. */
export function storedObject(
  kind: string,
  name: string,
  spec: object,
  { namespace = 'acme', uid, creationTimestamp = '2026-01-01T00:00:00Z', metadata }: ObjectOptions = {},
): ParleyObject {
  const definition = definitions[kind];
  if (definition === undefined) throw new Error(`no kind ${kind}`);
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: {
      name,
      namespace,
      uid: uid ?? `uid-${kind}-${namespace}-${name}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp,
      ...metadata,
    },
    spec: definition.spec.parse(spec),
  } as unknown as ParleyObject;
}

const names = ['alpha', 'beta'] as const;
const name = fc.constantFrom(...names);
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const keyRef = fc.record({ name, key: fc.constantFrom('k1', 'k2') });
const headers = fc.uniqueArray(fc.record({ name: fc.constantFrom('x-one', 'x-two'), valueFrom: fc.record({ secretKeyRef: keyRef }) }), {
  selector: (header) => header.name,
  maxLength: 2,
});
const agentRefs = fc.uniqueArray(fc.record({ name }), { selector: (ref) => ref.name, maxLength: 2 });
const suspend = maybe(fc.boolean());
const displayName = maybe(fc.constantFrom('One', 'Two'));

const specs: Readonly<Record<string, fc.Arbitrary<object>>> = {
  Agent: fc
    .record({
      suspend,
      language: fc.constantFrom('en-US', 'de', 'en-US-oxendict-x'),
      llm: fc.record({
        provider: fc.constantFrom('openai', 'groq'),
        model: fc.constant('m'),
        apiKeySecretRef: maybe(keyRef),
        systemPromptFrom: maybe(fc.record({ configMapKeyRef: keyRef })),
      }),
      knowledgeBaseRef: maybe(fc.record({ name })),
      handoffs: maybe(
        fc.uniqueArray(fc.record({ agentRef: fc.record({ name }), when: fc.constant('it suits') }), {
          selector: ({ agentRef }) => agentRef.name,
          maxLength: 2,
        }),
      ),
    })
    .map((spec) => Object.assign(spec, { speechToText: { provider: 'deepgram' }, textToSpeech: { provider: 'elevenlabs' } })),
  Tool: fc.oneof(
    fc.record({
      suspend,
      agentRefs,
      type: fc.constant('Custom'),
      custom: fc.record({
        function: fc.record({
          name: fc.constantFrom('find', 'send_email'),
          parameters: fc.constantFrom({ type: 'object' }, { type: 'nothing' }),
        }),
        http: fc.record({ url: fc.constant('https://api.example.com/'), headers }),
      }),
    }),
    fc.record({
      suspend,
      agentRefs,
      type: fc.constant('SendEmail'),
      sendEmail: fc.record({ from: fc.constant('a@example.com'), passwordSecretRef: keyRef }),
    }),
  ),
  PhoneNumber: fc
    .record({
      suspend,
      number: fc.constantFrom('+15550100', '+15550101'),
      inboundAgentRef: maybe(fc.record({ name })),
      secret: maybe(keyRef),
    })
    .map(({ secret, ...spec }) =>
      Object.assign(spec, { type: 'SIP', sip: secret === undefined ? {} : { username: 'u', passwordSecretRef: secret } }),
    ),
  KnowledgeBase: fc
    .record({
      suspend,
      displayName,
      profile: fc.constantFrom('default', 'default', 'missing', 'other'),
      source: maybe(keyRef),
      website: fc.boolean(),
      deletionPolicy: fc.constantFrom('Retain', 'Delete'),
    })
    .map(({ profile, source, website, ...spec }) =>
      Object.assign(spec, {
        embedding: { profile },
        sources: [
          ...(source === undefined ? [] : [{ name: 's', type: 'ConfigMap', configMap: source }]),
          ...(website ? [{ name: 'w', type: 'Website', website: { urls: ['https://example.com/'] } }] : []),
        ],
      }),
    ),
  WebhookSubscription: fc
    .record({
      suspend,
      displayName,
      headers,
      signing: maybe(
        fc.oneof(fc.constant({ mode: 'Generated' }), fc.record({ mode: fc.constant('Secret'), secretRef: fc.record({ name }) })),
      ),
      scope: maybe(fc.record({ type: fc.constant('AgentRefs'), agentRefs: agentRefs.filter((refs) => refs.length > 0) })),
    })
    .map((spec) => Object.assign(spec, { url: 'https://hooks.example.com/' })),
  AgentTest: fc
    .record({
      suspend,
      agentRefs: agentRefs.filter((refs) => refs.length > 0),
      required: fc.boolean(),
      judge: maybe(
        fc.record({
          provider: fc.constant('openai'),
          model: fc.constant('m'),
          baseURL: maybe(fc.constantFrom('https://api.example.com', 'https://[')),
          apiKeySecretRef: maybe(keyRef),
        }),
      ),
    })
    .map((spec) => Object.assign(spec, { type: 'Conversation', conversation: [{ type: 'User', user: 'Hello' }] })),
};

/** Gives a number to one of two organisations, because which of them has it depends on who came first. */
function ofOrganization(namespace: string, spec: object): object {
  return 'number' in spec && namespace === 'globex' ? { ...spec, number: `${String(spec.number)}9` } : spec;
}

const objectThing: fc.Arbitrary<Thing> = fc
  .tuple(
    fc.constantFrom(...Object.keys(specs)),
    fc.constantFrom('acme', 'globex', 'not-an-organization'),
    name,
    fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
  )
  .chain(([kind, namespace, objectName, creationTimestamp]) =>
    specs[kind]!.map((spec): Thing => ({
      type: 'object',
      object: storedObject(kind, objectName, ofOrganization(namespace, JSON.parse(JSON.stringify(spec)) as object), {
        namespace,
        creationTimestamp,
      }),
    })),
  );

const keyedThing: fc.Arbitrary<Thing> = fc
  .record({
    type: fc.constantFrom('Secret' as const, 'ConfigMap' as const),
    namespace: fc.constantFrom('acme', 'globex'),
    name,
    keys: fc.uniqueArray(fc.constantFrom('k1', 'k2', 'current'), { minLength: 1 }),
  })
  .map(({ type, namespace, name: entryName, keys }) => ({
    type,
    entry: {
      namespace,
      name: entryName,
      uid: `uid-${entryName}`,
      resourceVersion: '1',
      keys,
      ...(type === 'ConfigMap' && { data: Object.fromEntries(keys.map((each) => [each, `text of ${each}`])) }),
    },
  }));

/** Returns an id that identifies a thing in the cluster. */
export const idOf = (thing: Thing): string =>
  thing.type === 'object'
    ? `${thing.object.kind}/${thing.object.metadata.namespace}/${thing.object.metadata.name}`
    : `${thing.type}/${thing.entry.namespace}/${thing.entry.name}`;

/** Generates a cluster's contents, each thing once. */
export const things: fc.Arbitrary<readonly Thing[]> = fc.uniqueArray(
  fc.oneof({ weight: 3, arbitrary: objectThing }, { weight: 2, arbitrary: keyedThing }),
  { selector: idOf, maxLength: 16 },
);
