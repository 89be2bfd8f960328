import type { Part } from '../supervisor.ts';
import { httpCheck } from './http-check.ts';

export interface EtcdOptions {
  readonly binary: string;
  readonly dataDir: string;
  readonly port: number;
  readonly peerPort: number;
  /** Trades durability for speed: only for data that may be lost with the machine's power, as in tests. */
  readonly unsafeNoFsync?: boolean;
}

export function etcdPart(options: EtcdOptions): Part {
  const url = `http://127.0.0.1:${options.port}`;
  const peer = `http://127.0.0.1:${options.peerPort}`;
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
        // A year of development must not end in "mvcc: database space exceeded".
        '--auto-compaction-mode=periodic',
        '--auto-compaction-retention=1h',
        '--quota-backend-bytes=4294967296',
        '--log-level=warn',
        ...(options.unsafeNoFsync === true ? ['--unsafe-no-fsync'] : []),
      ],
    }),
    check: async (signal) => {
      const { status, body } = await httpCheck({ url: `${url}/health`, signal });
      return status === 200 && body.includes('"health":"true"');
    },
  };
}
