import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { stringify } from 'yaml';

import type { Part } from '../supervisor.ts';
import { httpCheck } from './http-check.ts';

export interface LivekitOptions {
  readonly binary: string;
  /** Where its configuration and the secret of its key are kept; for the owner's eyes only. */
  readonly folder: string;
  /** Signalling and API. */
  readonly port: number;
  /** Media. */
  readonly tcpPort: number;
  readonly udpPort: number;
  /** `host:port`; without one it keeps no trunks, and phone numbers are connected to nothing. */
  readonly redis?: string;
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
  const file = join(folder, 'livekit-secret');
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600 });
  return { url: `ws://127.0.0.1:${port}`, apiKey, apiSecret: readFileSync(file, 'utf8').trim() };
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
        // One port for everybody's media; the machine's other addresses are nobody's business.
        rtc: {
          tcp_port: options.tcpPort,
          udp_port: options.udpPort,
          use_external_ip: false,
          node_ip: '127.0.0.1',
          enable_loopback_candidate: true,
        },
        keys: { [apiKey]: apiSecret },
        ...(options.eventUrls !== undefined && { webhook: { api_key: apiKey, urls: [...options.eventUrls] } }),
        ...(options.redis !== undefined && { redis: { address: options.redis } }),
        logging: { level: 'info', json: true },
      };
      writeFileSync(configuration, stringify(config), { mode: 0o600 });
    },
    command: () => ({ file: options.binary, args: ['--config', configuration] }),
    check: async (signal) => (await httpCheck({ url: `http://127.0.0.1:${options.port}/`, signal })).status === 200,
  };
}
