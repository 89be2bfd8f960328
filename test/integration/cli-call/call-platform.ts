/** Everything that a call needs: the facade, a media server and a voice role of the suite's own, and scripted providers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect } from 'vitest';

import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { ownMediaServer } from '../../support/own-media-server.ts';
import { startProviderServer, type ProviderServer } from '../../support/provider-server.ts';
import { syntheticSpeech } from '../../support/synthetic-speech.ts';
import { parleyEntry } from '../../support/stack.ts';
import type { MediaServer } from '../../../voice/calls/media-server.ts';
import { serveAgent } from '../api/calls-support.ts';
import { organization, startFacade, type Facade, type TestOrganization } from '../api/facade.ts';

export interface CallPlatform {
  /** For what the suite leaves behind. */
  readonly folder: string;
  readonly facade: Facade;
  /** Has the agents `receptionist`, who says good morning, and `curious`, who requires `who` and waits. */
  readonly org: TestOrganization;
  readonly mediaServer: MediaServer;
  readonly provider: ProviderServer;
  voiceLog(): string;
  close(): Promise<void>;
}

export async function startCallPlatform({ page = false }: { readonly page?: boolean } = {}): Promise<CallPlatform> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-call-'));
  const livekit = await ownMediaServer();
  const mediaServer = livekit.address;
  await livekit.start();
  const provider = await startProviderServer();
  const storageUrl = `file://${join(folder, 'files')}`;
  const recordings = openFileStorage({ url: storageUrl });
  const facade = await startFacade({ calls: { mediaServer, recordings, page } });
  const org = await organization(facade);
  const speech = { provider: 'openai_compatible', baseURL: provider.url, model: 'm' };
  const llm = { ...speech, type: 'simple', temperature: 0 } as const;
  const agent = { llm, speechToText: speech, textToSpeech: { ...speech, voice: {}, temperature: 0.5 } };
  await serveAgent(facade.store, org.name, 'receptionist', { agent: { ...agent, welcomeMessage: 'Good morning.' } });
  await serveAgent(facade.store, org.name, 'curious', { agent: { ...agent, llm: { ...llm, requiredDynamicData: ['who'] } } });
  const port = await freePort();
  const voice = spawn(process.execPath, [parleyEntry, 'voice'], {
    env: {
      ...process.env,
      DATABASE_URL: facade.database.url,
      LIVEKIT_URL: mediaServer.url,
      LIVEKIT_API_KEY: mediaServer.apiKey,
      LIVEKIT_API_SECRET: mediaServer.apiSecret,
      LIVEKIT_AGENT_NAME: mediaServer.agentName,
      STORAGE_URL: storageUrl,
      PARLEY_VOICE_SPOOL: join(folder, 'spool'),
      PARLEY_VOICE_PORT: String(port),
      PARLEY_VOICE_DRAIN_MS: '5000',
      PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [voice.stdout, voice.stderr]) stream.on('data', (chunk: Buffer) => (log += chunk.toString()));
  await eventually(async () => {
    if (voice.exitCode !== null) throw new Error(`the voice role has ended: ${log}`);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  });
  return {
    folder,
    facade,
    org,
    mediaServer,
    provider,
    voiceLog: () => log,
    async close() {
      voice.kill('SIGTERM');
      if (voice.exitCode === null) await once(voice, 'exit');
      await livekit.stop();
      await provider.close();
      await facade.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * A sentence that a detector of voices takes for one, as a WAV file.
 * @param silenceMs before it, and after it
 */
export function speechWav({
  sampleRate = 24_000,
  silenceMs = [0, 0],
}: { readonly sampleRate?: number; readonly silenceMs?: readonly [number, number] } = {}): Buffer {
  const [before, after] = silenceMs.map((ms) => Buffer.alloc(2 * Math.round((sampleRate * ms) / 1_000)));
  const samples = Buffer.concat([before!, Buffer.from(syntheticSpeech({ sampleRate, ms: 1_200 }).buffer), after!]);
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(2 * sampleRate, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}
