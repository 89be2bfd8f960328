import { createTransport, KubeError, loadKubeConfig, type KubeConfig } from '../../kube/index.ts';
import { LEASE_NAME } from '../../operator/lease-name.ts';
import { loadConfig } from '../../platform/config/config.ts';
import { UserError } from '../../platform/user-error.ts';
import { assess } from './assess.ts';
import { gather } from './gather.ts';
import { print } from './print.ts';
import { parseTarget } from './target.ts';

export interface ExplainOptions {
  /** `<kind>/<name>` */
  readonly object: string;
  readonly org?: string;
  readonly json?: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: { write(text: string): unknown };
}

/**
 * @returns the exit code: 0 when the object is ready, 1 when it isn't
 * @throws UserError when the object or the cluster can't be found
 */
export async function runExplain({ object, org, json, env, out }: ExplainOptions): Promise<0 | 1> {
  const target = parseTarget(object);
  const kubeConfig = connect();
  const context = kubeConfig.getContextObject(kubeConfig.getCurrentContext());
  const namespace =
    [org, env['PARLEY_ORG'], context?.namespace].find((candidate) => candidate !== undefined && candidate !== '') ?? 'default';
  const { PARLEY_LEASE_NAMESPACE } = loadConfig({ PARLEY_LEASE_NAMESPACE: env['PARLEY_LEASE_NAMESPACE'] });
  const transport = createTransport({ kubeConfig });
  try {
    const assessment = assess(
      await gather(transport, target, namespace, { namespace: PARLEY_LEASE_NAMESPACE, name: LEASE_NAME }),
      Date.now(),
    );
    out.write(json === true ? `${JSON.stringify(assessment, null, 2)}\n` : print(assessment));
    return assessment.ready ? 0 : 1;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    throw unreachable(error, transport.server);
  } finally {
    await transport.close();
  }
}

const SET_KUBECONFIG = 'set KUBECONFIG to a cluster that runs; with the local stack: eval "$(parley env)"';

function connect(): KubeConfig {
  try {
    return loadKubeConfig();
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    throw new UserError(error.message, { cure: SET_KUBECONFIG, cause: error });
  }
}

function unreachable(error: KubeError, server: string): UserError {
  if (error.code === 403)
    return new UserError(`your account may not do this: ${error.message}`, {
      cure: 'use a kubeconfig whose user may read the organisation',
      cause: error,
    });
  return new UserError(`the Kubernetes API at ${server} can't be used: ${error.message}`, { cure: SET_KUBECONFIG, cause: error });
}
