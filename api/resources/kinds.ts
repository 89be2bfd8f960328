/** The clients through which the facade reads and writes. */
import {
  agentKind,
  knowledgeBaseKind,
  phoneNumberKind,
  toolKind,
  webhookSubscriptionKind,
  type Agent,
  type KnowledgeBase,
  type PhoneNumber,
  type Tool,
  type WebhookSubscription,
} from '../../crds/index.ts';
import { ResourceClient } from '../../kube/resource-client.ts';
import type { Transport } from '../../kube/transport.ts';
import type { KubeObject, ResourceDescriptor } from '../../kube/types.ts';
import { manager } from '../partial/partial-update.ts';

export interface Secret extends KubeObject {
  readonly type?: string;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
}

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface Clients {
  readonly agents: ResourceClient<Agent>;
  readonly tools: ResourceClient<Tool>;
  readonly phoneNumbers: ResourceClient<PhoneNumber>;
  readonly knowledgeBases: ResourceClient<KnowledgeBase>;
  readonly webhookSubscriptions: ResourceClient<WebhookSubscription>;
  readonly secrets: ResourceClient<Secret>;
  readonly configMaps: ResourceClient<ConfigMap>;
  readonly namespaces: ResourceClient<KubeObject>;
}

const core = (kind: string, plural: string): ResourceDescriptor => ({ group: '', version: 'v1', kind, plural, namespaced: true });

export function createClients(transport: Transport): Clients {
  const client = <T extends KubeObject>(descriptor: ResourceDescriptor): ResourceClient<T> =>
    new ResourceClient<T>({ transport, descriptor, fieldManager: manager });
  return {
    agents: client<Agent>(agentKind.descriptor),
    tools: client<Tool>(toolKind.descriptor),
    phoneNumbers: client<PhoneNumber>(phoneNumberKind.descriptor),
    knowledgeBases: client<KnowledgeBase>(knowledgeBaseKind.descriptor),
    webhookSubscriptions: client<WebhookSubscription>(webhookSubscriptionKind.descriptor),
    secrets: client<Secret>(core('Secret', 'secrets')),
    configMaps: client<ConfigMap>(core('ConfigMap', 'configmaps')),
    namespaces: client<KubeObject>({ ...core('Namespace', 'namespaces'), namespaced: false }),
  };
}
