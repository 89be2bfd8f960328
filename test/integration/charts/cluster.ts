/** Runs a control plane of the chart's own: releases make objects that belong to the cluster, which no other suite should meet. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { parse, stringify } from 'yaml';

import { createTransport, KubeError, loadKubeConfig, type Transport } from '../../../kube/index.ts';
import { eventually } from '../../support/eventually.ts';
import { TestStack } from '../../support/test-stack.ts';
import { otherDefinitions } from './definitions.ts';
import { helm } from './helm.ts';

const run = promisify(execFile);

export interface ChartCluster {
  readonly kubeconfig: string;
  readonly transport: Transport;
  kubectl(args: readonly string[], input?: string): Promise<string>;
  helm(args: readonly string[], values?: object): Promise<string>;
  /** Writes a kubeconfig of a ServiceAccount, with a token that the API server made. */
  kubeconfigOf(namespace: string, serviceAccount: string): Promise<string>;
  namespace(name: string, labels?: Readonly<Record<string, string>>): Promise<void>;
  /** Returns the server's complaint about the object; nothing is kept. */
  dryRun(object: object): Promise<string | undefined>;
  stop(): Promise<void>;
}

export async function startCluster(): Promise<ChartCluster> {
  const stack = new TestStack();
  const { kubeconfig, kubectl } = await stack.controlPlane();
  const transport = createTransport({ kubeConfig: loadKubeConfig({ path: kubeconfig }) });
  const folder = await mkdtemp(join(tmpdir(), 'parley-chart-cluster-'));
  const resources = new Map<string, { readonly path: string; readonly namespaced: boolean }>();

  const cluster: ChartCluster = {
    kubeconfig,
    transport,
    async kubectl(args, input) {
      const running = run(kubectl, [`--kubeconfig=${kubeconfig}`, ...args], { maxBuffer: 64 * 1024 * 1024 });
      running.child.stdin?.end(input ?? '');
      return (await running).stdout;
    },
    helm: (args, values) => helm(args, { ...(values === undefined ? {} : { values }), env: { KUBECONFIG: kubeconfig } }),
    async kubeconfigOf(namespace, serviceAccount) {
      const token = (await cluster.kubectl(['create', 'token', serviceAccount, `--namespace=${namespace}`])).trim();
      const config = parse(await readFile(kubeconfig, 'utf8')) as { users: unknown[]; contexts: { context: { user: string } }[] };
      config.users = config.contexts.map(({ context }) => ({ name: context.user, user: { token } }));
      const file = join(folder, `${namespace}-${serviceAccount}.kubeconfig`);
      await writeFile(file, stringify(config), { mode: 0o600 });
      return file;
    },
    async namespace(name, labels = {}) {
      await transport.request({
        method: 'PATCH',
        path: `/api/v1/namespaces/${name}`,
        query: { fieldManager: 'chart-test', force: true },
        contentType: 'application/apply-patch+yaml',
        body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } },
      });
    },
    async dryRun(object) {
      const { apiVersion, kind, metadata } = object as { apiVersion: string; kind: string; metadata: { name: string; namespace?: string } };
      const resource = await resourceOf(apiVersion, kind);
      const place = resource.namespaced ? `/namespaces/${metadata.namespace ?? 'default'}` : '';
      const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
      try {
        await transport.request({
          method: 'PATCH',
          path: `${root}${place}/${resource.path}/${metadata.name}`,
          query: { fieldManager: 'chart-test', force: true, dryRun: 'All', fieldValidation: 'Strict' },
          contentType: 'application/apply-patch+yaml',
          body: object,
        });
        return undefined;
      } catch (error) {
        if (error instanceof KubeError) return `${kind} ${metadata.name}: ${error.message}`;
        throw error;
      }
    },
    async stop() {
      await transport.close();
      await stack.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };

  async function resourceOf(apiVersion: string, kind: string): Promise<{ readonly path: string; readonly namespaced: boolean }> {
    if (!resources.has(`${apiVersion}/${kind}`)) {
      const { resources: found } = await transport.request<{ resources: readonly { name: string; kind: string; namespaced: boolean }[] }>({
        method: 'GET',
        path: apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`,
      });
      for (const { name, kind: own, namespaced } of found) {
        if (!name.includes('/')) resources.set(`${apiVersion}/${own}`, { path: name, namespaced });
      }
    }
    const resource = resources.get(`${apiVersion}/${kind}`);
    if (resource === undefined) throw new Error(`the API server has no ${kind} in ${apiVersion}`);
    return resource;
  }

  // The definitions of this checkout come with the chart here.
  await cluster.kubectl(['delete', 'crd', '--all', '--wait=true']);
  await cluster.kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: otherDefinitions }));
  await eventually(() =>
    cluster.kubectl(['get', 'servicemonitors,podmonitors,prometheusrules,scaledobjects,httproutes', '--all-namespaces']),
  );
  return cluster;
}
