/** Reads and writes the cluster for export and import. */
import { kinds } from '../../crds/index.ts';
import { ResourceClient, type ResourceDescriptor, type Transport } from '../../kube/index.ts';
import { withCluster } from '../cluster/connect.ts';
import { builtIn } from '../cluster/descriptors.ts';
import type { Manifest } from './portable.ts';

/** Every kind that is exported and imported, in the order of a file: what others refer to comes first, tests before what they hold back. */
export const descriptors: readonly ResourceDescriptor[] = [
  builtIn.configMaps,
  builtIn.secrets,
  ...['KnowledgeBase', 'AgentTest', 'Agent', 'Tool', 'PhoneNumber', 'WebhookSubscription'].flatMap((kind) =>
    kinds.filter(({ descriptor }) => descriptor.kind === kind).map(({ descriptor }) => descriptor),
  ),
];

export function clientFor(transport: Transport, descriptor: ResourceDescriptor, fieldManager: string): ResourceClient<Manifest> {
  return new ResourceClient<Manifest>({ transport, descriptor, fieldManager });
}

/** Connects for a command that reads and writes all objects of an organisation. */
export function withOrganizationObjects<T>(use: (transport: Transport) => Promise<T>): Promise<T> {
  const forbiddenCure = 'use a kubeconfig whose user may read and write the objects of this organisation, Secrets and ConfigMaps included';
  return withCluster({ forbiddenCure }, ({ transport }) => use(transport));
}
