/** A LiveKit server of a suite's own: its jobs go to the suite's own voice role, and its events where the suite wants them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { MediaServer } from '../../calls/media-server.ts';
import { livekitAddress, livekitComponent, type LivekitOptions } from '../../local-stack/components/livekit.ts';
import { freePorts } from '../../local-stack/ports.ts';
import { Supervisor } from '../../local-stack/supervisor.ts';
import { testBinary } from './programs.ts';

export interface OwnMediaServer {
  readonly address: MediaServer;
  /** @param options - `eventUrls`: addresses that get its webhooks; `roomsByJoining`: it creates rooms on join */
  start(options?: Pick<LivekitOptions, 'eventUrls' | 'roomsByJoining'>): Promise<void>;
  /** Stops the server at once, with participants or without. */
  stop(): Promise<void>;
}

/** Makes a server that isn't started yet: the receiver of its events has to know its key first. */
export async function ownMediaServer(): Promise<OwnMediaServer> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-media-server-'));
  const [port = 0, udpPort = 0] = await freePorts(2);
  const address = livekitAddress({ folder, port });
  let supervisor: Supervisor | undefined;
  return {
    address: { ...address, publicUrl: address.url, agentName: 'parley-voice', joinSeconds: 300 },
    async start(options) {
      const binary = await testBinary('livekit-server');
      supervisor = new Supervisor({
        components: [livekitComponent({ binary, folder, port, udpPort, ...options })],
        logDir: join(folder, 'logs'),
        runDir: join(folder, 'run'),
      });
      await supervisor.start();
    },
    async stop() {
      await supervisor?.stop(AbortSignal.abort());
      await rm(folder, { recursive: true, force: true });
    },
  };
}
