/** Reads kubectl's own flags, and connects as they say. */
import type { Command } from 'commander';

import type { KubeConfig, KubeRequest, Transport } from '../../kube/index.ts';
import { UserError } from '../../platform/user-error.ts';
import type { ClusterOptions } from '../cluster/connect.ts';
import { parseDuration } from '../options.ts';
import type { Io } from './io.ts';

export interface ConnectionFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly allNamespaces?: true;
  readonly as?: string;
  readonly asGroup?: readonly string[];
  readonly requestTimeout?: number;
  readonly systemNamespace?: string;
}

export interface ClusterConnection {
  readonly transport: Transport;
  readonly kubeConfig: KubeConfig;
  readonly context: string;
  /** The namespace that is named, or that of the context. */
  readonly namespace: string;
  readonly allNamespaces: boolean;
  /** Namespace of the installation, where the command line names it. */
  readonly systemNamespace: string | undefined;
  /** Namespace of the operator's Lease when no Deployment shows it: `PARLEY_LEASE_NAMESPACE`. */
  readonly leaseNamespace: string;
  /** True if the command line says which cluster: what the shell has set for another one doesn't count then. */
  readonly clusterNamed: boolean;
  readonly namespaceNamed: boolean;
}

/**
 * Adds kubectl's flags of the same names; `-A` only where a command can look everywhere.
 *
 * @param options.presetOrganization true where the command calls `withPresetOrganization`
 */
export function addConnection(
  command: Command,
  options: { readonly allNamespaces?: boolean; readonly presetOrganization?: boolean } = {},
): Command {
  const usual = options.presetOrganization === true ? 'PARLEY_ORG, then the namespace of the context' : 'that of the context';
  command.option('-n, --namespace <name>', `the organisation: a namespace (default: ${usual})`);
  if (options.allNamespaces === true) command.option('-A, --all-namespaces', 'look into all namespaces');
  return command
    .option('--kubeconfig <file>', 'kubeconfig file (default: KUBECONFIG, then ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--as <user>', 'ask as this user')
    .option('--as-group <group>', 'ask as a member of this group; may be repeated', (group: string, all?: readonly string[]) => [
      ...(all ?? []),
      group,
    ])
    .option('--system-namespace <name>', 'namespace of the installation (default: found by its labels)')
    .option('--request-timeout <time>', 'give up on a single request after this time, such as 5s', parseDuration);
}

/**
 * Names the organisation where the command line doesn't: PARLEY_ORG, as for the other commands of `parley`. The plugin goes by the
 * kubeconfig alone, as kubectl does.
 */
export function withPresetOrganization<Flags extends ConnectionFlags>(flags: Flags, env: Io['env']): Flags {
  const preset = env['PARLEY_ORG'];
  return flags.namespace !== undefined || namesCluster(flags) || !preset ? flags : { ...flags, namespace: preset };
}

/** What the shell has set is about another cluster then. */
const namesCluster = (flags: ConnectionFlags): boolean => flags.context !== undefined || flags.kubeconfig !== undefined;

const KUBECTL_CURES = {
  forbiddenCure: 'ask for the role `view` in the namespace, name a namespace that you may see with -n, or use another --context',
  unreachableCure: 'set KUBECONFIG or give --kubeconfig or --context; with the local stack: eval "$(parley env)"',
};

/**
 * Connects for one command.
 *
 * @throws UserError with a cure for whatever the API server says no to
 */
export async function withConnection<T>(
  flags: ConnectionFlags,
  io: Io,
  use: (connection: ClusterConnection) => Promise<T>,
  cures: Pick<ClusterOptions, 'forbiddenCure' | 'unreachableCure'> = KUBECTL_CURES,
): Promise<T> {
  const [{ withCluster }, { loadConfig }] = await Promise.all([import('../cluster/connect.ts'), import('../../platform/config/config.ts')]);
  const { PARLEY_LEASE_NAMESPACE: leaseNamespace } = loadConfig({ PARLEY_LEASE_NAMESPACE: io.env['PARLEY_LEASE_NAMESPACE'] });
  return withCluster({ path: flags.kubeconfig, context: flags.context, ...cures }, ({ kubeConfig, transport }) => {
    const context = kubeConfig.getCurrentContext();
    return use({
      kubeConfig,
      transport: asked(transport, flags, io.signal),
      context,
      namespace: flags.namespace || kubeConfig.getContextObject(context)?.namespace || 'default',
      allNamespaces: flags.allNamespaces === true,
      systemNamespace: flags.systemNamespace,
      leaseNamespace,
      clusterNamed: namesCluster(flags),
      namespaceNamed: flags.namespace !== undefined,
    });
  });
}

/** Gives every request what the flags say of all of them. */
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
