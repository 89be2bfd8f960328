import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { stringify } from 'yaml';

import type { Part } from '../supervisor.ts';
import { canConnect } from './can-connect.ts';
import type { LivekitAddress } from './livekit.ts';
import type { RedisAddress } from './redis.ts';

export interface LivekitSipOptions {
  readonly binary: string;
  /** Where its configuration is kept; for the owner's eyes only. */
  readonly folder: string;
  readonly mediaServer: LivekitAddress;
  /** The media server's. */
  readonly redis: RedisAddress;
  /** Signalling, UDP and TCP. */
  readonly port: number;
  /** First of the ports that sound comes in at, of which each call takes one. */
  readonly rtpPort: number;
}

/** How many ports sound may come in at. One is not used again for some time after its call. */
export const rtpPorts = 200;

/** What speaks SIP with carriers and telephones, for those on this machine. */
export function livekitSipPart({ binary, folder, mediaServer, redis, port, rtpPort }: LivekitSipOptions): Part {
  const configuration = join(folder, 'livekit-sip.yaml');
  return {
    name: 'livekit-sip',
    dependsOn: ['redis', 'livekit'],
    prepare: async () => {
      const config = {
        api_key: mediaServer.apiKey,
        api_secret: mediaServer.apiSecret,
        ws_url: mediaServer.url,
        redis,
        sip_port: port,
        rtp_port: `${rtpPort}-${rtpPort + rtpPorts - 1}`,
        listen_ip: '127.0.0.1',
        // It takes no loopback address for its own unless told; `local_net` doesn't tell it.
        nat_1_to_1_ip: '127.0.0.1',
        // It takes no more calls when the machine is this busy, and here others are busy on it, too.
        max_cpu_utilization: 1,
        logging: { level: 'info', json: true },
      };
      writeFileSync(configuration, stringify(config), { mode: 0o600 });
    },
    command: () => ({ file: binary, args: ['--config', configuration] }),
    check: (signal) => canConnect(port, signal),
  };
}
