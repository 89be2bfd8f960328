/** The informers of the operator: the six kinds, in the whole cluster or in one namespace, and the namespaces that are organisations. */
import type { Registry } from 'prom-client';

import {
  agentKind,
  agentTestKind,
  knowledgeBaseKind,
  phoneNumberKind,
  subscriptionNameOf,
  toolKind,
  webhookSubscriptionKind,
  wellKnown,
  type Agent,
  type AgentTest,
  type KnowledgeBase,
  type PhoneNumber,
  type Tool,
  type WebhookSubscription,
} from '../crds/index.ts';
import {
  createInformer,
  fixedInformer,
  ResourceClient,
  type IndexFunction,
  type Informer,
  type KubeObject,
  type ResourceDescriptor,
  type Stored,
  type Transport,
} from '../kube/index.ts';
import type { Logger } from '../platform/logging.ts';
import { displayNameOf, type ObjectLookups } from './references/cluster-snapshot.ts';
import { referenceIndex, referenceKey, type ParleyObject } from './references/references-of.ts';
import { FIELD_MANAGER } from './runtime/namespace-informers.ts';

export interface ObjectsByKind {
  readonly Agent: Agent;
  readonly Tool: Tool;
  readonly PhoneNumber: PhoneNumber;
  readonly KnowledgeBase: KnowledgeBase;
  readonly WebhookSubscription: WebhookSubscription;
  readonly AgentTest: AgentTest;
}

export type KindName = keyof ObjectsByKind;

export type Informers = { readonly [K in KindName]: Informer<ObjectsByKind[K]> };

export type KindClients = { readonly [K in KindName]: ResourceClient<ObjectsByKind[K]> };

export const INDEXES = { references: 'references', namespace: 'namespace', number: 'number', displayName: 'displayName' } as const;

const NAMESPACE_DESCRIPTOR: ResourceDescriptor = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

interface InformersOptions {
  readonly logger: Logger;
  readonly registry: Registry;
  /** The only namespace to watch, which is an organisation then; all of them where undefined. */
  readonly namespace: string | undefined;
}

export function createClients(transport: Transport): KindClients {
  const client = <T extends KubeObject>(kind: { readonly descriptor: ResourceDescriptor }): ResourceClient<T> =>
    new ResourceClient<T>({ transport, descriptor: kind.descriptor, fieldManager: FIELD_MANAGER });
  return {
    Agent: client<Agent>(agentKind),
    Tool: client<Tool>(toolKind),
    PhoneNumber: client<PhoneNumber>(phoneNumberKind),
    KnowledgeBase: client<KnowledgeBase>(knowledgeBaseKind),
    WebhookSubscription: client<WebhookSubscription>(webhookSubscriptionKind),
    AgentTest: client<AgentTest>(agentTestKind),
  };
}

/** Key of the display name index. A namespace holds no slash. */
export function displayNameKey(namespace: string | undefined, displayName: string): string {
  return `${namespace ?? ''}/${displayName}`;
}

export function createInformers(clients: KindClients, { logger, registry, namespace }: InformersOptions): Informers {
  const informer = <T extends KubeObject & ParleyObject>(
    client: ResourceClient<T>,
    index: Readonly<Record<string, IndexFunction<Stored<T>>>> = {},
  ): Informer<T> =>
    createInformer<T>({
      client,
      indexes: {
        [INDEXES.references]: (object) => referenceIndex(object),
        [INDEXES.namespace]: ({ metadata }) => [metadata.namespace ?? ''],
        ...index,
      },
      logger,
      registry,
      ...(namespace !== undefined && { namespace }),
    });
  return {
    Agent: informer(clients.Agent),
    Tool: informer(clients.Tool),
    PhoneNumber: informer(clients.PhoneNumber, { [INDEXES.number]: ({ spec }) => [spec.number] }),
    KnowledgeBase: informer(clients.KnowledgeBase, {
      [INDEXES.displayName]: (object) => [displayNameKey(object.metadata.namespace, displayNameOf(object))],
    }),
    WebhookSubscription: informer(clients.WebhookSubscription, {
      [INDEXES.displayName]: (object) => [displayNameKey(object.metadata.namespace, subscriptionNameOf(object))],
    }),
    AgentTest: informer(clients.AgentTest),
  };
}

/** Watches only namespaces with the label of an organisation. */
export function createOrganizationInformer(transport: Transport, { logger, registry, namespace }: InformersOptions): Informer<KubeObject> {
  // Namespaces belong to the cluster: permission to read a single one doesn't allow to watch it.
  if (namespace !== undefined) return fixedInformer<KubeObject>([onlyNamespace(namespace)]);
  return createInformer<KubeObject>({
    client: new ResourceClient<KubeObject>({
      transport,
      descriptor: NAMESPACE_DESCRIPTOR,
      fieldManager: FIELD_MANAGER,
      metadataOnly: true,
    }),
    labelSelector: `${wellKnown.organizationLabel}=true`,
    logger,
    registry,
  });
}

/** Stands for the namespace that the operator itself runs in, whose deletion ends the operator, too. */
function onlyNamespace(name: string): Stored<KubeObject> {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      uid: name,
      resourceVersion: '1',
      creationTimestamp: '1970-01-01T00:00:00Z',
      labels: { [wellKnown.organizationLabel]: 'true' },
    },
  };
}

export function lookupsOf(informers: Informers, organizations: Informer<KubeObject>): ObjectLookups {
  const {
    Agent: agents,
    Tool: tools,
    PhoneNumber: numbers,
    KnowledgeBase: bases,
    WebhookSubscription: subscriptions,
    AgentTest: tests,
  } = informers;
  return {
    isOrganization: (namespace) => organizations.cache.get(namespace) !== undefined,
    agent: (namespace, name) => agents.cache.get(`${namespace}/${name}`),
    knowledgeBase: (namespace, name) => bases.cache.get(`${namespace}/${name}`),
    toolsOf: (namespace, agent) => tools.cache.byIndex(INDEXES.references, referenceKey('Agent', namespace, agent)),
    testsOf: (namespace, agent) => tests.cache.byIndex(INDEXES.references, referenceKey('Agent', namespace, agent)),
    phoneNumbersWith: (number) => numbers.cache.byIndex(INDEXES.number, number),
    knowledgeBasesNamed: (namespace, name) => bases.cache.byIndex(INDEXES.displayName, displayNameKey(namespace, name)),
    subscriptionsNamed: (namespace, name) => subscriptions.cache.byIndex(INDEXES.displayName, displayNameKey(namespace, name)),
  };
}
