/** Runs a LiveKit server of a suite's own, with Redis: for suites that lose what it keeps, or hang it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { MediaServer } from '../../calls/media-server.ts';
import { livekitSipComponent, RTP_PORTS } from '../../local-stack/components/livekit-sip.ts';
import { livekitAddress, livekitComponent } from '../../local-stack/components/livekit.ts';
import { redisAddress, redisCommand, redisComponent } from '../../local-stack/components/redis.ts';
import { freePorts } from '../../local-stack/ports.ts';
import { Supervisor } from '../../local-stack/supervisor.ts';
import { testBinary } from './programs.ts';

export interface SipMediaServer extends MediaServer {
  /** Host and port of the SIP service. */
  readonly sip: string;
  /** Forgets everything: trunks, rules, rooms. */
  flush(): Promise<void>;
  pid(component: 'livekit' | 'redis'): number | undefined;
  stop(): Promise<void>;
}

/**
 * @param withRedis false for a server that keeps no trunks
 * @param sipService program of LiveKit's SIP service; without one no server answers at {@link SipMediaServer.sip}
 */
export async function startSipMediaServer({
  withRedis = true,
  sipService,
}: { readonly withRedis?: boolean; readonly sipService?: string | undefined } = {}): Promise<SipMediaServer> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sip-'));
  const [port = 0, udpPort = 0, redisPort = 0, sipPort = 0, ...rtp] = await freePorts(4 + (sipService === undefined ? 0 : RTP_PORTS));
  const redis = withRedis ? { binary: await testBinary('redis-server'), port: redisPort, folder } : undefined;
  const options = { folder, port, udpPort, ...(redis && { redis: redisAddress(redis) }) };
  const address = livekitAddress({ folder, port });
  const gateway = { folder, mediaServer: address, redis: redisAddress({ folder, port: redisPort }), port: sipPort, rtpPort: rtp[0] ?? 0 };
  const supervisor = new Supervisor({
    components: [
      ...(redis ? [redisComponent(redis)] : []),
      livekitComponent({ binary: await testBinary('livekit-server'), roomsByJoining: sipService !== undefined, ...options }),
      ...(sipService === undefined ? [] : [livekitSipComponent({ binary: sipService, ...gateway })]),
    ],
    logDir: join(folder, 'logs'),
    runDir: join(folder, 'run'),
  });
  await supervisor.start();
  return {
    ...address,
    publicUrl: address.url,
    agentName: 'parley-voice',
    joinSeconds: 300,
    sip: `127.0.0.1:${sipPort}`,
    async flush() {
      const answer = await redisCommand({ folder, port: redisPort }, 'FLUSHALL');
      if (answer !== '+OK') throw new Error(`redis: ${answer}`);
    },
    pid: (component) => supervisor.pid(component),
    async stop() {
      await supervisor.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
