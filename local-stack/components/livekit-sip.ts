import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { stringify } from 'yaml';

import type { Component } from '../supervisor.ts';
import type { LivekitAddress } from './livekit.ts';
import type { RedisAddress } from './redis.ts';
import { canConnect } from './probes.ts';

export interface LivekitSipOptions {
  readonly binary: string;
  /** Folder for the configuration; readable by its owner only. */
  readonly folder: string;
  readonly mediaServer: LivekitAddress;
  /** The Redis of the media server. */
  readonly redis: RedisAddress;
  /** Port for signalling, UDP and TCP. */
  readonly port: number;
  /** First of the ports that receive sound, of which each call takes one. */
  readonly rtpPort: number;
}

/** Number of ports that receive sound. A port is not used again for some time after its call. */
export const RTP_PORTS = 200;

/** Speaks SIP with carriers and telephones, for those on this machine. */
export function livekitSipComponent({ binary, folder, mediaServer, redis, port, rtpPort }: LivekitSipOptions): Component {
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
        rtp_port: `${rtpPort}-${rtpPort + RTP_PORTS - 1}`,
        listen_ip: '127.0.0.1',
        // Without this the service refuses a loopback address as its own; `local_net` does not change that.
        nat_1_to_1_ip: '127.0.0.1',
        // The service refuses calls when the machine is this busy, and here other programs make it busy, too.
        max_cpu_utilization: 1,
        logging: { level: 'info', json: true },
      };
      writeFileSync(configuration, stringify(config), { mode: 0o600 });
    },
    command: () => ({ file: binary, args: ['--config', configuration] }),
    check: (signal) => canConnect(port, signal),
  };
}
