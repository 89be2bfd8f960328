import { type BinarySpec, downloads, sameMinor } from '../binaries/binary-spec.ts';
import type { Component } from '../supervisor.ts';
import { httpCheck } from './probes.ts';
import { clientTls, type MutualTls } from './secrets.ts';

const VERSION = '3.6.4';

export const ETCD: BinarySpec = {
  name: 'etcd',
  version: VERSION,
  versionProbe: { args: ['--version'], pattern: /etcd Version: (\S+)/ },
  // Older versions lack RequestWatchProgress, on which the API server's streaming lists depend.
  accepted: sameMinor(VERSION),
  executable: 'etcd',
  // The sums are those of the project's SHA256SUMS, as kubespray's checksum list repeats it.
  official: downloads(
    'sha256',
    {
      'linux-amd64': '4d5f3101daa534e45ccaf3eec8d21c19b7222db377bcfd5e5a9144155238c105',
      'linux-arm64': '323421fa279f4f3d7da4c7f2dfa17d9e49529cb2b4cdf40899a7416bccdde42d',
    },
    (platform) => ({
      url: `https://github.com/etcd-io/etcd/releases/download/v${VERSION}/etcd-v${VERSION}-${platform}.tar.gz`,
      member: `etcd-v${VERSION}-${platform}/etcd`,
    }),
  ),
  go: { module: 'kubernetes', package: 'go.etcd.io/etcd/server/v3', seconds: 40 },
};

export interface EtcdOptions {
  readonly binary: string;
  readonly dataDir: string;
  readonly port: number;
  readonly peerPort: number;
  readonly tls: MutualTls;
  /** Trades durability for speed: set it only for data that may be lost with the machine's power, as in tests. */
  readonly unsafeNoFsync?: boolean;
}

/** Returns the flags with which the API server reaches etcd. */
export function etcdFlags({ port, tls: { server, client } }: Pick<EtcdOptions, 'port' | 'tls'>): readonly string[] {
  return [
    `--etcd-servers=https://127.0.0.1:${port}`,
    `--etcd-cafile=${server.cert}`,
    `--etcd-certfile=${client.cert}`,
    `--etcd-keyfile=${client.key}`,
  ];
}

export function etcdComponent(options: EtcdOptions): Component {
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
        // Every Secret is stored here.
        '--client-cert-auth',
        `--cert-file=${tls.server.cert}`,
        `--key-file=${tls.server.key}`,
        `--trusted-ca-file=${tls.client.cert}`,
        // A single member has no peers.
        '--peer-client-cert-auth',
        `--peer-cert-file=${tls.server.cert}`,
        `--peer-key-file=${tls.server.key}`,
        `--peer-trusted-ca-file=${tls.server.cert}`,
        // The gateway would call etcd itself with a certificate that no client has.
        '--enable-grpc-gateway=false',
        // A year of development must not end in "mvcc: database space exceeded".
        '--auto-compaction-mode=periodic',
        '--auto-compaction-retention=1h',
        '--quota-backend-bytes=4294967296',
        '--log-level=warn',
        ...(options.unsafeNoFsync === true ? ['--unsafe-no-fsync'] : []),
      ],
    }),
    liveUrl: `${url}/health`,
    check: async (signal) => {
      const { status, body } = await httpCheck({ url: `${url}/health`, ...clientTls(tls), signal });
      return status === 200 && body.includes('"health":"true"');
    },
  };
}
