/** Finds the pods of a role on a node of this machine, and their processes. */
import { readdirSync, readFileSync } from 'node:fs';

import { eventually } from './eventually.ts';
import type { Finished } from './run.ts';

/** Reaches the cluster as one user. */
export interface ClusterClient {
  /** Runs kubectl; throws with its standard error unless `allowFailure`. */
  kubectl(args: readonly string[], options?: { readonly input?: unknown; readonly allowFailure?: boolean }): Promise<Finished>;
  /** Runs `kubectl get … -o json`, and parses its output. */
  getJson<T = Record<string, unknown>>(args: readonly string[]): Promise<T>;
}

const roles = new Set(['operator', 'api', 'worker', 'dispatcher', 'voice']);

export const isRole = (part: string): boolean => roles.has(part);

/** Returns the processes of this machine whose command line is as asked for. */
export function processesWhere(matches: (words: readonly string[]) => boolean): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return matches(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean));
      } catch {
        // The process is gone meanwhile.
        return false;
      }
    })
    .map(Number);
}

/** Tells whether a process is a role's program inside its container: not the init process, nor a process of a parser or a call. */
export const isProgramOf =
  (role: string) =>
  (words: readonly string[]): boolean =>
    words[0]?.endsWith('/node') === true && words[1] === '/opt/parley/dist/parley.mjs' && words[2] === role;

interface Pods {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  }[];
}

interface Bindings {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly roleRef: object;
    readonly subjects: readonly object[];
  }[];
}

/** Copies the permissions that the chart grants in an organisation to another one. */
export async function copyPermissions(client: ClusterClient, { from, to }: { readonly from: string; readonly to: string }): Promise<void> {
  const { items } = await client.getJson<Bindings>(['rolebindings', '-n', from, '-l', 'app.kubernetes.io/name=parley']);
  if (items.length === 0) throw new Error(`nothing of the chart is bound in ${from}`);
  const copies = items.map(({ metadata, roleRef, subjects }) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: metadata.name, namespace: to },
    roleRef,
    subjects,
  }));
  await client.kubectl(['apply', '-f', '-'], { input: { apiVersion: 'v1', kind: 'List', items: copies } });
}

/**
 * Kills pods with SIGKILL, and then takes them away: a container that dies again and again is started ever later, which is Kubernetes'
 * backoff and not what is to be tried. Resolves when other pods are Ready.
 */
export async function killPods(
  client: ClusterClient,
  { namespace, role }: { readonly namespace: string; readonly role: string },
): Promise<void> {
  const selector = ['-n', namespace, '-l', `app.kubernetes.io/component=${role}`];
  const before = new Set((await client.getJson<Pods>(['pods', ...selector])).items.map(({ metadata }) => metadata.name));
  for (const pid of processesWhere(isProgramOf(role))) process.kill(pid, 'SIGKILL');
  await client.kubectl(['delete', 'pods', ...selector, '--force', '--grace-period=0', '--wait=false']);
  await eventually(async () => {
    const { items } = await client.getJson<Pods>(['pods', ...selector]);
    const ready = items.filter(({ metadata, status }) => {
      const condition = status.conditions?.find(({ type }) => type === 'Ready');
      return !before.has(metadata.name) && condition?.status === 'True';
    });
    if (ready.length === 0) throw new Error(`no new pod of ${role} is Ready`);
  });
}
