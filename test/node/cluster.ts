/** Runs one node with its control plane, for processes that already run in the node's namespaces (see main.ts). */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { stringify } from 'yaml';

import { type ApiServerCredentials, ensureCredentials, USERS, writeKubeconfig } from '../../local-stack/components/credentials.ts';
import { etcdFlags, etcdComponent } from '../../local-stack/components/etcd.ts';
import { httpCheck } from '../../local-stack/components/probes.ts';
import { ensureMutualTls, type MutualTls } from '../../local-stack/components/secrets.ts';
import { apiserverCa } from '../../local-stack/components/kube-apiserver.ts';
import type { Component } from '../../local-stack/supervisor.ts';
import { containerdPart } from './containerd.ts';

/** The bridge's address, at which pods see the machine. */
export const NODE_ADDRESS = '10.211.0.1';
/** Another address of the machine, for servers outside of the installation: receivers of events, models. */
export const WORLD_ADDRESS = '10.211.0.2';
/** Address of the API server's Service. */
export const API_SERVER_SERVICE = '10.96.0.1';
/** Address of the name service. */
export const NAME_SERVICE = '10.96.0.10';
export const NODE_NAME = 'parley-node';
const PODS = '10.211.0.0/16';
const SERVICES = '10.96.0.0/16';
const apiserverPort = 6443;

interface ClusterOptions {
  readonly work: string;
  /** Namespace of the kubeconfig for people. */
  readonly organization: string;
  readonly binary: (
    name: 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kube-proxy' | 'kube-router' | 'kubelet',
  ) => string;
}

interface Cluster {
  readonly components: readonly Component[];
  /** Kubeconfig of the administrator. */
  readonly kubeconfig: string;
  /** Kubeconfig of the administrator with the organisation's namespace. */
  readonly memberKubeconfig: string;
  readonly containerdSocket: string;
}

interface NodeUser {
  readonly name: string;
  readonly groups: string;
}

/** Users of the node's own processes, in addition to those of the local stack. */
const nodeUsers = {
  scheduler: { name: 'system:kube-scheduler', groups: '' },
  proxy: { name: 'system:kube-proxy', groups: '' },
  kubelet: { name: `system:node:${NODE_NAME}`, groups: 'system:nodes' },
  manager: { name: 'system:kube-controller-manager', groups: '' },
  policies: { name: 'kube-router', groups: 'system:masters' },
} as const satisfies Record<string, NodeUser>;

export function describeCluster(options: ClusterOptions): Cluster {
  const { work, binary } = options;
  const credentials = ensureCredentials(join(work, 'pki'));
  const etcdAt = { port: 2379, tls: ensureMutualTls(join(work, 'pki'), 'etcd') };
  const tokenFile = join(work, 'node-tokens.csv');
  const tokenOf = (user: string): string => `${credentials.tokens.admin}-${user}`;
  writeFileSync(
    tokenFile,
    [
      `${credentials.tokens.admin},${USERS.admin.name},admin,"system:masters"`,
      ...Object.entries(nodeUsers).map(([key, { name, groups }]) => `${tokenOf(key)},${name},${key},"${groups}"`),
    ].join('\n'),
    { mode: 0o600 },
  );
  const kubeconfigOf = (user: string): string => join(work, `${user}.kubeconfig`);
  const server = `https://${NODE_ADDRESS}:${apiserverPort}`;
  const containerdSocket = join(work, 'containerd.sock');
  const components: Component[] = [
    etcdComponent({ binary: binary('etcd'), dataDir: join(work, 'etcd'), ...etcdAt, peerPort: 2380, unsafeNoFsync: true }),
    {
      name: 'kube-apiserver',
      dependsOn: ['etcd'],
      command: () => ({ file: binary('kube-apiserver'), args: apiserverArguments({ credentials, tokenFile, etcd: etcdAt }) }),
      check: async (signal) => {
        const ca = apiserverCa(credentials);
        return (await httpCheck({ url: `${server}/readyz`, ca, token: credentials.tokens.admin, signal })).status === 200;
      },
      afterReady: async () => {
        const ca = apiserverCa(credentials);
        const named = Object.entries(nodeUsers).map(([key, { name }]) => ({ key, name, token: tokenOf(key) }));
        for (const { key, name, token } of [{ key: 'admin', name: USERS.admin.name, token: credentials.tokens.admin }, ...named])
          writeKubeconfig({ file: kubeconfigOf(key), server, ca, user: name, token });
        const { admin } = USERS;
        writeKubeconfig({
          file: kubeconfigOf('member'),
          server,
          ca,
          user: admin.name,
          token: credentials.tokens.admin,
          namespace: options.organization,
        });
      },
    },
    controllerManagerPart(options, { kubeconfig: kubeconfigOf('manager'), credentials }),
    {
      name: 'kube-scheduler',
      dependsOn: ['kube-apiserver'],
      command: () => ({
        file: binary('kube-scheduler'),
        args: [`--kubeconfig=${kubeconfigOf('scheduler')}`, '--leader-elect=false', '--bind-address=127.0.0.1', '--secure-port=10259'],
      }),
      check: async (signal) => (await httpCheck({ url: 'https://127.0.0.1:10259/healthz', signal })).status === 200,
    },
    containerdPart({ work, socket: containerdSocket }),
    kubeletPart(options, { kubeconfig: kubeconfigOf('kubelet'), socket: containerdSocket }),
    {
      name: 'kube-proxy',
      dependsOn: ['kubelet'],
      command: () => ({
        file: binary('kube-proxy'),
        args: [
          `--kubeconfig=${kubeconfigOf('proxy')}`,
          `--hostname-override=${NODE_NAME}`,
          '--proxy-mode=iptables',
          `--cluster-cidr=${PODS}`,
          // The limits belong to the machine, not to this namespace.
          '--conntrack-max-per-core=0',
          '--conntrack-min=0',
          '--conntrack-tcp-timeout-established=0s',
          '--conntrack-tcp-timeout-close-wait=0s',
          '--healthz-bind-address=127.0.0.1:10256',
          '--metrics-bind-address=127.0.0.1:10249',
        ],
      }),
      check: async (signal) => (await httpCheck({ url: 'http://127.0.0.1:10256/livez', signal })).status === 200,
    },
    policiesPart(options, { kubeconfig: kubeconfigOf('policies'), server, credentials }),
  ];
  return { components, kubeconfig: kubeconfigOf('admin'), memberKubeconfig: kubeconfigOf('member'), containerdSocket };
}

function apiserverArguments({
  credentials,
  tokenFile,
  etcd,
}: {
  readonly credentials: ApiServerCredentials;
  readonly tokenFile: string;
  readonly etcd: { readonly port: number; readonly tls: MutualTls };
}): string[] {
  return [
    ...etcdFlags(etcd),
    '--bind-address=0.0.0.0',
    `--advertise-address=${NODE_ADDRESS}`,
    `--secure-port=${apiserverPort}`,
    `--cert-dir=${credentials.certDir}`,
    `--token-auth-file=${tokenFile}`,
    '--authorization-mode=Node,RBAC',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-signing-key-file=${credentials.serviceAccountKey}`,
    `--service-account-key-file=${credentials.serviceAccountKey}`,
    `--service-cluster-ip-range=${SERVICES}`,
    '--enable-admission-plugins=NodeRestriction',
    '--kubelet-preferred-address-types=InternalIP',
    '--profiling=false',
  ];
}

function controllerManagerPart(
  { binary }: ClusterOptions,
  { kubeconfig, credentials }: { readonly kubeconfig: string; readonly credentials: ApiServerCredentials },
): Component {
  return {
    name: 'kube-controller-manager',
    dependsOn: ['kube-apiserver'],
    command: () => ({
      file: binary('kube-controller-manager'),
      args: [
        `--kubeconfig=${kubeconfig}`,
        '--leader-elect=false',
        '--use-service-account-credentials=true',
        `--service-account-private-key-file=${credentials.serviceAccountKey}`,
        `--root-ca-file=${join(credentials.certDir, 'apiserver.crt')}`,
        '--bind-address=127.0.0.1',
        '--secure-port=10257',
        '--authentication-skip-lookup=true',
        '--profiling=false',
      ],
    }),
    check: async (signal) => (await httpCheck({ url: 'https://127.0.0.1:10257/healthz', signal })).status === 200,
  };
}

function kubeletPart(
  { work, binary }: ClusterOptions,
  { kubeconfig, socket }: { readonly kubeconfig: string; readonly socket: string },
): Component {
  const file = join(work, 'kubelet.yaml');
  return {
    name: 'kubelet',
    dependsOn: ['kube-apiserver', 'containerd'],
    prepare: async () => {
      // No name beyond the cluster is answered.
      writeFileSync(join(work, 'resolv.conf'), 'options timeout:1 attempts:1\n');
      const configuration = {
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        kind: 'KubeletConfiguration',
        address: '0.0.0.0',
        readOnlyPort: 0,
        healthzPort: 10248,
        // Only the test is in this network namespace.
        authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
        authorization: { mode: 'AlwaysAllow' },
        cgroupDriver: 'cgroupfs',
        cgroupRoot: '/parley-node',
        failCgroupV1: false,
        failSwapOn: false,
        cgroupsPerQOS: true,
        enforceNodeAllocatable: [],
        makeIPTablesUtilChains: true,
        containerRuntimeEndpoint: `unix://${socket}`,
        resolvConf: join(work, 'resolv.conf'),
        clusterDNS: [NAME_SERVICE],
        clusterDomain: 'cluster.local',
        podLogsDir: join(work, '.parley/pod-logs'),
        imageGCHighThresholdPercent: 100,
        evictionHard: { 'memory.available': '50Mi' },
      };
      writeFileSync(file, stringify(configuration));
    },
    command: () => ({
      file: binary('kubelet'),
      args: [
        `--kubeconfig=${kubeconfig}`,
        `--config=${file}`,
        `--hostname-override=${NODE_NAME}`,
        `--node-ip=${NODE_ADDRESS}`,
        `--root-dir=${join(work, 'kubelet')}`,
        `--cert-dir=${join(work, 'kubelet-pki')}`,
      ],
    }),
    check: async (signal) => (await httpCheck({ url: 'http://127.0.0.1:10248/healthz', signal })).status === 200,
  };
}

/** Runs only the part of kube-router that enforces NetworkPolicies: the bridge plugin lets everything through. */
function policiesPart(
  { binary }: ClusterOptions,
  { kubeconfig, server, credentials }: { readonly kubeconfig: string; readonly server: string; readonly credentials: ApiServerCredentials },
): Component {
  return {
    name: 'kube-router',
    dependsOn: ['kubelet'],
    // The part ends at once where there is no node yet.
    prepare: async (signal) => {
      const node = { url: `${server}/api/v1/nodes/${NODE_NAME}`, ca: apiserverCa(credentials), token: credentials.tokens.admin, signal };
      while ((await httpCheck(node)).status !== 200) await sleep(200, undefined, { signal });
    },
    command: () => ({
      file: binary('kube-router'),
      args: [
        `--kubeconfig=${kubeconfig}`,
        `--hostname-override=${NODE_NAME}`,
        '--run-firewall=true',
        '--run-router=false',
        '--run-service-proxy=false',
        '--run-loadbalancer=false',
        '--enable-cni=false',
        `--service-cluster-ip-range=${SERVICES}`,
        '--health-port=20244',
      ],
    }),
    check: async (signal) => (await httpCheck({ url: 'http://127.0.0.1:20244/healthz', signal })).status === 200,
  };
}
