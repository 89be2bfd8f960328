/** The informers behind every decision: the five kinds, in the whole cluster or in one namespace, and the namespaces that are organisations. */
import type { Registry } from 'prom-client';

import {
  agentKind,
  knowledgeBaseKind,
  phoneNumberKind,
  subscriptionNameOf,
  toolKind,
  webhookSubscriptionKind,
  wellKnown,
  type Agent,
  type KnowledgeBase,
  type PhoneNumber,
  type Tool,
  type WebhookSubscription,
} from '../crds/index.ts';
import {
  createInformer,
  fixedInformer,
  ResourceClient,
  type Informer,
  type KubeObject,
  type ResourceDescriptor,
  type Stored,
  type Transport,
} from '../kube/index.ts';
import type { Logger } from '../platform/logging.ts';
import { referenceIndex, type ParleyObject } from './references/references-of.ts';
import { displayNameOf } from './references/cluster-snapshot.ts';

export const FIELD_MANAGER = 'parley-operator';

const namespaceDescriptor: ResourceDescriptor = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

/** Names of the indexes. */
export const indexNames = { references: 'references', namespace: 'namespace', number: 'number', displayName: 'displayName' } as const;

export interface Clients {
  readonly agents: ResourceClient<Agent>;
  readonly tools: ResourceClient<Tool>;
  readonly phoneNumbers: ResourceClient<PhoneNumber>;
  readonly knowledgeBases: ResourceClient<KnowledgeBase>;
  readonly subscriptions: ResourceClient<WebhookSubscription>;
}

export interface Caches {
  readonly agents: Informer<Agent>;
  readonly tools: Informer<Tool>;
  readonly phoneNumbers: Informer<PhoneNumber>;
  readonly knowledgeBases: Informer<KnowledgeBase>;
  readonly subscriptions: Informer<WebhookSubscription>;
  /** Only namespaces with the label of an organisation. */
  readonly organizations: Informer<KubeObject>;
}

export interface CachesOptions {
  readonly transport: Transport;
  readonly logger: Logger;
  readonly registry: Registry;
  /** The only namespace to look at, which is an organisation then; all of them where undefined. */
  readonly namespace: string | undefined;
}

export function createClients(transport: Transport): Clients {
  const client = <T extends KubeObject>(kind: { readonly descriptor: ResourceDescriptor }): ResourceClient<T> =>
    new ResourceClient<T>({ transport, descriptor: kind.descriptor, fieldManager: FIELD_MANAGER });
  return {
    agents: client<Agent>(agentKind),
    tools: client<Tool>(toolKind),
    phoneNumbers: client<PhoneNumber>(phoneNumberKind),
    knowledgeBases: client<KnowledgeBase>(knowledgeBaseKind),
    subscriptions: client<WebhookSubscription>(webhookSubscriptionKind),
  };
}

const byNamespace = (object: KubeObject): readonly string[] => [object.metadata.namespace ?? ''];
const byReference = (object: ParleyObject): readonly string[] => referenceIndex(object);
const byDisplayName = (object: KnowledgeBase): readonly string[] => [
  displayNameKey(object.metadata.namespace ?? '', displayNameOf(object)),
];
const bySubscriptionName = (object: WebhookSubscription): readonly string[] => [
  displayNameKey(object.metadata.namespace ?? '', subscriptionNameOf(object)),
];

/** Key of the display name index. A namespace holds no slash. */
export function displayNameKey(namespace: string, displayName: string): string {
  return `${namespace}/${displayName}`;
}

export function createCaches(clients: Clients, { transport, logger, registry, namespace }: CachesOptions): Caches {
  const shared = { logger, registry, ...(namespace !== undefined && { namespace }) };
  const common = { [indexNames.references]: byReference, [indexNames.namespace]: byNamespace };
  return {
    agents: createInformer<Agent>({ client: clients.agents, indexes: common, ...shared }),
    tools: createInformer<Tool>({ client: clients.tools, indexes: common, ...shared }),
    phoneNumbers: createInformer<PhoneNumber>({
      client: clients.phoneNumbers,
      indexes: { ...common, [indexNames.number]: (object) => [object.spec.number] },
      ...shared,
    }),
    knowledgeBases: createInformer<KnowledgeBase>({
      client: clients.knowledgeBases,
      indexes: { ...common, [indexNames.displayName]: byDisplayName },
      ...shared,
    }),
    subscriptions: createInformer<WebhookSubscription>({
      client: clients.subscriptions,
      indexes: { ...common, [indexNames.displayName]: bySubscriptionName },
      ...shared,
    }),
    organizations:
      namespace === undefined
        ? createInformer<KubeObject>({
            client: new ResourceClient<KubeObject>({
              transport,
              descriptor: namespaceDescriptor,
              fieldManager: FIELD_MANAGER,
              metadataOnly: true,
            }),
            labelSelector: `${wellKnown.organizationLabel}=true`,
            logger,
            registry,
          })
        : // Namespaces belong to the cluster: who may look at one of them only may not watch it.
          fixedInformer<KubeObject>([onlyNamespace(namespace)]),
  };
}

/** Stands for the namespace that the operator itself runs in: it can't go without taking the operator along. */
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
