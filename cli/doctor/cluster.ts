/** Checks whether a cluster, a database and a Temporal server are what Parley needs, with the configuration of this shell. */
import { kinds, VERSION, type KindDefinition } from '../../crds/index.ts';
import { createTransport, KubeError, loadKubeConfig, type Transport } from '../../kube/index.ts';
import { readDefinition } from '../cluster/definitions.ts';
import { Reader } from '../cluster/reader.ts';
import { type AccessOptions, checkAccess } from './access.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { ClockReading } from './postgres.ts';

/** The chart requires the same version: the first in which selectable fields need no switch. */
export const OLDEST_MINOR = 31;

export interface ClusterCheckOptions extends AccessOptions {
  readonly onClock?: (reading: ClockReading) => void;
}

/** Checks the cluster that the environment's kubeconfig names. */
export async function* checkOwnCluster(options: ClusterCheckOptions): AsyncGenerator<Finding> {
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
    yield* checkCluster(new Reader(transport), options);
  } finally {
    await transport.close();
  }
}

export async function* checkCluster(reader: Reader, options: ClusterCheckOptions): AsyncGenerator<Finding> {
  const reached = await checkServer(reader);
  yield reached;
  if (reached.outcome === 'fail') return;
  await readClock(reader.transport, options);
  for (const kind of kinds as readonly KindDefinition[]) yield await checkDefinition(reader, kind);
  yield* checkAccess(reader, options);
}

async function checkServer(reader: Reader): Promise<Finding> {
  const findings = findingsOf('kubernetes-api');
  const { server } = reader.transport;
  try {
    const { gitVersion, minor } = await reader.version();
    if (Number.parseInt(minor, 10) < OLDEST_MINOR)
      return findings.fail(
        `${server} is ${gitVersion}`,
        `upgrade the cluster to 1.${OLDEST_MINOR} or newer: validation rules and selectable fields need it`,
      );
    return findings.ok(`${server}, ${gitVersion}`);
  } catch (error) {
    const reason = (error as Error).message;
    const refused = error instanceof KubeError && (error.code === 401 || error.code === 403);
    return findings.fail(
      `${server}: ${reason}`,
      refused
        ? 'renew the credentials in the kubeconfig'
        : 'is the cluster running, and is KUBECONFIG the right one? With the local stack: parley dev status',
    );
  }
}

/** Every answer carries the server's time. */
async function readClock(transport: Transport, { onClock }: ClusterCheckOptions): Promise<void> {
  if (onClock === undefined) return;
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
    // Some clusters don't offer it; the other checks report what else is wrong with the server.
    if (!(error instanceof KubeError)) throw error;
  }
}

async function checkDefinition(reader: Reader, kind: KindDefinition): Promise<Finding> {
  const name = `${kind.descriptor.plural}.${kind.descriptor.group}`;
  const findings = findingsOf('resource-definitions', `resource definition ${name}`);
  const cure = 'kubectl apply --server-side -f crds/generated/ (or upgrade the chart), of the version of this command';
  try {
    const { state } = await readDefinition(reader, kind);
    switch (state) {
      case 'same':
        return findings.ok('installed, of this version');
      case 'different':
        return findings.fail('differs from the one of this version of Parley', cure);
      case 'outdated':
        return findings.fail(`lacks the version ${VERSION}`, cure);
      case 'unestablished':
        return findings.fail('is not established', `kubectl describe crd ${name} shows why`);
      case 'missing':
        return findings.fail('is not installed', cure);
      default:
        return findings.warn(
          'may not be read by this user',
          'a user who may read customresourcedefinitions sees whether it is of this version; roles need not',
        );
    }
  } catch (error) {
    return findings.fail((error as Error).message, 'is the cluster running? Try again');
  }
}
