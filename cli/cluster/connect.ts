/** Connects commands to the cluster, and says what to do when it can't. */
import { createTransport, KubeError, loadKubeConfig, type KubeConfig, type Transport } from '../../kube/index.ts';
import { UserError } from '../../platform/user-error.ts';

/** This manager owns the fields that commands write. */
export const FIELD_MANAGER = 'parley-cli';

export interface ClusterOptions {
  /** Kubeconfig file; KUBECONFIG by default. */
  readonly path?: string | undefined;
  readonly context?: string | undefined;
  /** Says what to do when the API server refuses. */
  readonly forbiddenCure: string;
  readonly unreachableCure?: string;
}

const SET_KUBECONFIG = 'set KUBECONFIG to a cluster that runs; with the local stack: eval "$(parley env)"';

/**
 * Connects for one command.
 * @throws UserError with a cure for a kubeconfig that can't be read and for every KubeError of `use`
 */
export async function withCluster<T>(
  { path, context, forbiddenCure, unreachableCure = SET_KUBECONFIG }: ClusterOptions,
  use: (cluster: { readonly kubeConfig: KubeConfig; readonly transport: Transport }) => Promise<T>,
): Promise<T> {
  let api = 'the Kubernetes API';
  try {
    const kubeConfig = loadKubeConfig({ ...(path !== undefined && { path }), ...(context !== undefined && { context }) });
    const transport = createTransport({ kubeConfig });
    api = `the Kubernetes API at ${transport.server}`;
    try {
      return await use({ kubeConfig, transport });
    } finally {
      await transport.close();
    }
  } catch (cause) {
    if (!(cause instanceof KubeError)) throw cause;
    if (cause.code === 403) throw new UserError(`your account may not do this: ${cause.message}`, { cure: forbiddenCure, cause });
    if (cause.code === 401)
      throw new UserError(`${api} does not know you: ${cause.message}`, { cure: 'renew the credentials in the kubeconfig', cause });
    throw new UserError(`${api} can't be used: ${cause.message}`, { cure: unreachableCure, cause });
  }
}
