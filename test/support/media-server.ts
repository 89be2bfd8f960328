import { randomUUID } from 'node:crypto';

import type { MediaServer } from '../../calls/media-server.ts';
import type { LivekitAddress } from '../../local-stack/components/livekit.ts';
import { askForServer } from './servers.ts';

/** Returns a real LiveKit server, shared by all test files: use rooms of your own, and give your voice roles LIVEKIT_AGENT_NAME. */
export async function mediaServer(): Promise<MediaServer> {
  const address = await askForServer<LivekitAddress>('/media-server');
  return { ...address, publicUrl: address.url, agentName: `voice-${randomUUID()}`, joinSeconds: 300 };
}
