/** Describes the built-in kinds that these tests write. */
import type { ConfigMap } from '../../../api/resources/core-clients.ts';
import type { ResourceDescriptor } from '../../../kube/index.ts';

export const namespaces: ResourceDescriptor = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
export const configMaps: ResourceDescriptor = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
export const secrets: ResourceDescriptor = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };

export const configMap = (namespace: string, name: string, value: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name },
  data: { value },
});
