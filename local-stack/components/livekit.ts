import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { stringify } from 'yaml';

import { type BinarySpec, downloads, sameMinor } from '../binaries/binary-spec.ts';
import type { Component } from '../supervisor.ts';
import { isOk } from './probes.ts';
import type { RedisAddress } from './redis.ts';
import { ensureSecret } from './secrets.ts';

const VERSION = '1.13.5';

export const LIVEKIT_SERVER: BinarySpec = {
  name: 'livekit-server',
  version: VERSION,
  versionProbe: { args: ['--version'], pattern: /livekit-server version (\S+)/ },
  accepted: sameMinor(VERSION),
  executable: 'livekit-server',
  // The sums are those of the release's checksums.txt, as several projects that pin it repeat it. For macOS it is built from source.
  official: downloads(
    'sha256',
    {
      'linux-amd64': 'c020fac437b7cc9b776eef1ad5ea8af77be9acfa07602eca20a3a44930dfbc70',
      'linux-arm64': '332015305518765fe05bad74fc3a9d9583e635e7dd130de3c4fc563d69c550f3',
    },
    (platform) => ({
      url: `https://github.com/livekit/livekit/releases/download/v${VERSION}/livekit_${VERSION}_${platform.replace('-', '_')}.tar.gz`,
      member: 'livekit-server',
    }),
  ),
  go: { module: 'livekit', package: 'github.com/livekit/livekit-server/cmd/server', seconds: 120 },
};

export interface LivekitOptions {
  readonly binary: string;
  /** Folder for the configuration and the secret of the server's key; readable by its owner only. */
  readonly folder: string;
  /** Port for signalling and the API. */
  readonly port: number;
  /** Port for media. */
  readonly udpPort: number;
  /** Redis keeps the trunks; without it phone numbers are connected to nothing. */
  readonly redis?: RedisAddress;
  /** Set if joining creates a room: LiveKit's SIP service can't bring in a call otherwise. By default only the api creates rooms. */
  readonly roomsByJoining?: boolean;
  /** Addresses that receive the server's webhooks about rooms. */
  readonly eventUrls?: readonly string[];
}

export interface LivekitAddress {
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
}

const API_KEY = 'parley';

/** Returns the address and key of the server; the secret of its key is made at the first start. */
export function livekitAddress({ folder, port }: Pick<LivekitOptions, 'folder' | 'port'>): LivekitAddress {
  return { url: `ws://127.0.0.1:${port}`, apiKey: API_KEY, apiSecret: ensureSecret(folder, 'livekit-secret') };
}

/** Runs the media server, for callers on this machine. */
export function livekitComponent(options: LivekitOptions): Component {
  const { apiSecret } = livekitAddress(options);
  const configuration = join(options.folder, 'livekit.yaml');
  const url = `http://127.0.0.1:${options.port}/`;
  return {
    name: 'livekit',
    dependsOn: options.redis === undefined ? [] : ['redis'],
    prepare: async () => {
      const config = {
        port: options.port,
        bind_addresses: ['127.0.0.1'],
        // One port serves all media, on the loopback address alone: over TCP the server would listen on all, whatever its configuration.
        rtc: {
          tcp_port: 0,
          udp_port: options.udpPort,
          ips: { includes: ['127.0.0.1/32'] },
          use_external_ip: false,
          node_ip: '127.0.0.1',
          enable_loopback_candidate: true,
        },
        room: { auto_create: options.roomsByJoining === true },
        keys: { [API_KEY]: apiSecret },
        ...(options.eventUrls !== undefined && { webhook: { api_key: API_KEY, urls: [...options.eventUrls] } }),
        ...(options.redis !== undefined && { redis: options.redis }),
        logging: { level: 'info', json: true },
      };
      writeFileSync(configuration, stringify(config), { mode: 0o600 });
    },
    command: () => ({ file: options.binary, args: ['--config', configuration] }),
    check: (signal) => isOk(url, signal),
    liveUrl: url,
  };
}
