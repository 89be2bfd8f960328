/** Providers' own clients stream to the same APIs as Parley: both are understood, and both send the same. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { systemClock } from '../../../../platform/clock.ts';
import { openEgress, type TestEgress } from '../../../support/open-egress.ts';
import { createProviderConnect } from '../../../../calls/provider-access/index.ts';
import { sttStreamingOf } from '../../../../voice/providers/provider-table.ts';
import { RECOGNITION_SAMPLE_RATE } from '../../../../voice/providers/stt/recognition.ts';
import { eventually } from '../../../support/eventually.ts';
import { suiteFolder } from '../../../support/folders.ts';
import { run } from '../../../support/run.ts';
import { recognize, recognizerOf } from '../../../support/speech-recognition.ts';
import { bytesOf } from '../../../support/tones.ts';
import { officialPython } from '../official-python.ts';
import { samplesOf, silence, wordsOf } from './spoken-words.ts';
import { CASES, endpointAt, KEYWORDS } from './streaming-cases.ts';
import { startStreamingServer, type Opened, type StreamingServer } from './streaming-server.ts';

const WORDS = wordsOf(7);

describe.each(CASES)('$name', ({ api, official, ...where }) => {
  const samplesAt = (rate: number): Int16Array => new Int16Array([...samplesOf(WORDS, rate), ...silence(600, rate)]);
  let interpreter: string;
  let egress: TestEgress;
  let server: StreamingServer;
  const folder = suiteFolder();

  beforeAll(async () => {
    interpreter = await officialPython();
    egress = openEgress({ allowCidrs: ['127.0.0.0/8'] });
    await writeFile(join(folder, 'audio'), bytesOf(samplesAt(api.sampleRate)));
  });
  beforeEach(async () => void (server = await startStreamingServer(api)));
  afterEach(() => server.stop());
  afterAll(async () => {
    egress.close();
  });

  async function byOfficialClient(settings: object = official.settings): Promise<string> {
    const script = fileURLToPath(new URL('official_streaming_clients.py', import.meta.url));
    const args = [script, official.client, server.url, JSON.stringify(settings), join(folder, 'audio')];
    const { code, stdout, stderr } = await run(interpreter, args);
    expect(code, stderr).toBe(0);
    return (JSON.parse(stdout) as readonly string[]).join(' ');
  }

  async function byParley({
    keywords = [],
    ...chosen
  }: { readonly keywords?: readonly string[]; readonly model?: string } = {}): Promise<string> {
    const endpoint = { ...endpointAt(server.url, where), ...chosen };
    const streaming = sttStreamingOf({ endpoint, language: 'en-US', keywords })!;
    const connect = createProviderConnect({ endpoint, egress, clock: systemClock });
    const { model } = streaming;
    const recognizer = recognizerOf([{ provider: endpoint.provider, model, streaming, connect }], { clock: systemClock });
    return recognize(recognizer, samplesAt(RECOGNITION_SAMPLE_RATE));
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

  it('is told keywords by Parley as by its own client', async () => {
    const { settings, ...chosen } = official.keywords;
    expect(await byOfficialClient({ ...official.settings, ...settings })).toBe(WORDS.join(' '));
    await allClosed();
    const theirs: Opened[] = server.opened.splice(0);
    expect(JSON.stringify(theirs)).toContain('Zürich');
    expect(await byParley({ keywords: KEYWORDS, ...chosen })).toBe(WORDS.join(' '));
    await allClosed();
    expect(server.opened).toEqual(theirs);
  });
});
