/** Runs `kubectl parley` as a person does: the real kubectl, which finds the plugin on PATH, against a real API server. */
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

import { vi } from 'vitest';
import { parse, stringify } from 'yaml';

import { reportFailure } from '../../../platform/user-error.ts';
import type { Io } from '../../../cli/kubectl/io.ts';
import { createPlugin } from '../../../cli/kubectl/main.ts';
import { createTransport, KubeError, type KubeObject, loadKubeConfig, type Transport } from '../../../kube/index.ts';
import { controlPlane, type ControlPlaneAddresses } from '../../support/control-plane.ts';
import { run, type Finished } from '../../support/run.ts';
import { repository } from '../../support/stack.ts';

export interface Plugin {
  readonly addresses: ControlPlaneAddresses;
  readonly transport: Transport;
  /** Folder for files of the test. */
  readonly folder: string;
  /** Folder with the plugin's programs. */
  readonly bin: string;
  /** PATH with kubectl and the plugin. */
  readonly path: string;
  /** Runs `kubectl …`, with the administrator's kubeconfig unless `env` says otherwise. */
  kubectl(
    args: readonly string[],
    options?: { readonly env?: Readonly<Record<string, string>>; readonly input?: unknown },
  ): Promise<Finished>;
  /** Runs the plugin without kubectl in front of it and in this process, which takes a twentieth of the time. */
  parley(
    args: readonly string[],
    options?: {
      readonly env?: Readonly<Record<string, string>>;
      readonly signal?: AbortSignal;
      readonly onOutput?: (all: string) => void;
      /** Returns the plugin's time; the system's clock where absent. */
      readonly now?: () => number;
    },
  ): Promise<Finished>;
  /** Writes a kubeconfig whose context has this namespace. */
  kubeconfigIn(namespace: string): Promise<string>;
  /** Creates or replaces objects, and their status where they have one. */
  put(...objects: readonly PluginObject[]): Promise<void>;
  stop(): Promise<void>;
}

/** An object as people write it; other parts of a kind are not checked here. */
export interface PluginObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: KubeObject['metadata'];
  readonly spec?: object;
  readonly status?: object;
  readonly subsets?: readonly object[];
  readonly addressType?: string;
  readonly endpoints?: readonly object[];
  readonly ports?: readonly object[];
  readonly rules?: readonly object[];
  readonly roleRef?: object;
  readonly subjects?: readonly object[];
  readonly data?: object;
  readonly stringData?: object;
}

export async function startPlugin(): Promise<Plugin> {
  const addresses = await controlPlane();
  const transport = createTransport({ kubeConfig: loadKubeConfig({ path: addresses.kubeconfig }) });
  const folder = await mkdtemp(join(tmpdir(), 'parley-kubectl-'));
  const bin = await installPlugin(folder);
  const path = [bin, dirname(addresses.kubectl), dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  const cleanUp: { readonly object: PluginObject; readonly url: string }[] = [];
  const plugin: Plugin = {
    addresses,
    transport,
    folder,
    bin,
    path,
    kubectl: (args, { env = {}, input } = {}) =>
      run('kubectl', args, {
        cwd: folder,
        // Variables of the shell that runs the tests must not count.
        env: {
          PARLEY_URL: undefined,
          PARLEY_API_KEY: undefined,
          PARLEY_ORG: undefined,
          KUBECONFIG: addresses.kubeconfig,
          ...env,
          PATH: path,
        },
        ...(input === undefined ? {} : { input: typeof input === 'string' ? input : JSON.stringify(input) }),
      }),
    async parley(args, { env = {}, signal = new AbortController().signal, onOutput, now = Date.now } = {}) {
      const finished = { code: 0, stdout: '', stderr: '' };
      const sink = (name: 'stdout' | 'stderr') => ({
        write(text: string) {
          finished[name] += text;
          onOutput?.(finished.stdout);
        },
      });
      const all: Readonly<Record<string, string>> = { KUBECONFIG: addresses.kubeconfig, ...env };
      vi.stubEnv('KUBECONFIG', all['KUBECONFIG']);
      const err = sink('stderr');
      const io: Io = {
        out: sink('stdout'),
        err,
        env: all,
        folder,
        now,
        exit(code) {
          finished.code = code;
        },
        signal,
      };
      try {
        await createPlugin(io).parseAsync(args, { from: 'user' });
      } catch (error) {
        finished.code = reportFailure(error, err as unknown as NodeJS.WritableStream);
      }
      return finished;
    },
    async kubeconfigIn(namespace) {
      const config = parse(await readFile(addresses.kubeconfig, 'utf8')) as { contexts: { context: { namespace?: string } }[] };
      for (const { context } of config.contexts) context.namespace = namespace;
      const file = join(folder, `${namespace}.kubeconfig`);
      await writeFile(file, stringify(config), { mode: 0o600 });
      return file;
    },
    async put(...objects) {
      for (const object of objects) {
        const url = urlOf(object);
        const { status, ...rest } = object;
        const patch = {
          method: 'PATCH',
          query: { fieldManager: 'plugin-test', force: true },
          contentType: 'application/apply-patch+yaml',
        } as const;
        await transport.request({ ...patch, path: url, body: rest });
        if (status !== undefined) {
          const { apiVersion, kind, metadata } = object;
          const { name, namespace } = metadata;
          await transport.request({ ...patch, path: `${url}/status`, body: { apiVersion, kind, metadata: { name, namespace }, status } });
        }
        if (object.metadata.namespace === undefined) cleanUp.push({ object, url });
      }
    },
    async stop() {
      for (const { url } of cleanUp.reverse()) {
        await transport.request({ method: 'DELETE', path: url }).catch((error: unknown) => {
          if (!(error instanceof KubeError && error.notFound)) throw error;
        });
      }
      await transport.close();
      await rm(folder, { recursive: true, force: true });
      vi.unstubAllEnvs();
    },
  };
  return plugin;
}

/** Installs the plugin's programs over the sources: a bundle that somebody has built may be an old one. */
async function installPlugin(folder: string): Promise<string> {
  const root = join(folder, 'parley');
  await mkdir(join(root, 'bin'), { recursive: true });
  for (const name of ['parley', 'kubectl-parley', 'kubectl_complete-parley'])
    await copyFile(join(repository, 'bin', name), join(root, 'bin', name));
  for (const name of ['cli', 'node_modules']) await symlink(join(repository, name), join(root, name));
  return join(root, 'bin');
}

function urlOf({ apiVersion, kind, metadata: { namespace, name } }: PluginObject): string {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const plural = kind === 'Endpoints' ? 'endpoints' : `${kind.toLowerCase()}s`;
  return `${group}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}/${name}`;
}

/** Makes a Role with one rule in a namespace, given to a user. */
export function grant(user: string, namespace: string, rule: object): readonly PluginObject[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const apiGroup = 'rbac.authorization.k8s.io';
  const metadata = { name: user, namespace };
  const roleRef = { apiGroup, kind: 'Role', name: user };
  return [
    { apiVersion, kind: 'Role', metadata, rules: [rule] },
    { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects: [{ apiGroup, kind: 'User', name: user }] },
  ];
}

/** Returns the labels that the chart gives to everything of a role. */
export function chartLabels(role: string, release = 'parley'): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': 'parley',
    'app.kubernetes.io/instance': release,
    'app.kubernetes.io/part-of': 'parley',
    'app.kubernetes.io/component': role,
    'app.kubernetes.io/version': '0.1.0',
    'app.kubernetes.io/managed-by': 'Helm',
    'helm.sh/chart': 'parley-0.1.0',
  };
}

export function deployment(
  role: string,
  namespace: string,
  change: { readonly ready?: number; readonly env?: readonly object[] } = {},
): PluginObject {
  const labels = chartLabels(role);
  const { ready = 1, env = [] } = change;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `parley-${role}`, namespace, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: { 'app.kubernetes.io/component': role } },
      template: { metadata: { labels }, spec: { containers: [{ name: role, image: 'example.com/parley:0.1.0', args: [role], env }] } },
    },
    status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: ready, availableReplicas: ready },
  };
}

/** Makes a pod that never starts; its log is the test's. */
export function pod(
  role: string,
  namespace: string,
  change: {
    readonly node?: string;
    readonly waiting?: object;
    readonly ready?: boolean;
    readonly ip?: string;
    readonly args?: readonly string[];
  } = {},
): PluginObject {
  const { node, waiting, ready = true, ip, args = [role] } = change;
  const state = waiting === undefined ? { running: { startedAt: '2026-01-01T00:00:00Z' } } : { waiting };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `parley-${role}-0`, namespace, labels: chartLabels(role) },
    spec: {
      ...(node !== undefined && { nodeName: node }),
      terminationGracePeriodSeconds: 0,
      containers: [{ name: role, image: 'example.com/parley:0.1.0', args }],
    },
    status: {
      phase: 'Running',
      ...(ip !== undefined && { podIP: ip, podIPs: [{ ip }] }),
      containerStatuses: [{ name: role, image: 'example.com/parley:0.1.0', imageID: '', ready, restartCount: 0, state }],
    },
  };
}

export function condition(type: string, status: 'True' | 'False', reason: string, message = ''): object {
  return { type, status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 };
}
