/** Makes clients for Kubernetes' own kinds. */
import { ResourceClient } from '../../kube/resource-client.ts';
import type { Transport } from '../../kube/transport.ts';
import type { KubeObject, ResourceDescriptor } from '../../kube/types.ts';
import { MANAGER } from '../partial/partial-update.ts';

export interface Secret extends KubeObject {
  readonly type?: string;
  /** Values in base64. */
  readonly data?: Readonly<Record<string, string>>;
}

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface CoreClients {
  readonly secrets: ResourceClient<Secret>;
  readonly configMaps: ResourceClient<ConfigMap>;
  readonly namespaces: ResourceClient<KubeObject>;
}

export function createClient<T extends KubeObject>(transport: Transport, descriptor: ResourceDescriptor): ResourceClient<T> {
  return new ResourceClient<T>({ transport, descriptor, fieldManager: MANAGER });
}

const core = (kind: string, plural: string): ResourceDescriptor => ({ group: '', version: 'v1', kind, plural, namespaced: true });

export function createCoreClients(transport: Transport): CoreClients {
  return {
    secrets: createClient<Secret>(transport, core('Secret', 'secrets')),
    configMaps: createClient<ConfigMap>(transport, core('ConfigMap', 'configmaps')),
    namespaces: createClient<KubeObject>(transport, { ...core('Namespace', 'namespaces'), namespaced: false }),
  };
}

export type CompanionKind = 'Secret' | 'ConfigMap';

export function companionClient({ secrets, configMaps }: CoreClients, kind: CompanionKind): ResourceClient<Secret & ConfigMap> {
  return kind === 'Secret' ? secrets : configMaps;
}
