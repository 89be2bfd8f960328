/** Runs a control plane for this file alone: an operator looks after the whole cluster, and must not meet the objects of other suites. */
import { randomBytes } from 'node:crypto';

import type { Registry } from 'prom-client';

import { kinds, wellKnown, type AgentStatus } from '../../../crds/index.ts';
import {
  createTransport,
  KubeError,
  loadKubeConfig,
  ResourceClient,
  type Condition,
  type KubeObject,
  type ResourceDescriptor,
  type Stored,
  type Transport,
} from '../../../kube/index.ts';
import { runOperator } from '../../../operator/main.ts';
import type { Store } from '../../../store/index.ts';
import type { TestManifest } from '../../support/builders.ts';
import { giveBackControlPlane, takeControlPlane, type ControlPlaneAddresses } from '../../support/control-plane.ts';
import { eventually, nextSecond } from '../../support/eventually.ts';
import { migratedDatabase, openPatientStore } from '../../support/postgres.ts';
import { startRole, type RunningRole } from '../../support/running-role.ts';

export type AnyObject = KubeObject & {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>> & {
    readonly conditions?: readonly Condition[];
    readonly observedGeneration?: number;
  };
  readonly data?: Readonly<Record<string, string>>;
};

const core = (kind: string, plural: string, namespaced = true): ResourceDescriptor => ({
  group: '',
  version: 'v1',
  kind,
  plural,
  namespaced,
});

const descriptors: Readonly<Record<string, ResourceDescriptor>> = {
  ...Object.fromEntries(kinds.map(({ descriptor }) => [descriptor.kind, descriptor])),
  Secret: core('Secret', 'secrets'),
  ConfigMap: core('ConfigMap', 'configmaps'),
  ResourceQuota: core('ResourceQuota', 'resourcequotas'),
  Namespace: core('Namespace', 'namespaces', false),
  Event: { group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events', namespaced: true },
};

interface OperatorOptions {
  readonly identity?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Cluster {
  readonly addresses: ControlPlaneAddresses;
  readonly transport: Transport;
  readonly databaseUrl: string;
  readonly store: Store;
  client<T extends KubeObject = AnyObject>(kind: string): ResourceClient<T>;
  organization(prefix?: string): Promise<string>;
  apply(...manifests: readonly TestManifest[]): Promise<void>;
  remove(kind: string, namespace: string, name: string): Promise<void>;
  get(kind: string, namespace: string, name: string): Promise<Stored<AnyObject>>;
  /** Waits until the object satisfies `check`, which throws or answers false until it does. */
  until(kind: string, namespace: string, name: string, check: (object: Stored<AnyObject>) => boolean | void): Promise<Stored<AnyObject>>;
  ready(kind: string, namespace: string, name: string): Promise<Stored<AnyObject>>;
  /** Waits for a condition with that reason on the current generation. */
  reason(kind: string, namespace: string, name: string, type: string, reason: string): Promise<Stored<AnyObject>>;
  /** Waits until the object that is created next is younger: `creationTimestamp` has whole seconds. */
  untilOlder(kind: string, namespace: string, name: string): Promise<void>;
  /** Returns the environment variables of an operator of this cluster. */
  env(options?: OperatorOptions): Record<string, string>;
  operator(options?: OperatorOptions): Promise<RunningRole>;
  /** Runs `work` while the API server is there and answers nothing. */
  withoutApiServer<T>(work: () => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

export async function startCluster(): Promise<Cluster> {
  const [addresses, { url: databaseUrl }] = await Promise.all([takeControlPlane(), migratedDatabase()]);
  const store = openPatientStore(databaseUrl);
  const transport = createTransport({ kubeConfig: loadKubeConfig({ path: addresses.kubeconfig }) });
  const running = new Set<RunningRole>();

  const cluster: Cluster = {
    addresses,
    transport,
    databaseUrl,
    store,
    client<T extends KubeObject>(kind: string) {
      const descriptor = descriptors[kind];
      if (descriptor === undefined) throw new Error(`no descriptor for ${kind}`);
      return new ResourceClient<T>({ transport, descriptor, fieldManager: 'test' });
    },
    async organization(prefix = 'org') {
      const name = `${prefix}-${randomBytes(4).toString('hex')}`;
      await cluster
        .client('Namespace')
        .apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { [wellKnown.organizationLabel]: 'true' } } });
      return name;
    },
    async apply(...manifests) {
      for (const { stringData, ...manifest } of manifests) {
        const data =
          stringData && Object.fromEntries(Object.entries(stringData).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
        await cluster.client(manifest.kind).apply({ ...manifest, ...(data && { data }) }, { force: true });
      }
    },
    async remove(kind, namespace, name) {
      await cluster.client(kind).delete({ namespace, name });
    },
    get: (kind, namespace, name) => cluster.client(kind).get({ namespace, name }),
    until: (kind, namespace, name, check) =>
      eventually(async () => {
        const object = await cluster.get(kind, namespace, name);
        if (check(object) === false)
          throw new Error(`${kind} ${namespace}/${name} is not there yet:\n${JSON.stringify(object.status, null, 1)}`);
        return object;
      }, 50),
    ready: (kind, namespace, name) =>
      cluster.until(kind, namespace, name, (object) => condition(object, 'Ready')?.status === 'True' && isCurrent(object)),
    reason: (kind, namespace, name, type, reason) =>
      cluster.until(kind, namespace, name, (object) => condition(object, type)?.reason === reason && isCurrent(object)),
    async untilOlder(kind, namespace, name) {
      const { creationTimestamp } = (await cluster.get(kind, namespace, name)).metadata;
      await nextSecond(Date.parse(creationTimestamp));
    },
    env: (options = {}) => ({
      PARLEY_OPERATOR_PORT: '0',
      PARLEY_LOG_LEVEL: 'warn',
      DATABASE_URL: databaseUrl,
      KUBECONFIG: addresses.kubeconfigs.operator,
      PARLEY_LEASE_NAMESPACE: 'parley-system',
      ...(options.identity === undefined ? {} : { PARLEY_IDENTITY: options.identity }),
      ...options.env,
    }),
    async operator(options = {}) {
      const role = await startRole('operator', runOperator, cluster.env(options));
      const operator: RunningRole = {
        ...role,
        stop: () => {
          running.delete(operator);
          return role.stop();
        },
      };
      running.add(operator);
      return operator;
    },
    async withoutApiServer(work) {
      const { apiServerPid: pid } = addresses;
      if (pid === undefined) throw new Error('the API server does not run');
      process.kill(pid, 'SIGSTOP');
      try {
        return await work();
      } finally {
        process.kill(pid, 'SIGCONT');
      }
    },
    async stop() {
      await Promise.all([...running].map((operator) => operator.stop()));
      await store.close();
      // Something may go by itself meanwhile, as in a namespace that is being deleted.
      await eventually(() => empty(cluster));
      await transport.close();
      await giveBackControlPlane(addresses);
    },
  };
  await ensureNamespace(cluster, 'parley-system');
  return cluster;
}

/** Removes the objects that the next operator would look after. The rest of the namespaces stays: nobody asks for it. */
async function empty(cluster: Cluster): Promise<void> {
  for (const { descriptor } of kinds) {
    const client = cluster.client(descriptor.kind);
    for (const object of (await client.listAll()).items) {
      const { finalizers = [] } = object.metadata;
      const current = finalizers.length > 0 ? await client.patchFinalizers(object, []) : object;
      if (current.metadata.deletionTimestamp === undefined) await client.delete(current.metadata);
    }
  }
  const namespaces = cluster.client('Namespace');
  const { items } = await namespaces.listAll({ labelSelector: wellKnown.organizationLabel });
  for (const namespace of items) await namespaces.mergePatch(namespace, { metadata: { labels: { [wellKnown.organizationLabel]: null } } });
}

async function ensureNamespace(cluster: Cluster, name: string): Promise<void> {
  try {
    await cluster.client('Namespace').create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  } catch (error) {
    if (!(error instanceof KubeError) || error.reason !== 'AlreadyExists') throw error;
  }
}

export function condition(object: AnyObject, type: string): Condition | undefined {
  return object.status?.conditions?.find((candidate) => candidate.type === type);
}

/** Tells whether the status speaks of the spec as it is now. */
function isCurrent(object: AnyObject): boolean {
  return object.status?.observedGeneration === object.metadata.generation;
}

/** Returns how many tools an Agent offers. */
export function toolsOffered({ status }: AnyObject): number | undefined {
  return (status as AgentStatus | undefined)?.tools?.total;
}

/** Returns a status without what differs from one world to the next: times, and hashes of uids and versions. */
export function normalised(object: AnyObject, namespace: string): unknown {
  const {
    desiredRevision,
    servingRevision,
    servingSince: _since,
    observedDependenciesDigest: _uids,
    conditions,
    ...rest
  } = object.status ?? {};
  const text = JSON.stringify({
    ...rest,
    served: desiredRevision === servingRevision,
    conditions: conditions?.map(({ lastTransitionTime: _time, ...other }) => other),
  });
  return JSON.parse(text.replaceAll(namespace, 'NAMESPACE'));
}

/** Returns a counter's value, summed over its labels. */
export async function metricTotal(registry: Registry, name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
  const metric = await registry.getSingleMetric(name)?.get();
  return (metric?.values ?? [])
    .filter((value) => Object.entries(labels).every(([label, wanted]) => value.labels[label] === wanted))
    .reduce((sum, value) => sum + value.value, 0);
}
