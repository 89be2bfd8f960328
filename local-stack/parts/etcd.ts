import type { Part } from '../supervisor.ts';
import { httpCheck } from './http-check.ts';
import { clientTls, type MutualTls } from './key-pairs.ts';

export interface EtcdOptions {
  readonly binary: string;
  readonly dataDir: string;
  readonly port: number;
  readonly peerPort: number;
  readonly tls: MutualTls;
  /** Trades durability for speed: only for data that may be lost with the machine's power, as in tests. */
  readonly unsafeNoFsync?: boolean;
}

/** How the API server reaches it. */
export function etcdFlags({ port, tls: { server, client } }: Pick<EtcdOptions, 'port' | 'tls'>): readonly string[] {
  return [
    `--etcd-servers=https://127.0.0.1:${port}`,
    `--etcd-cafile=${server.cert}`,
    `--etcd-certfile=${client.cert}`,
    `--etcd-keyfile=${client.key}`,
  ];
}

export function etcdPart(options: EtcdOptions): Part {
  const { tls } = options;
  const url = `https://127.0.0.1:${options.port}`;
  const peer = `https://127.0.0.1:${options.peerPort}`;
  return {
    name: 'etcd',
    dependsOn: [],
    command: () => ({
      file: options.binary,
      args: [
        `--data-dir=${options.dataDir}`,
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=${url}`,
        `--listen-peer-urls=${peer}`,
        `--initial-advertise-peer-urls=${peer}`,
        `--initial-cluster=default=${peer}`,
        // Every Secret is in here.
        '--client-cert-auth',
        `--cert-file=${tls.server.cert}`,
        `--key-file=${tls.server.key}`,
        `--trusted-ca-file=${tls.client.cert}`,
        // A single member has no peers.
        '--peer-client-cert-auth',
        `--peer-cert-file=${tls.server.cert}`,
        `--peer-key-file=${tls.server.key}`,
        `--peer-trusted-ca-file=${tls.server.cert}`,
        // It would call itself with a certificate that is no client's.
        '--enable-grpc-gateway=false',
        // A year of development must not end in "mvcc: database space exceeded".
        '--auto-compaction-mode=periodic',
        '--auto-compaction-retention=1h',
        '--quota-backend-bytes=4294967296',
        '--log-level=warn',
        ...(options.unsafeNoFsync === true ? ['--unsafe-no-fsync'] : []),
      ],
    }),
    check: async (signal) => {
      const { status, body } = await httpCheck({ url: `${url}/health`, ...clientTls(tls), signal });
      return status === 200 && body.includes('"health":"true"');
    },
  };
}
