/** Whether a cluster, a database and a Temporal server are what Parley needs, seen with the configuration of this shell. */
import { isDeepStrictEqual } from 'node:util';

import { toCustomResourceDefinition, type CustomResourceDefinition } from '../../crds/generator/crd.ts';
import { kinds } from '../../crds/index.ts';
import { createTransport, KubeError, loadKubeConfig, type Transport } from '../../kube/index.ts';
import { type AccessOptions, checkAccess } from './access.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { ClockReading } from './postgres.ts';

/** As the chart: the first in which selectable fields need no switch. */
export const OLDEST_MINOR = 31;

export interface ClusterCheckOptions extends AccessOptions {
  /** Called with the server's clock. */
  readonly onClock: (reading: ClockReading) => void;
  /** Of the cluster to check, and stays open; that of the environment's kubeconfig where absent. */
  readonly transport?: Transport;
}

export async function* checkCluster(options: ClusterCheckOptions): AsyncGenerator<Finding> {
  if (options.transport !== undefined) {
    yield* checkThrough(options.transport, options);
    return;
  }
  let transport: Transport;
  try {
    transport = createTransport({ kubeConfig: loadKubeConfig() });
  } catch (error) {
    yield findingsOf('kubeconfig').fail(
      (error as Error).message,
      'set KUBECONFIG to a kubeconfig file; with the local stack: eval "$(parley env)"',
    );
    return;
  }
  try {
    yield* checkThrough(transport, options);
  } finally {
    await transport.close();
  }
}

async function* checkThrough(transport: Transport, options: ClusterCheckOptions): AsyncGenerator<Finding> {
  const reached = await checkServer(transport);
  yield reached;
  if (reached.outcome === 'fail') return;
  await readClock(transport, options);
  for (const kind of kinds) yield await checkDefinition(transport, toCustomResourceDefinition(kind));
  yield* checkAccess(transport, options);
}

async function checkServer(transport: Transport): Promise<Finding> {
  const server = findingsOf('kubernetes-api');
  try {
    const { gitVersion, minor } = await transport.request<{ gitVersion: string; minor: string }>({
      method: 'GET',
      path: '/version',
      timeoutMs: 10_000,
    });
    if (Number.parseInt(minor, 10) < OLDEST_MINOR)
      return server.fail(
        `${transport.server} is ${gitVersion}`,
        `upgrade the cluster to 1.${OLDEST_MINOR} or newer: validation rules and selectable fields need it`,
      );
    return server.ok(`${transport.server}, ${gitVersion}`);
  } catch (error) {
    const reason = (error as Error).message;
    const refused = error instanceof KubeError && (error.code === 401 || error.code === 403);
    return server.fail(
      `${transport.server}: ${reason}`,
      refused
        ? 'renew the credentials in the kubeconfig'
        : 'is the cluster running, and is KUBECONFIG the right one? With the local stack: parley dev status',
    );
  }
}

/** Every answer carries the server's time. */
async function readClock(transport: Transport, { onClock }: ClusterCheckOptions): Promise<void> {
  const asked = Date.now();
  try {
    const { metadata } = await transport.request<{ readonly metadata?: { readonly creationTimestamp?: string | null } }>({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      idempotent: true,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    });
    const at = Date.parse(metadata?.creationTimestamp ?? '');
    if (!Number.isNaN(at)) onClock({ of: 'the API server', at, asked, answered: Date.now(), step: 1_000 });
  } catch (error) {
    // Some clusters don't offer it; what else is wrong with the server, the other checks say.
    if (!(error instanceof KubeError)) throw error;
  }
}

async function checkDefinition(transport: Transport, wanted: CustomResourceDefinition): Promise<Finding> {
  const definition = findingsOf('resource-definitions', `resource definition ${wanted.metadata.name}`);
  const cure = 'kubectl apply --server-side -f crds/ (or upgrade the chart), of the version of this command';
  try {
    const stored = await transport.request<
      CustomResourceDefinition & { status?: { conditions?: readonly { type: string; status: string }[] } }
    >({
      method: 'GET',
      path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${wanted.metadata.name}`,
    });
    if (!stored.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True'))
      return definition.fail('is not established', `kubectl describe crd ${wanted.metadata.name} shows why`);
    for (const version of wanted.spec.versions) {
      const served = stored.spec.versions.find((other) => other.name === version.name);
      if (served === undefined) return definition.fail(`lacks the version ${version.name}`, cure);
      if (!isDeepStrictEqual(plain(served.schema), plain(version.schema)))
        return definition.fail(`differs from the one of this version of Parley`, cure);
    }
    return definition.ok('installed, of this version');
  } catch (error) {
    if (error instanceof KubeError && error.code === 404) return definition.fail('is not installed', cure);
    const cureOfRefusal = 'a user who may read customresourcedefinitions sees whether it is of this version; roles need not';
    if (error instanceof KubeError && error.code === 403) return definition.warn('may not be read by this user', cureOfRefusal);
    return definition.fail((error as Error).message, 'is the cluster running? Try again');
  }
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
