import { ConfigError, type Config } from '../platform/config/config.ts';
import { KubeError } from './error.ts';
import { loadKubeConfig, type KubeConfig } from './kube-config.ts';

/**
 * Where the API server is, as a role's configuration says: the file of KUBECONFIG, or the service account of the pod.
 *
 * @throws ConfigError where there is none, or it can't be used
 */
export function kubeConfigOf({ KUBECONFIG: path }: Pick<Config, 'KUBECONFIG'>): KubeConfig {
  try {
    return loadKubeConfig(path === undefined ? {} : { path });
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    throw new ConfigError(`KUBECONFIG: ${error.message}`, { cause: error });
  }
}
