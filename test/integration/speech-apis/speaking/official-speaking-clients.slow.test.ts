/** Providers' own clients have the same sentences spoken by the same APIs as Parley: both are heard, and both send the same. */
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { systemClock } from '../../../../platform/clock.ts';
import { openEgress, type TestEgress } from '../../../support/open-egress.ts';
import { createSpeechSource } from '../../../../voice/providers/create-speech-source.ts';
import { run } from '../../../support/run.ts';
import { SpokenSentences, synthesizerOf } from '../../../support/speech-synthesis.ts';
import { officialPython } from '../official-python.ts';
import { CASES, endpointAt } from './speaking-cases.ts';
import { startSpeakingServer, type SpeakingServer } from './speaking-server.ts';
import { textOf } from './spoken-text.ts';

const SENTENCES = ['We are open from nine to six.', 'On Saturdays we close at noon!', 'Would you like to come by?'];

describe.each(CASES)('$name', ({ api, official, ...where }) => {
  let interpreter: string;
  let egress: TestEgress;
  let server: SpeakingServer;

  beforeAll(async () => {
    interpreter = await officialPython();
    egress = openEgress({ allowCidrs: ['127.0.0.0/8'] });
  });
  beforeEach(async () => void (server = await startSpeakingServer(api)));
  afterEach(() => server.stop());
  afterAll(() => egress.close());

  async function byOfficialClient(): Promise<readonly string[]> {
    const script = fileURLToPath(new URL('official_speaking_clients.py', import.meta.url));
    const args = [script, where.endpoint.provider, server.url, JSON.stringify(official), JSON.stringify(SENTENCES)];
    const { code, stdout, stderr } = await run(interpreter, args);
    expect(code, stderr).toBe(0);
    const sounds = (JSON.parse(stdout) as readonly string[]).map((sound) => new Uint8Array(Buffer.from(sound, 'base64')).buffer);
    return sounds.map((sound) => textOf([{ data: new Int16Array(sound) }]));
  }

  async function byParley(): Promise<readonly string[]> {
    const endpoint = endpointAt(server.url, where);
    const source = createSpeechSource({ endpoint, language: 'en-US', temperature: 0.3, egress, clock: systemClock });
    const voice = synthesizerOf([{ provider: endpoint.provider, source }], { clock: systemClock });
    const answer = new SpokenSentences(voice);
    await answer.sayAll(SENTENCES);
    await voice.close();
    return answer.sounds.map(textOf);
  }

  /** Returns the messages without the name of the context, which each client chooses. */
  const taken = (): unknown =>
    JSON.parse(JSON.stringify(server.opened.splice(0), (name, value: unknown) => (name === 'context_id' ? 'any' : value)));

  it('is asked by Parley as by its own client', async () => {
    expect(await byOfficialClient()).toEqual(SENTENCES);
    const theirs = taken();
    expect(await byParley()).toEqual(SENTENCES);
    expect(taken()).toEqual(theirs);
  });
});
