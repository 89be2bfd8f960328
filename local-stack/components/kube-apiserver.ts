import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { type AcceptedVersions, type BinarySpec, downloads, sameMinor } from '../binaries/binary-spec.ts';
import type { Component } from '../supervisor.ts';
import type { ApiServerCredentials } from './credentials.ts';
import { etcdFlags } from './etcd.ts';
import { httpCheck } from './probes.ts';
import type { MutualTls } from './secrets.ts';

const VERSION = '1.34.4';
/** A server on PATH is taken from the version on that the chart's `kubeVersion` asks for. */
const SERVERS: AcceptedVersions = { text: '1.31 or newer', check: (version) => Number(version.split('.')[1]) >= 31 };

/** These are from the "Downloads" tables of kubernetes/kubernetes CHANGELOG-1.34.md. On macOS the server is built from source. */
const SERVER_SUMS = {
  'linux-amd64':
    '65c75e81e3ea488f6d42b493cad64d7577ddfa1e5372037a1c841ac069039997d359b5b2f2d44e7665bf04c48ed0065cf9d4c9801b1e63bb6a1b099ef00d4863',
  'linux-arm64':
    'a1fad7060ed67b5634f32f3256a295179dd887dab5c82b8550c2eb62c69df34cfbb311c8f93e7608d558eba32b9e2ddc23976db39e512fd747cc6bf9b4c1765f',
};
const CLIENT_SUMS = {
  'linux-amd64':
    '018d0a75b74b55942a0777afc7edf64ca98c004e6e12f9dc93ad75c26cb58089104ba0f9ceae2f0be5a6f6854948c705b0eb828f0960302a0ff84d57c464fc09',
  'linux-arm64':
    '7b26519145a69ca0a14497ae476b8061b2f07b69f0cf4669490ed36b9161507c2457018181c50ba6c86c55f6b68dcd6faeff832ad5e30f3845a11fc996db2146',
  'darwin-arm64':
    '7770047fb7040e9f8f59daea877cc6fa1c9c7444e397b5d6252389d35b766ea3efe52677048d9b6710e9f866994635b985d64f631e396ba36b2689a77c75f7a0',
};

/** Describes one of the programs that Kubernetes releases together. */
export function kubernetesProgram(name: string, seconds: number): BinarySpec {
  const kind = name === 'kubectl' ? 'client' : 'server';
  return {
    name,
    version: VERSION,
    versionProbe:
      kind === 'client'
        ? { args: ['version', '--client', '--output=json'], pattern: /"gitVersion":\s*"v([^"]+)"/ }
        : { args: ['--version'], pattern: /Kubernetes v(\S+)/ },
    accepted: kind === 'client' ? sameMinor(VERSION) : SERVERS,
    executable: name,
    official: downloads('sha512', kind === 'client' ? CLIENT_SUMS : SERVER_SUMS, (platform) => ({
      url: `https://dl.k8s.io/v${VERSION}/kubernetes-${kind}-${platform}.tar.gz`,
      member: `kubernetes/${kind}/bin/${name}`,
    })),
    go: {
      module: 'kubernetes',
      package: `k8s.io/kubernetes/cmd/${name}`,
      variables: {
        'k8s.io/component-base/version.gitVersion': `v${VERSION}`,
        'k8s.io/component-base/version.gitMajor': '1',
        'k8s.io/component-base/version.gitMinor': '34',
      },
      seconds,
    },
  };
}

export const KUBE_APISERVER = kubernetesProgram('kube-apiserver', 160);

export interface KubeApiserverOptions {
  readonly binary: string;
  readonly credentials: ApiServerCredentials;
  readonly etcd: { readonly port: number; readonly tls: MutualTls };
  readonly port: number;
  /** Runs once, when the server is ready for the first time and before what depends on it starts. */
  readonly afterReady?: (signal: AbortSignal) => Promise<void>;
}

/** Returns the PEM of the certificate authority that the API server made for itself at its first start. */
export function apiserverCa(credentials: ApiServerCredentials): string {
  return readFileSync(join(credentials.certDir, 'apiserver.crt'), 'utf8');
}

export function kubeApiserverComponent(options: KubeApiserverOptions): Component {
  const { credentials, port } = options;
  return {
    name: 'kube-apiserver',
    dependsOn: ['etcd'],
    command: () => ({
      file: options.binary,
      args: [
        ...etcdFlags(options.etcd),
        '--anonymous-auth=false',
        '--bind-address=127.0.0.1',
        '--advertise-address=127.0.0.1',
        // A loopback address can't be an endpoint of the `kubernetes` Service, and no component here asks for it.
        '--endpoint-reconciler-type=none',
        `--secure-port=${port}`,
        `--cert-dir=${credentials.certDir}`,
        `--token-auth-file=${credentials.tokenFile}`,
        '--authorization-mode=RBAC',
        '--service-account-issuer=https://kubernetes.default.svc',
        `--service-account-signing-key-file=${credentials.serviceAccountKey}`,
        `--service-account-key-file=${credentials.serviceAccountKey}`,
        '--service-cluster-ip-range=10.0.0.0/24',
        // No controller here creates the default service accounts that the plugin would wait for.
        '--disable-admission-plugins=ServiceAccount',
        '--profiling=false',
      ],
    }),
    check: async (signal) => {
      const { status } = await httpCheck({
        url: `https://127.0.0.1:${port}/readyz`,
        ca: apiserverCa(credentials),
        token: credentials.tokens.admin,
        signal,
      });
      return status === 200;
    },
    liveUrl: `https://127.0.0.1:${port}/livez`,
    afterReady: options.afterReady,
  };
}
