import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Part } from '../supervisor.ts';
import type { Credentials } from './credentials.ts';
import { etcdFlags } from './etcd.ts';
import { httpCheck } from './http-check.ts';
import type { MutualTls } from './key-pairs.ts';

export interface KubeApiserverOptions {
  readonly binary: string;
  readonly credentials: Credentials;
  readonly etcd: { readonly port: number; readonly tls: MutualTls };
  readonly port: number;
  /** Runs once, when the server is ready for the first time and before what depends on it starts. */
  readonly afterReady?: (signal: AbortSignal) => Promise<void>;
}

/** PEM of the certificate authority that the API server made for itself at its first start. */
export function apiserverCa(credentials: Credentials): string {
  return readFileSync(join(credentials.certDir, 'apiserver.crt'), 'utf8');
}

export function kubeApiserverPart(options: KubeApiserverOptions): Part {
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
        // A loopback address can't be an endpoint of the `kubernetes` Service, and nobody here asks for it.
        '--endpoint-reconciler-type=none',
        `--secure-port=${port}`,
        `--cert-dir=${credentials.certDir}`,
        `--token-auth-file=${credentials.tokenFile}`,
        '--authorization-mode=RBAC',
        '--service-account-issuer=https://kubernetes.default.svc',
        `--service-account-signing-key-file=${credentials.serviceAccountKey}`,
        `--service-account-key-file=${credentials.serviceAccountKey}`,
        '--service-cluster-ip-range=10.0.0.0/24',
        // No controller here creates the default service accounts that it would wait for.
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
    ...(options.afterReady === undefined ? {} : { afterReady: options.afterReady }),
  };
}
