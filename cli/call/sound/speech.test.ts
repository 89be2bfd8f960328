import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, expect, it } from 'vitest';

import { testFolder } from '../../../test/support/folders.ts';
import { Servers, startEndpoint } from '../../../test/support/http-servers.ts';
import { readSound, speak } from './speech.ts';

const servers = new Servers();
afterEach(() => servers.stop());

interface Asked {
  readonly path: string | undefined;
  readonly key: string | undefined;
  readonly body: unknown;
}

async function server(status: number, answer: Uint8Array | string): Promise<{ readonly url: string; readonly asked: Asked[] }> {
  const asked: Asked[] = [];
  const { url } = await startEndpoint(servers, (response, { url: path, headers, body }) => {
    asked.push({ path, key: headers.authorization, body: JSON.parse(body) });
    response.writeHead(status).end(answer);
  });
  return { url: `${url}/v1`, asked };
}

const wav = Buffer.from('UklGRigAAABXQVZFZm10IBAAAAABAAEAwF0AAIC7AAACABAAZGF0YQQAAAABAAIA', 'base64');
const voice = { model: 'tts-1', voice: 'alloy' };

it('asks as any client of such a server does', async () => {
  const { url, asked } = await server(200, wav);
  const sound = await speak('Hello.', { url: `${url}/`, apiKey: 'sk-1', ...voice });
  expect(sound).toEqual({ sampleRate: 24_000, samples: new Int16Array([1, 2]) });
  expect(asked).toEqual([
    { path: '/v1/audio/speech', key: 'Bearer sk-1', body: { model: 'tts-1', voice: 'alloy', input: 'Hello.', response_format: 'wav' } },
  ]);
});

it('says which server is unavailable, or refuses, and what to do', async () => {
  await expect(speak('x', { url: 'http://127.0.0.1:1/v1', ...voice })).rejects.toThrow(
    /speech server at http:\/\/127\.0\.0\.1:1\/v1 does not answer/,
  );
  const refusing = await server(401, '{"error":"no key"}');
  await expect(speak('x', { url: refusing.url, ...voice })).rejects.toMatchObject({
    cure: expect.stringContaining('PARLEY_SPEECH_API_KEY'),
  });
  const odd = await server(200, 'ID3 mp3');
  await expect(speak('x', { url: odd.url, ...voice })).rejects.toThrow(/sent can't be read as a WAV file/);
});

it('reads a file, or says that it is not there', async () => {
  const file = join(testFolder(), 'speech.wav');
  await writeFile(file, wav);
  expect((await readSound(file)).samples).toHaveLength(2);
  await expect(readSound('/nowhere/a.wav')).rejects.toThrow(/\/nowhere\/a\.wav can't be read/);
});
