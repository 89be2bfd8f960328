import type { Transport } from '../../kube/transport.ts';
import { apiVersionOf, type KubeObject, type ResourceDescriptor, type Stored } from '../../kube/types.ts';
import { MANAGER } from '../partial/partial-update.ts';

export interface MergePatchTarget {
  readonly descriptor: ResourceDescriptor;
  readonly namespace: string;
  readonly name: string;
}

/**
 * JSON merge patch: single keys of an object come, change and (with null) go, whatever happens to the others meanwhile.
 * With `metadata.resourceVersion` in the patch only the very state that was read.
 */
export function mergePatch<T extends KubeObject>(
  transport: Transport,
  { descriptor, namespace, name }: MergePatchTarget,
  patch: unknown,
  options: { readonly dryRun?: boolean } = {},
): Promise<Stored<T>> {
  const root = descriptor.group === '' ? '/api' : '/apis';
  return transport.request<Stored<T>>({
    method: 'PATCH',
    path: `${root}/${apiVersionOf(descriptor)}/namespaces/${encodeURIComponent(namespace)}/${descriptor.plural}/${encodeURIComponent(name)}`,
    query: { fieldManager: MANAGER, ...(options.dryRun && { dryRun: 'All' }) },
    contentType: 'application/merge-patch+json',
    body: patch,
    idempotent: true,
  });
}
