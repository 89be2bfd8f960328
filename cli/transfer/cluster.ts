/** How export and import reach the cluster, and how they speak of it when they don't. */
import { kinds } from '../../crds/index.ts';
import { createTransport, KubeError, loadKubeConfig, ResourceClient, type ResourceDescriptor, type Transport } from '../../kube/index.ts';
import { UserError } from '../../platform/user-error.ts';
import type { Manifest } from './portable.ts';

const core = (kind: string, plural: string): ResourceDescriptor => ({ group: '', version: 'v1', kind, plural, namespaced: true });

export const configMapDescriptor = core('ConfigMap', 'configmaps');
export const secretDescriptor = core('Secret', 'secrets');

/** Everything that is exported and imported, in the order of a file: what others refer to comes first. */
export const descriptors: readonly ResourceDescriptor[] = [
  configMapDescriptor,
  secretDescriptor,
  ...['KnowledgeBase', 'Agent', 'Tool', 'PhoneNumber', 'WebhookSubscription'].flatMap((kind) =>
    kinds.filter(({ descriptor }) => descriptor.kind === kind).map(({ descriptor }) => descriptor),
  ),
];

export function clientFor(transport: Transport, descriptor: ResourceDescriptor, fieldManager: string): ResourceClient<Manifest> {
  return new ResourceClient<Manifest>({ transport, descriptor, fieldManager });
}

/** Connects for one command. Failures come as a {@link UserError} with a cure. */
export async function withCluster<T>(use: (transport: Transport) => Promise<T>): Promise<T> {
  const transport = createTransport({ kubeConfig: loadKubeConfig() });
  try {
    return await use(transport);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    throw new UserError(`the Kubernetes API at ${transport.server} answered: ${error.message}`, {
      cure:
        error.code === 403
          ? 'use a kubeconfig whose user may read and write the objects of this organisation, Secrets and ConfigMaps included'
          : 'set KUBECONFIG to a cluster that runs; with the local stack: eval "$(parley env)"',
      cause: error,
    });
  } finally {
    await transport.close();
  }
}
