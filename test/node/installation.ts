/** Installs Parley on a node as a person would: with Helm, from the chart of this checkout and the image that was built. */
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { stringify } from 'yaml';

import { NODE_ADDRESS, WORLD_ADDRESS } from './cluster.ts';
import { output } from './output.ts';

export const NAMESPACE = 'parley-system';
export const ORGANIZATION = 'demo';
export const IMAGE = 'parley.test/parley';
/** The image has this user, too. */
const uid = 65_532;

export interface InstalledServers {
  readonly databaseUrl: string;
  readonly temporalPort: number;
  readonly livekit: { readonly port: number; readonly apiKey: string; readonly apiSecret: string };
  readonly speechUrl: string;
  readonly receiverUrl: string;
  /** Entries `name=address:port` for the receiver of deliveries and the orders of the examples, as pods reach them. */
  readonly egressHosts: string;
  readonly providers: string;
}

/** Returns the chart's values for this node: servers at the bridge's address, one pod of each role, and a standby of the operator. */
export function valuesOf(servers: InstalledServers, tag: string): object {
  const small = { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '512Mi' } };
  const tight = { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '128Mi' } };
  // The server is named, as in production: pods reach nothing that is not named.
  const there = { to: [{ ipBlock: { cidr: `${NODE_ADDRESS}/32` } }] };
  return {
    image: { repository: IMAGE, tag, pullPolicy: 'Never' },
    organizations: [ORGANIZATION],
    secrets: { DATABASE_URL: { name: 'parley-servers', key: 'url' }, LIVEKIT_API_SECRET: { name: 'parley-servers', key: 'livekit' } },
    config: {
      TEMPORAL_ADDRESS: `${NODE_ADDRESS}:${servers.temporalPort}`,
      LIVEKIT_URL: `ws://${NODE_ADDRESS}:${servers.livekit.port}`,
      LIVEKIT_API_KEY: servers.livekit.apiKey,
      PARLEY_PROVIDERS: servers.providers,
      PARLEY_EGRESS_ALLOW_CIDRS: `${WORLD_ADDRESS}/32`,
      PARLEY_EGRESS_HOSTS: servers.egressHosts,
      PARLEY_VOICE_IDLE_PROCESSES: 1,
      PARLEY_VOICE_DRAIN_MS: 1_800_000,
    },
    storage: { persistentVolumeClaim: { existingClaim: 'parley-files' } },
    networkPolicy: { kubernetesApi: there, database: there, temporal: there, livekit: there },
    operator: { resources: tight },
    api: { resources: tight, autoscaling: { enabled: false }, replicas: 1 },
    worker: { resources: small, replicas: 1 },
    dispatcher: { resources: small, replicas: 1 },
    voice: { resources: { requests: { cpu: '300m', memory: '128Mi' }, limits: { memory: '2Gi' } }, replicas: 1 },
  };
}

/** Makes what the chart expects to find: the Secret with the servers' addresses, and a volume. */
export async function prepareNamespace(options: {
  readonly kubectl: readonly [string, ...string[]];
  readonly servers: InstalledServers;
  readonly work: string;
}): Promise<void> {
  const { kubectl, servers, work } = options;
  const files = join(work, 'files');
  mkdirSync(files, { recursive: true });
  chownSync(files, uid, uid);
  const url = servers.databaseUrl.replace('@127.0.0.1:', `@${NODE_ADDRESS}:`);
  const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const storage = { accessModes: ['ReadWriteMany'], storageClassName: '', volumeName: 'parley-files' };
  const items = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels: restricted } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'parley-servers', namespace: NAMESPACE },
      stringData: { url, livekit: servers.livekit.apiSecret },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'parley-files' },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteMany'],
        persistentVolumeReclaimPolicy: 'Retain',
        hostPath: { path: files },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'parley-files', namespace: NAMESPACE },
      spec: { ...storage, resources: { requests: { storage: '1Gi' } } },
    },
  ];
  const file = join(work, 'namespace.yaml');
  writeFileSync(file, items.map((item) => stringify(item)).join('---\n'), { mode: 0o600 });
  await output([...kubectl, 'apply', '-f', file]);
}
