/** kubectl's own flags, and the connection that they describe. */
import type { Command } from 'commander';

import { createTransport, KubeError, loadKubeConfig, type KubeConfig, type KubeRequest, type Transport } from '../../kube/index.ts';
import { UserError } from '../../platform/user-error.ts';
import { parseDuration } from './duration.ts';
import type { Io } from './io.ts';

export interface ConnectionFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly allNamespaces?: true;
  readonly as?: string;
  readonly asGroup?: readonly string[];
  readonly requestTimeout?: number;
}

export interface Connection {
  readonly transport: Transport;
  readonly kubeConfig: KubeConfig;
  /** Name of the context that is used. */
  readonly context: string;
  /** The one that is named, or that of the context. */
  readonly namespace: string;
  readonly allNamespaces: boolean;
  /** Whether the command line says which cluster: what the shell has set for another one doesn't count then. */
  readonly clusterNamed: boolean;
  /** Whether the command line names the namespace. */
  readonly namespaceNamed: boolean;
}

/** kubectl's flags of the same names; `-A` only where a command can look everywhere. */
export function addConnection(command: Command, options: { readonly allNamespaces?: boolean } = {}): Command {
  command.option('-n, --namespace <name>', 'the organisation: a namespace (default: that of the context)');
  if (options.allNamespaces === true) command.option('-A, --all-namespaces', 'look into all namespaces');
  return command
    .option('--kubeconfig <file>', 'kubeconfig file (default: KUBECONFIG, then ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--as <user>', 'ask as this user')
    .option('--as-group <group>', 'ask as a member of this group; may be repeated', (group: string, all?: readonly string[]) => [
      ...(all ?? []),
      group,
    ])
    .option('--request-timeout <time>', 'give up on a single request after this time, such as 5s', parseDuration);
}

/**
 * Connects for one command.
 *
 * @throws UserError with a cure for whatever the API server says no to
 */
export async function withConnection<T>(flags: ConnectionFlags, io: Io, use: (connection: Connection) => Promise<T>): Promise<T> {
  const { kubeConfig, transport } = connect(flags);
  const context = kubeConfig.getCurrentContext();
  try {
    return await use({
      kubeConfig,
      transport: asked(transport, flags, io.signal),
      context,
      namespace: firstOf(flags.namespace, kubeConfig.getContextObject(context)?.namespace) ?? 'default',
      allNamespaces: flags.allNamespaces === true,
      clusterNamed: flags.context !== undefined || flags.kubeconfig !== undefined,
      namespaceNamed: flags.namespace !== undefined,
    });
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    throw explain(error, transport.server);
  } finally {
    await transport.close();
  }
}

const SET_KUBECONFIG = 'set KUBECONFIG or give --kubeconfig or --context; with the local stack: eval "$(parley env)"';

function connect({ kubeconfig, context }: ConnectionFlags): { readonly kubeConfig: KubeConfig; readonly transport: Transport } {
  try {
    const kubeConfig = loadKubeConfig({
      ...(kubeconfig === undefined ? {} : { path: kubeconfig }),
      ...(context === undefined ? {} : { context }),
    });
    return { kubeConfig, transport: createTransport({ kubeConfig }) };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    throw new UserError(error.message, { cure: SET_KUBECONFIG, cause: error });
  }
}

/** Every request with what the flags say of all of them. */
function asked(transport: Transport, { as, asGroup, requestTimeout }: ConnectionFlags, signal: AbortSignal): Transport {
  if (asGroup !== undefined && as === undefined) {
    throw new UserError('--as-group is given without --as', { cure: 'name the user too: --as <user>' });
  }
  const headers = {
    ...(as !== undefined && { 'impersonate-user': as }),
    ...(asGroup !== undefined && { 'impersonate-group': [...asGroup] }),
  };
  const whole = (request: KubeRequest): KubeRequest => ({
    ...request,
    signal: request.signal ?? signal,
    headers: { ...request.headers, ...headers },
    ...(requestTimeout !== undefined && { timeoutMs: requestTimeout }),
  });
  return {
    server: transport.server,
    request: (request) => transport.request(whole(request)),
    stream: (request) => transport.stream(whole(request)),
    close: () => transport.close(),
  };
}

function explain(error: KubeError, server: string): UserError {
  if (error.code === 403) {
    return new UserError(`your account may not do this: ${error.message}`, {
      cure: 'ask for the role `view` in the namespace, name a namespace that you may see with -n, or use another --context',
      cause: error,
    });
  }
  if (error.code === 401) {
    return new UserError(`the Kubernetes API at ${server} does not know you: ${error.message}`, {
      cure: 'renew the credentials in the kubeconfig',
      cause: error,
    });
  }
  return new UserError(`the Kubernetes API at ${server} can't be used: ${error.message}`, { cure: SET_KUBECONFIG, cause: error });
}

function firstOf(...candidates: readonly (string | undefined)[]): string | undefined {
  return candidates.find((candidate) => candidate !== undefined && candidate !== '');
}
