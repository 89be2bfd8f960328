import { agentKind } from '../../../crds/index.ts';
import type { KubeError, KubeObject } from '../../../kube/index.ts';
import { UserError } from '../../../platform/user-error.ts';
import { withConnection, type ClusterConnection, type ConnectionFlags } from '../connection.ts';
import { installedPods } from '../../cluster/installation.ts';
import type { Io } from '../io.ts';
import { Reader } from '../../cluster/reader.ts';
import { styleOf } from '../style.ts';
import { AboutAgent } from './about-agent.ts';
import { collect, follow } from './collect.ts';
import { printLine, type Level, type LogLine } from './line.ts';
import { localSources, podSource, type LogSource } from './sources.ts';

export interface LogsFlags extends ConnectionFlags {
  /** Milliseconds. */
  readonly since?: number;
  readonly follow?: true;
  readonly call?: string;
  readonly level: Level;
  readonly tail?: number;
  readonly output?: 'json';
}

const DEFAULT_SINCE_MS = 3_600_000;

/** @throws UserError when there is no such agent, or no log of its roles can be read */
export async function runLogs(agent: string, flags: LogsFlags, io: Io): Promise<void> {
  await withConnection(flags, io, async (connection) => {
    const about = new AboutAgent({
      namespace: connection.namespace,
      name: agent,
      uid: await uidOf(connection, agent, flags.call !== undefined, io),
      callId: flags.call,
    });
    const style = styleOf(io);
    const print = (line: LogLine): void => void io.out.write(flags.output === 'json' ? `${line.raw}\n` : printLine(line, style));
    const problems = new Map<string, KubeError>();
    const sinceMs = flags.since ?? (flags.call === undefined ? DEFAULT_SINCE_MS : undefined);
    const options = {
      about,
      since: sinceMs === undefined ? undefined : io.now() - sinceMs,
      level: flags.level,
      signal: io.signal,
      onProblem: (source: LogSource, error: KubeError) => {
        if (!problems.has(source.name)) io.err.write(`parley: the log of ${source.name} can't be read: ${error.message}\n`);
        problems.set(source.name, error);
      },
    };
    const sources = await sourcesOf(connection, flags, io);
    if (flags.follow === true && flags.tail === undefined) {
      await follow({ ...options, print, every, sources: () => sourcesOf(connection, flags, io) });
      return;
    }
    const lines = await collect(sources, options);
    for (const line of flags.tail === undefined ? lines : lines.slice(-flags.tail)) print(line);
    if (flags.follow === true) {
      const last = lines.at(-1)?.time;
      const since = Math.max(last === undefined ? 0 : last + 1, options.since ?? 0);
      await follow({ ...options, since, print, every, sources: () => sourcesOf(connection, flags, io) });
      return;
    }
    if (problems.size === sources.length) throw unreadable([...problems.values()]);
    if (lines.length === 0) {
      const what = flags.call === undefined ? `agent ${connection.namespace}/${agent}` : `call ${flags.call}`;
      const window = sinceMs === undefined ? '' : ` in the last ${Math.round(sinceMs / 60_000)} min`;
      io.err.write(`parley: nothing was written about ${what}${window} in ${sources.length} logs (--since looks further back)\n`);
    }
  });
}

async function uidOf({ namespace, transport }: ClusterConnection, name: string, mayBeGone: boolean, io: Io): Promise<string | undefined> {
  const reader = new Reader(transport);
  const read = (): Promise<KubeObject> =>
    mayBeGone
      ? reader.client(agentKind.descriptor, true).get({ namespace, name })
      : reader.object(agentKind.descriptor, { namespace, name });
  const found = await reader.allowed(`the agent ${namespace}/${name}`, read);
  if (found !== 'refused') return found?.metadata.uid;
  io.err.write(`parley: you may not read the agent ${namespace}/${name}; its lines are found by its name alone\n`);
  return undefined;
}

async function sourcesOf(connection: ClusterConnection, flags: LogsFlags, io: Io): Promise<readonly LogSource[]> {
  const { transport, systemNamespace } = connection;
  const reader = new Reader(transport);
  const pods = await installedPods(reader, connection);
  const sources = (pods ?? []).flatMap((pod) => podSource(transport, pod) ?? []);
  if (sources.length > 0) return sources;
  const local = localSources({ server: transport.server, kubeconfig: flags.kubeconfig ?? io.env['KUBECONFIG'], folder: io.folder });
  if (local !== undefined && local.length > 0) return local;
  if (pods === undefined) {
    throw new UserError(`you may not see the pods of the installation${systemNamespace === undefined ? '' : ` in ${systemNamespace}`}`, {
      cure: 'logs need `list pods` and `get pods/log` in the namespace of the installation: ask for a Role with both, or name the namespace with --system-namespace',
    });
  }
  throw new UserError('no pod of an installation can be found: none has the label app.kubernetes.io/part-of=parley', {
    cure: 'name the namespace of the installation with --system-namespace; with the local stack use its kubeconfig (eval "$(parley env)"); other processes write to their own standard output',
  });
}

function unreadable(errors: readonly KubeError[]): UserError {
  const [first] = errors;
  const forbidden = errors.some(({ code }) => code === 403);
  return new UserError(`none of the logs can be read${first === undefined ? '' : `: ${first.message}`}`, {
    cure: forbidden
      ? 'ask for `get pods/log` in the namespace of the installation'
      : 'see whether the nodes are up: kubectl get nodes; kubectl logs on one of the pods says more',
    cause: first,
  });
}

function every(ms: number, task: () => void): () => void {
  const timer = setInterval(task, ms);
  return () => clearInterval(timer);
}
