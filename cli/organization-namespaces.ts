/** Keeps the Kubernetes half of an organisation: a namespace with the label. */
import { wellKnown } from '../crds/index.ts';
import { KubeError, ResourceClient, type KubeObject } from '../kube/index.ts';
import { UserError } from '../platform/user-error.ts';
import { FIELD_MANAGER, withCluster } from './cluster/connect.ts';
import { builtIn } from './cluster/descriptors.ts';

export interface OrganizationNamespaces {
  /** Creates the namespace or labels the existing one, whose other fields keep their owners. Idempotent. */
  ensure(name: string): Promise<void>;
  /** Creates the namespace, where it is missing, without the label: the roles don't look at it yet. */
  prepare(name: string): Promise<void>;
  exists(name: string): Promise<boolean>;
  /** Returns the names of the namespaces with the label, sorted. */
  list(): Promise<readonly string[]>;
}

/** Connects for one command. Failures come as a {@link UserError} with a cure. */
export function withNamespaces<T>(use: (namespaces: OrganizationNamespaces) => Promise<T>): Promise<T> {
  return withCluster({ forbiddenCure: 'use a kubeconfig whose user may create and patch namespaces' }, ({ transport }) =>
    use(organizationNamespaces(new ResourceClient<KubeObject>({ transport, descriptor: builtIn.namespaces, fieldManager: FIELD_MANAGER }))),
  );
}

function organizationNamespaces(client: ResourceClient<KubeObject>): OrganizationNamespaces {
  return {
    async ensure(name) {
      if (name.startsWith('kube-')) {
        throw new UserError(`"${name}" can't be an organisation: names with kube- belong to Kubernetes`, { cure: 'choose another name' });
      }
      const labels = { [wellKnown.organizationLabel]: 'true' };
      const stored = await client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }).catch((error: unknown) => {
        if (!(error instanceof KubeError && error.ownershipConflict)) throw error;
        throw new UserError(`the label ${wellKnown.organizationLabel} has another owner and another value: ${error.message}`, {
          cure: `set ${wellKnown.organizationLabel}=true where that owner keeps the namespace`,
          cause: error,
        });
      });
      requireStaying(stored);
    },
    async prepare(name) {
      const made = await client.applyNew({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }).catch((error: unknown) => {
        if (!(error instanceof KubeError && error.staleConflict)) throw error;
        return client.get({ name });
      });
      requireStaying(made);
    },
    async exists(name) {
      return client.get({ name }).then(
        () => true,
        (error: unknown) => {
          if (error instanceof KubeError && error.notFound) return false;
          throw error;
        },
      );
    },
    async list() {
      const { items } = await client.listAll({ labelSelector: `${wellKnown.organizationLabel}=true` });
      return items.map(({ metadata }) => metadata.name).sort();
    },
  };
}

/** @throws UserError for a namespace on its way out */
function requireStaying({ metadata: { name, deletionTimestamp } }: KubeObject): void {
  if (deletionTimestamp === undefined) return;
  throw new UserError(`namespace "${name}" is being deleted`, {
    cure: `wait until it is gone (kubectl wait --for=delete namespace/${name}), then try again`,
  });
}
