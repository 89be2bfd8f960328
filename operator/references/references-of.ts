/** Finds the objects of its namespace that an object refers to. Pure, and the only place that knows where specs hold references. */
import {
  companionName,
  type Agent,
  type AgentTest,
  type KnowledgeBase,
  type PhoneNumber,
  type Tool,
  type WebhookSubscription,
} from '../../crds/index.ts';

export type ReferenceKind = 'Secret' | 'ConfigMap' | 'Agent' | 'KnowledgeBase';

export interface Reference {
  readonly kind: ReferenceKind;
  readonly name: string;
  /** Key within a Secret or ConfigMap. */
  readonly key?: string;
  /** Path of the reference in the spec, e.g. `spec.llm.apiKeySecretRef`. */
  readonly field: string;
}

/** Any object of the six kinds. */
export type ParleyObject = Agent | Tool | PhoneNumber | KnowledgeBase | WebhookSubscription | AgentTest;

interface KeyRef {
  readonly name: string;
  readonly key: string;
}

interface Header {
  readonly name: string;
  readonly valueFrom?: { readonly secretKeyRef: KeyRef } | undefined;
}

const secret = (ref: KeyRef | undefined, field: string): Reference[] =>
  ref === undefined ? [] : [{ kind: 'Secret', ...pick(ref), field }];
const configMap = (ref: KeyRef | undefined, field: string): Reference[] =>
  ref === undefined ? [] : [{ kind: 'ConfigMap', ...pick(ref), field }];
const local = (kind: 'Agent' | 'KnowledgeBase', ref: { readonly name: string } | undefined, field: string): Reference[] =>
  ref === undefined ? [] : [{ kind, name: ref.name, field }];
const headers = (list: readonly Header[] | undefined, field: string): Reference[] =>
  (list ?? []).flatMap((header) => secret(header.valueFrom?.secretKeyRef, `${field}[${header.name}].valueFrom.secretKeyRef`));

interface Provided {
  readonly apiKeySecretRef?: KeyRef | undefined;
}

const providerKeys = (part: Provided & { readonly fallbacks?: readonly Provided[] | undefined }, field: string): Reference[] => [
  ...secret(part.apiKeySecretRef, `${field}.apiKeySecretRef`),
  ...(part.fallbacks ?? []).flatMap((fallback, index) => secret(fallback.apiKeySecretRef, `${field}.fallbacks[${index}].apiKeySecretRef`)),
];

function pick(ref: KeyRef): KeyRef {
  return { name: ref.name, key: ref.key };
}

export function agentReferences({ spec }: Pick<Agent, 'spec'>): readonly Reference[] {
  return [
    ...providerKeys(spec.llm, 'spec.llm'),
    ...configMap(spec.llm.systemPromptFrom?.configMapKeyRef, 'spec.llm.systemPromptFrom.configMapKeyRef'),
    ...providerKeys(spec.realtime ?? {}, 'spec.realtime'),
    ...providerKeys(spec.speechToText, 'spec.speechToText'),
    ...providerKeys(spec.textToSpeech, 'spec.textToSpeech'),
    ...local('KnowledgeBase', spec.knowledgeBaseRef, 'spec.knowledgeBaseRef'),
    ...(spec.handoffs ?? []).flatMap(({ agentRef }, index) => local('Agent', agentRef, `spec.handoffs[${index}].agentRef`)),
    ...(spec.dynamicData ?? []).flatMap((item) => headers(item.headers, `spec.dynamicData[${item.name}].headers`)),
  ];
}

/** Returns what a tool needs to run, without the agents it attaches itself to. */
export function toolCredentials({ spec }: Pick<Tool, 'spec'>): readonly Reference[] {
  return [
    ...headers(spec.custom?.http.headers, 'spec.custom.http.headers'),
    ...headers(spec.mcp?.headers, 'spec.mcp.headers'),
    ...secret(spec.mcp?.oauth?.clientSecretRef, 'spec.mcp.oauth.clientSecretRef'),
    ...secret(spec.sendEmail?.passwordSecretRef, 'spec.sendEmail.passwordSecretRef'),
    ...secret(spec.bookCalendar?.apiKeySecretRef, 'spec.bookCalendar.apiKeySecretRef'),
    ...secret(spec.checkCalendarAvailability?.apiKeySecretRef, 'spec.checkCalendarAvailability.apiKeySecretRef'),
  ];
}

export function toolReferences(tool: Pick<Tool, 'spec'>): readonly Reference[] {
  return [...toolCredentials(tool), ...(tool.spec.agentRefs ?? []).flatMap((ref) => local('Agent', ref, 'spec.agentRefs'))];
}

export function phoneNumberReferences({ spec }: Pick<PhoneNumber, 'spec'>): readonly Reference[] {
  return [
    ...local('Agent', spec.inboundAgentRef, 'spec.inboundAgentRef'),
    ...local('Agent', spec.outboundAgentRef, 'spec.outboundAgentRef'),
    ...secret(spec.sip?.passwordSecretRef, 'spec.sip.passwordSecretRef'),
    ...secret(spec.carrier?.authTokenSecretRef, 'spec.carrier.authTokenSecretRef'),
  ];
}

export function knowledgeBaseReferences({ spec }: Pick<KnowledgeBase, 'spec'>): readonly Reference[] {
  return (spec.sources ?? []).flatMap((source) => configMap(source.configMap, `spec.sources[${source.name}].configMap`));
}

/** The key under which a subscription's current signing secret is kept. */
export const SIGNING_KEY = 'current';

/** Returns all references but the Secret that the operator generates by itself. */
export function webhookSubscriptionReferences({ spec }: Pick<WebhookSubscription, 'spec'>): readonly Reference[] {
  const signing = spec.signing.secretRef;
  return [
    ...headers(spec.headers, 'spec.headers'),
    ...(signing === undefined ? [] : secret({ name: signing.name, key: SIGNING_KEY }, 'spec.signing.secretRef')),
    ...(spec.scope?.agentRefs ?? []).flatMap((ref) => local('Agent', ref, 'spec.scope.agentRefs')),
  ];
}

export function agentTestReferences({ spec }: Pick<AgentTest, 'spec'>): readonly Reference[] {
  return [
    ...spec.agentRefs.flatMap((ref) => local('Agent', ref, 'spec.agentRefs')),
    ...secret(spec.judge?.apiKeySecretRef, 'spec.judge.apiKeySecretRef'),
    ...secret(spec.simulatedUser?.llm?.apiKeySecretRef, 'spec.simulatedUser.llm.apiKeySecretRef'),
  ];
}

/** Returns the name of the Secret that is generated with the mode Generated; undefined with any other. */
export function generatedSigningSecret(subscription: Pick<WebhookSubscription, 'spec' | 'metadata'>): string | undefined {
  const { metadata, spec } = subscription;
  return spec.signing.mode === 'Generated' ? companionName('WebhookSubscription', metadata.name) : undefined;
}

/** Returns every reference of an object of any of the six kinds, including the Secret the operator generates for it. */
export function referencesOf(object: ParleyObject): readonly Reference[] {
  switch (object.kind) {
    case 'Agent':
      return agentReferences(object as Agent);
    case 'Tool':
      return toolReferences(object as Tool);
    case 'PhoneNumber':
      return phoneNumberReferences(object as PhoneNumber);
    case 'KnowledgeBase':
      return knowledgeBaseReferences(object as KnowledgeBase);
    case 'WebhookSubscription': {
      const subscription = object as WebhookSubscription;
      const generated = generatedSigningSecret(subscription);
      return [
        ...webhookSubscriptionReferences(subscription),
        ...(generated === undefined ? [] : secret({ name: generated, key: SIGNING_KEY }, 'spec.signing')),
      ];
    }
    case 'AgentTest':
      return agentTestReferences(object as AgentTest);
    default:
      return [];
  }
}

export function referenceKey(kind: ReferenceKind, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}

/** Indexes each object under everything it refers to. */
export function referenceIndex(object: ParleyObject): readonly string[] {
  const namespace = object.metadata.namespace ?? '';
  return [...new Set(referencesOf(object).map((reference) => referenceKey(reference.kind, namespace, reference.name)))];
}
