/** The Kubernetes half of an organisation: a namespace with the label. */
import { wellKnown } from '../crds/index.ts';
import { createTransport, KubeError, loadKubeConfig, ResourceClient, type KubeObject } from '../kube/index.ts';
import { UserError } from '../platform/user-error.ts';

const namespaceKind = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false } as const;

/** Manager of the label. A namespace that somebody else made keeps its other fields and their owners. */
const FIELD_MANAGER = 'parley-cli';

export interface OrganizationNamespaces {
  /** Makes the namespace or labels the one that is there. Idempotent. */
  ensure(name: string): Promise<void>;
  /** Names of the namespaces with the label, sorted. */
  list(): Promise<readonly string[]>;
}

/** Connects for one command. Failures come as a {@link UserError} with a cure. */
export async function withNamespaces<T>(use: (namespaces: OrganizationNamespaces) => Promise<T>): Promise<T> {
  let api = 'the Kubernetes API';
  try {
    const transport = createTransport({ kubeConfig: loadKubeConfig() });
    api = `the Kubernetes API at ${transport.server}`;
    try {
      return await use(
        organizationNamespaces(new ResourceClient<KubeObject>({ transport, descriptor: namespaceKind, fieldManager: FIELD_MANAGER })),
      );
    } finally {
      await transport.close();
    }
  } catch (error) {
    throw explain(error, api);
  }
}

function organizationNamespaces(client: ResourceClient<KubeObject>): OrganizationNamespaces {
  return {
    async ensure(name) {
      if (name.startsWith('kube-')) {
        throw new UserError(`"${name}" can't be an organisation: names with kube- belong to Kubernetes`, { cure: 'choose another name' });
      }
      const stored = await client.apply({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name, labels: { [wellKnown.organizationLabel]: 'true' } },
      });
      if (stored.metadata.deletionTimestamp !== undefined) {
        throw new UserError(`namespace "${name}" is being deleted`, {
          cure: `wait until it is gone (kubectl wait --for=delete namespace/${name}), then try again`,
        });
      }
    },
    async list() {
      const { items } = await client.listAll({ labelSelector: `${wellKnown.organizationLabel}=true` });
      return items.map(({ metadata }) => metadata.name).sort();
    },
  };
}

function explain(error: unknown, api: string): unknown {
  if (!(error instanceof KubeError)) return error;
  if (error.code === 0 || error.code === 401) {
    return new UserError(`${api} can't be used: ${error.message}`, {
      cure: 'set KUBECONFIG to a cluster that runs; with the local stack: eval "$(parley env)"',
      cause: error,
    });
  }
  if (error.code === 403) {
    return new UserError(`${api} refused: ${error.message}`, {
      cure: 'use a kubeconfig whose user may create and patch namespaces',
      cause: error,
    });
  }
  if (error.ownershipConflict) {
    return new UserError(`the label ${wellKnown.organizationLabel} has another owner and another value: ${error.message}`, {
      cure: `set ${wellKnown.organizationLabel}=true where that owner keeps the namespace`,
      cause: error,
    });
  }
  return new UserError(error.message, { cause: error });
}
