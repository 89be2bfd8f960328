/** Runs dev-speech as `parley dev` does, without a voice and a recogniser: it still answers, and plays tones in their place. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';

import { beforeAll, describe, expect, it } from 'vitest';

import { readWav } from '../../../platform/wav.ts';
import { eventually } from '../../support/eventually.ts';
import { devSpeechProcesses, hear, say, type DevSpeech } from './dev-speech-process.ts';

const start = devSpeechProcesses();

it('is the order system of the examples', async () => {
  const { port } = new URL((await start({ ...process.env, PATH: '' })).url);
  const ask = async (path: string, headers: Readonly<Record<string, string>>) => {
    const request = get({ port, path, headers: { host: 'orders.example', ...headers } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return [response.statusCode, JSON.parse((await response.toArray()).join('')) as unknown];
  };
  const authorization = 'Bearer of the examples';
  expect(await ask('/orders/HB-20417?fields=state', { authorization })).toEqual([200, { state: 'ready for pick-up' }]);
  expect(await ask('/workshop/today', { authorization })).toEqual([200, { next_free_day: expect.stringMatching(/day$/) }]);
  expect((await ask('/orders/4711', { authorization }))[0]).toBe(404);
  expect((await ask('/workshop/today', {}))[0]).toBe(404);
});

describe('without anything', () => {
  let speech: DevSpeech;
  beforeAll(async () => {
    speech = await start({ HOME: process.env['HOME'], PATH: '/nowhere' });
  });

  it('plays tones, follows a script, and says so', async () => {
    const file = await say(speech, 'Where is my order?');
    expect(readWav(file).samples.length).toBeGreaterThan(12_000);
    await eventually(() => expect(speech.log()).toContain('tones are played in place of words'));
    expect(speech.log()).toContain('no recogniser');
    // The server knows its own tones again by their length.
    expect(await hear(speech, file)).toEqual({ text: 'Where is my order?', doubtful: true });
    const stranger = readWav(file);
    const half = file.subarray(0, 44 + Math.floor(stranger.samples.length / 2) * 2);
    expect(await hear(speech, half)).toEqual({ text: 'Hello, can you hear me?', doubtful: true });
  });

  it('answers by rules, streamed and whole', async () => {
    const tools = [
      {
        type: 'function',
        function: {
          name: 'look_up_order',
          description: 'The status of an order',
          parameters: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
        },
      },
    ];
    const ask = (stream: boolean) =>
      fetch(`${speech.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'any', stream, tools, messages: [{ role: 'user', content: 'the status of my order 4711 please' }] }),
      });
    const whole = (await (await ask(false)).json()) as {
      choices: { message: { tool_calls: { function: { name: string; arguments: string } }[] } }[];
    };
    expect(whole.choices[0]?.message.tool_calls[0]?.function).toEqual({ name: 'look_up_order', arguments: '{"number":"4711"}' });
    const events = await (await ask(true)).text();
    expect(events).toContain('"name":"look_up_order"');
    expect(events.trimEnd().endsWith('data: [DONE]')).toBe(true);
  });

  it.each([
    ['/v1/audio/speech', '{"input":""}', 400],
    ['/v1/audio/speech', 'no json', 400],
    ['/v1/audio/transcriptions', 'no form', 400],
    ['/v1/embeddings', '{}', 404],
  ])('refuses %s with %s', async (path, body, status) => {
    const response = await fetch(`${speech.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(response.status).toBe(status);
  });
});
