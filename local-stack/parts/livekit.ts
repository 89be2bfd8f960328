import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { stringify } from 'yaml';

import type { Part } from '../supervisor.ts';
import { httpCheck } from './http-check.ts';
import type { RedisAddress } from './redis.ts';
import { ensureSecret } from './secret.ts';

export interface LivekitOptions {
  readonly binary: string;
  /** Where its configuration and the secret of its key are kept; for the owner's eyes only. */
  readonly folder: string;
  /** Signalling and API. */
  readonly port: number;
  /** Media. */
  readonly udpPort: number;
  /** Without one it keeps no trunks, and phone numbers are connected to nothing. */
  readonly redis?: RedisAddress;
  /** It makes rooms for whoever joins: LiveKit's SIP service has no other way to bring in a call. By default rooms are made by the api alone. */
  readonly roomsByJoining?: boolean;
  /** Addresses that it tells what happens in its rooms. */
  readonly eventUrls?: readonly string[];
}

export interface LivekitAddress {
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
}

const apiKey = 'parley';

/** How to reach the server; the secret of its key is made at the first start. */
export function livekitAddress({ folder, port }: Pick<LivekitOptions, 'folder' | 'port'>): LivekitAddress {
  return { url: `ws://127.0.0.1:${port}`, apiKey, apiSecret: ensureSecret(folder, 'livekit-secret') };
}

/** The media server, for callers on this machine. */
export function livekitPart(options: LivekitOptions): Part {
  const { apiSecret } = livekitAddress(options);
  const configuration = join(options.folder, 'livekit.yaml');
  return {
    name: 'livekit',
    dependsOn: options.redis === undefined ? [] : ['redis'],
    prepare: async () => {
      const config = {
        port: options.port,
        bind_addresses: ['127.0.0.1'],
        // One port for all media, on the loopback address alone. Over TCP the server would listen on all addresses, whatever it is told.
        rtc: {
          tcp_port: 0,
          udp_port: options.udpPort,
          ips: { includes: ['127.0.0.1/32'] },
          use_external_ip: false,
          node_ip: '127.0.0.1',
          enable_loopback_candidate: true,
        },
        room: { auto_create: options.roomsByJoining === true },
        keys: { [apiKey]: apiSecret },
        ...(options.eventUrls !== undefined && { webhook: { api_key: apiKey, urls: [...options.eventUrls] } }),
        ...(options.redis !== undefined && { redis: options.redis }),
        logging: { level: 'info', json: true },
      };
      writeFileSync(configuration, stringify(config), { mode: 0o600 });
    },
    command: () => ({ file: options.binary, args: ['--config', configuration] }),
    check: async (signal) => (await httpCheck({ url: `http://127.0.0.1:${options.port}/`, signal })).status === 200,
  };
}
