/** Runs what Parley needs beyond Kubernetes in the node's namespaces: Postgres, Temporal, LiveKit with Redis, offline speech. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse, stringify } from 'yaml';

import { devProviders, devSpeechComponent, devSpeechUrl } from '../../local-stack/components/dev-speech.ts';
import { livekitAddress, livekitComponent } from '../../local-stack/components/livekit.ts';
import { postgresComponent, postgresUrl } from '../../local-stack/components/postgres.ts';
import { postgresInstallation } from '../../local-stack/components/postgres-installation.ts';
import { exampleOrdersHost } from '../../local-stack/speech/example-orders.ts';
import { receiverHost, receiverComponent, receiverUrl } from '../../local-stack/components/receiver.ts';
import { redisAddress, redisComponent } from '../../local-stack/components/redis.ts';
import { temporalComponent } from '../../local-stack/components/temporal.ts';
import type { Component } from '../../local-stack/supervisor.ts';
import { NODE_ADDRESS, WORLD_ADDRESS } from './cluster.ts';
import type { InstalledServers } from './installation.ts';
import { ensureSecret } from '../../local-stack/components/secrets.ts';

const ports = {
  postgres: 5432,
  temporal: 7233,
  redis: 6379,
  livekit: 7880,
  livekitUdp: 7882,
  speech: 7890,
  receiver: 7891,
};

export function describeServers(options: {
  readonly work: string;
  readonly binary: (name: 'postgres' | 'temporal' | 'redis-server' | 'livekit-server') => string;
  readonly parley: readonly [string, ...string[]];
  /** Kubeconfig of somebody who may read the organisation's signing Secrets. */
  readonly kubeconfig: string;
}): {
  readonly components: readonly Component[];
  readonly servers: InstalledServers;
  /** Address at which pods look for a server that listens at the loopback address alone. */ readonly loopback: readonly {
    readonly host: string;
    readonly port: number;
  }[];
} {
  const { work, binary } = options;
  const postgres = {
    installation: postgresInstallation({ stateDir: work, binary: binary('postgres') }),
    port: ports.postgres,
    passwordFile: join(work, 'postgres-password'),
    unsafeNoFsync: true,
  };
  const redis = { binary: binary('redis-server'), port: ports.redis, folder: work };
  const livekit = {
    binary: binary('livekit-server'),
    folder: work,
    port: ports.livekit,
    udpPort: ports.livekitUdp,
    redis: redisAddress(redis),
  };
  const address = livekitAddress(livekit);
  const receiverToken = ensureSecret(work, 'receiver-token');
  return {
    components: [
      postgresComponent(postgres),
      temporalComponent({ binary: binary('temporal'), databaseFile: join(work, 'temporal.db'), port: ports.temporal }),
      redisComponent(redis),
      atNodeAddress(livekitComponent(livekit), join(work, 'livekit.yaml')),
      devSpeechComponent({ command: options.parley, port: ports.speech, env: process.env }),
      receiverComponent({
        command: options.parley,
        port: ports.receiver,
        token: receiverToken,
        env: { ...process.env, KUBECONFIG: options.kubeconfig },
      }),
    ],
    servers: {
      databaseUrl: postgresUrl(postgres),
      temporalPort: ports.temporal,
      livekit: { port: ports.livekit, apiKey: address.apiKey, apiSecret: address.apiSecret },
      speechUrl: devSpeechUrl(ports.speech),
      receiverUrl: receiverUrl(ports.receiver, receiverToken),
      egressHosts: [receiverHost(ports.receiver), exampleOrdersHost(ports.speech)].join(',').replaceAll('127.0.0.1', WORLD_ADDRESS),
      providers: devProviders(devSpeechUrl(ports.speech), undefined).replaceAll('127.0.0.1', WORLD_ADDRESS),
    },
    loopback: [
      { host: NODE_ADDRESS, port: ports.postgres },
      { host: NODE_ADDRESS, port: ports.temporal },
      { host: WORLD_ADDRESS, port: ports.speech },
      { host: WORLD_ADDRESS, port: ports.receiver },
    ],
  };
}

/** Puts media at an address that both can reach: they go straight from pod to server. */
function atNodeAddress(component: Component, configuration: string): Component {
  return {
    ...component,
    prepare: async (signal) => {
      await component.prepare?.(signal);
      const config = parse(readFileSync(configuration, 'utf8')) as { rtc: object };
      const rtc = { ...config.rtc, node_ip: NODE_ADDRESS, enable_loopback_candidate: false, ips: { includes: [`${NODE_ADDRESS}/32`] } };
      writeFileSync(configuration, stringify({ ...config, bind_addresses: ['127.0.0.1', NODE_ADDRESS], rtc }), { mode: 0o600 });
    },
  };
}
