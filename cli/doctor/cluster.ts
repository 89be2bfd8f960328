/** Whether a cluster, a database and a Temporal server are what Parley needs, seen with the configuration of this shell. */
import { isDeepStrictEqual } from 'node:util';

import { toCustomResourceDefinition, type CustomResourceDefinition } from '../../crds/generator/crd.ts';
import { kinds, wellKnown } from '../../crds/index.ts';
import { createTransport, KubeError, loadKubeConfig, type Transport } from '../../kube/index.ts';
import { type Finding, findingsOf } from './finding.ts';
import { type Access, accessOf, type Audience } from './permissions.ts';
import type { ClockReading } from './postgres.ts';

const oldestMinor = 30;

export interface ClusterOptions {
  /** Whose permissions are looked for. */
  readonly audience: Audience;
  /** Told what the server's clock says. */
  readonly onClock: (reading: ClockReading) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Whose cluster is looked at, and stays open; that of the environment's kubeconfig where absent. */
  readonly transport?: Transport;
}

export async function* checkCluster(options: ClusterOptions): AsyncGenerator<Finding> {
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

async function* checkThrough(transport: Transport, options: ClusterOptions): AsyncGenerator<Finding> {
  const reached = await checkServer(transport);
  yield reached;
  if (reached.outcome === 'fail') return;
  await readClock(transport, options);
  for (const kind of kinds) yield await checkDefinition(transport, toCustomResourceDefinition(kind));
  yield* checkPermissions(transport, options.audience);
  yield await checkOrganizations(transport);
}

async function checkServer(transport: Transport): Promise<Finding> {
  const server = findingsOf('kubernetes-api');
  try {
    const { gitVersion, minor } = await transport.request<{ gitVersion: string; minor: string }>({
      method: 'GET',
      path: '/version',
      timeoutMs: 10_000,
    });
    if (Number.parseInt(minor, 10) < oldestMinor)
      return server.fail(
        `${transport.server} is ${gitVersion}`,
        `upgrade the cluster to 1.${oldestMinor} or newer: validation rules and selectable fields need it`,
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

/** Whoever is asked about says when the answer was made. */
async function readClock(transport: Transport, { onClock, now }: ClusterOptions): Promise<void> {
  const asked = now();
  try {
    const { metadata } = await transport.request<{ readonly metadata?: { readonly creationTimestamp?: string | null } }>({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      idempotent: true,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    });
    const at = Date.parse(metadata?.creationTimestamp ?? '');
    if (!Number.isNaN(at)) onClock({ of: 'the API server', at, asked, answered: now(), step: 1_000 });
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
      return definition.fail('is not established', `kubectl describe crd ${wanted.metadata.name} tells why`);
    for (const version of wanted.spec.versions) {
      const served = stored.spec.versions.find((other) => other.name === version.name);
      if (served === undefined) return definition.fail(`lacks the version ${version.name}`, cure);
      if (!isDeepStrictEqual(plain(served.schema), plain(version.schema)))
        return definition.fail(`differs from the one of this version of Parley`, cure);
    }
    return definition.ok('installed, of this version');
  } catch (error) {
    if (error instanceof KubeError && error.code === 404) return definition.fail('is not installed', cure);
    return definition.fail((error as Error).message, 'use a kubeconfig whose user may read customresourcedefinitions');
  }
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

async function* checkPermissions(transport: Transport, audience: Audience): AsyncGenerator<Finding> {
  const permissions = findingsOf('permissions');
  const missing: string[] = [];
  const asked = accessOf(audience);
  try {
    const answers = await Promise.all(asked.map((access) => mayI(transport, access)));
    asked.forEach(
      (access, index) =>
        answers[index] === true || missing.push(`${access.verb} ${access.resource}${access.group === '' ? '' : `.${access.group}`}`),
    );
  } catch (error) {
    yield permissions.fail((error as Error).message, 'the API server has to serve authorization.k8s.io/v1');
    return;
  }
  yield missing.length === 0
    ? permissions.ok(`all ${asked.length} that ${audience === 'installer' ? 'an installation and its roles' : `the ${audience}`} need`)
    : permissions.fail(
        `missing for ${audience === 'installer' ? 'an installation and its roles' : `the ${audience}`}: ${missing.join(', ')}`,
        'grant them (the chart does, as cli/dev/rbac/ shows), or name the role whose kubeconfig this is: --role operator, --role api or --role dispatcher',
      );
}

async function mayI(transport: Transport, access: Access): Promise<boolean> {
  const [resource, subresource] = access.resource.split('/');
  const { status } = await transport.request<{ status: { allowed: boolean } }>({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    idempotent: true,
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: {
        resourceAttributes: {
          verb: access.verb,
          group: access.group,
          resource,
          ...(subresource === undefined ? {} : { subresource }),
          ...(access.namespace === undefined ? {} : { namespace: access.namespace }),
        },
      },
    },
  });
  return status.allowed;
}

async function checkOrganizations(transport: Transport): Promise<Finding> {
  const organizations = findingsOf('organisations');
  try {
    const { items } = await transport.request<{ items: readonly { metadata: { name: string } }[] }>({
      method: 'GET',
      path: '/api/v1/namespaces',
      query: { labelSelector: `${wellKnown.organizationLabel}=true`, limit: 500 },
    });
    if (items.length === 0) return organizations.warn('there is none yet', 'parley org create <name>');
    return organizations.ok(items.length > 5 ? `${items.length}` : items.map(({ metadata }) => metadata.name).join(', '));
  } catch (error) {
    return organizations.warn((error as Error).message);
  }
}
