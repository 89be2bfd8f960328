/** Providers' own clients stream to the same APIs as Parley: both are understood, and both send the same. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { initializeLogger } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { systemClock } from '../../../../platform/clock.ts';
import { openEgress, type TestEgress } from '../../../support/open-egress.ts';
import { createProviderConnect } from '../../../../voice/calls/provider-access/index.ts';
import { sttStreamingOf } from '../../../../voice/providers/provider-table.ts';
import { SttAdapter } from '../../../../voice/providers/stt/stt-adapter.ts';
import { eventually } from '../../../support/eventually.ts';
import { suiteFolder } from '../../../support/folders.ts';
import { run } from '../../../support/run.ts';
import { bytesOf } from '../../../support/tones.ts';
import { officialPython } from '../official-python.ts';
import { samplesOf, silence, wordsOf } from './spoken-words.ts';
import { CASES, endpointAt } from './streaming-cases.ts';
import { startStreamingServer, type Opened, type StreamingServer } from './streaming-server.ts';

const WORDS = wordsOf(7);

describe.each(CASES)('$name', ({ api, official, ...where }) => {
  const samples = new Int16Array([...samplesOf(WORDS, api.sampleRate), ...silence(600, api.sampleRate)]);
  let interpreter: string;
  let egress: TestEgress;
  let server: StreamingServer;
  const folder = suiteFolder();

  beforeAll(async () => {
    initializeLogger({ pretty: false, level: 'silent' });
    interpreter = await officialPython();
    egress = openEgress({ allowCidrs: ['127.0.0.0/8'] });
    await writeFile(join(folder, 'audio'), bytesOf(samples));
  });
  beforeEach(async () => void (server = await startStreamingServer(api)));
  afterEach(() => server.stop());
  afterAll(async () => {
    egress.close();
  });

  async function byOfficialClient(): Promise<string> {
    const script = fileURLToPath(new URL('official_streaming_clients.py', import.meta.url));
    const args = [script, official.client, server.url, JSON.stringify(official.settings), join(folder, 'audio')];
    const { code, stdout, stderr } = await run(interpreter, args);
    expect(code, stderr).toBe(0);
    return (JSON.parse(stdout) as readonly string[]).join(' ');
  }

  async function byParley(): Promise<string | undefined> {
    const endpoint = endpointAt(server.url, where);
    const streaming = sttStreamingOf({ endpoint, language: 'en-US' })!;
    const connect = createProviderConnect({ endpoint, egress, clock: systemClock });
    const stt = new SttAdapter({ provider: endpoint.provider, language: 'en-US', clock: systemClock, speaks: { streaming, connect } });
    const { alternatives } = await stt.recognize(new AudioFrame(samples, api.sampleRate, 1, samples.length));
    await stt.close();
    return alternatives?.[0].text;
  }

  /** The server may notice later than its client. */
  const allClosed = () => eventually(() => expect(server.opened.every(({ closed }) => closed)).toBe(true));

  it('is asked by Parley as by its own client', async () => {
    expect(await byOfficialClient()).toBe(WORDS.join(' '));
    await allClosed();
    const theirs: Opened[] = server.opened.splice(0);
    expect(await byParley()).toBe(WORDS.join(' '));
    await allClosed();
    expect(server.opened).toEqual(theirs);
  });
});
