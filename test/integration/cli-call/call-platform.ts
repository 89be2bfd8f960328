/** Runs everything that a call needs: the facade, a media server and a voice role of the suite's own, and scripted providers. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import { wavOf } from '../../../platform/wav.ts';
import { ownMediaServer } from '../../support/own-media-server.ts';
import { startProviderServer, type ProviderServer } from '../../support/provider-server.ts';
import { syntheticSpeech } from '../../support/synthetic-speech.ts';
import type { MediaServer } from '../../../calls/media-server.ts';
import { serveAgent } from '../api/calls-support.ts';
import { organization, startFacade, type Facade, type TestOrganization } from '../api/facade.ts';
import { startRole } from '../voice/stage.ts';

export interface CallPlatform {
  /** Folder for files that the suite leaves behind. */
  readonly folder: string;
  readonly facade: Facade;
  /** Organisation with the agents `receptionist`, who says good morning, and `curious`, who requires `who` and waits. */
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
  const speech = { provider: 'openai_compatible', baseURL: provider.url, model: 'm' } as const;
  const agent = { llm: { ...speech, temperature: '0' }, speechToText: speech, textToSpeech: { ...speech, voice: {}, temperature: '0.5' } };
  await serveAgent(facade.store, org.name, 'receptionist', { agent: { ...agent, welcomeMessage: 'Good morning.' } });
  await serveAgent(facade.store, org.name, 'curious', { agent: { ...agent, requiredDynamicData: ['who'] } });
  const voice = await startRole({
    ...process.env,
    DATABASE_URL: facade.database.url,
    LIVEKIT_URL: mediaServer.url,
    LIVEKIT_API_KEY: mediaServer.apiKey,
    LIVEKIT_API_SECRET: mediaServer.apiSecret,
    LIVEKIT_AGENT_NAME: mediaServer.agentName,
    STORAGE_URL: storageUrl,
    PARLEY_VOICE_SPOOL: join(folder, 'spool'),
    PARLEY_VOICE_DRAIN_MS: '5000',
    PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
  });
  return {
    folder,
    facade,
    org,
    mediaServer,
    provider,
    voiceLog: () => voice.output(),
    async close() {
      await voice.stop();
      await livekit.stop();
      await provider.close();
      await facade.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Makes a WAV file with a sentence that a detector of voices takes for one.
 * @param silenceMs before it, and after it
 */
export function speechWav({
  sampleRate = 24_000,
  silenceMs = [0, 0],
}: { readonly sampleRate?: number; readonly silenceMs?: readonly [number, number] } = {}): Buffer {
  const [before, after] = silenceMs.map((ms) => Math.round((sampleRate * ms) / 1_000));
  const speech = syntheticSpeech({ sampleRate, ms: 1_200 });
  const samples = new Int16Array(before! + speech.length + after!);
  samples.set(speech, before);
  return wavOf({ samples, sampleRate });
}
