/** dev-speech as `parley dev` runs it: a process that speaks, understands what it has spoken, and answers. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readWav } from '../../../platform/wav.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { findPython, withoutPython } from '../../support/python.ts';
import { parleyEntry } from '../../support/stack.ts';
import { bytesOf } from '../../support/tones.ts';

const python = await findPython();

interface Running {
  readonly url: string;
  readonly process: ChildProcess;
  readonly log: () => string;
}

const running: Running[] = [];

async function start(env: NodeJS.ProcessEnv): Promise<Running> {
  const port = await freePort();
  const child = spawn(process.execPath, [parleyEntry, 'dev-speech', '--port', String(port)], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const started = { url: `http://127.0.0.1:${port}`, process: child, log: () => log };
  running.push(started);
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`it has ended: ${log}`);
    expect((await fetch(`${started.url}/healthz`)).status).toBe(200);
  });
  return started;
}

afterAll(async () => {
  for (const { process: child } of running.filter((each) => each.process.exitCode === null)) {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect((await ended)[0]).toBe(0);
  }
});

async function say({ url }: Running, input: string, more: Readonly<Record<string, unknown>> = {}): Promise<Buffer> {
  const body = JSON.stringify({ model: 'any', input, voice: 'alloy', response_format: 'wav', ...more });
  const response = await fetch(`${url}/v1/audio/speech`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

async function hear({ url }: Running, file: Buffer, language = 'en'): Promise<{ readonly text: string; readonly doubtful: boolean }> {
  const form = new FormData();
  form.append('file', new File([new Uint8Array(file)], 'audio.wav'));
  form.append('model', 'any');
  form.append('language', language);
  const response = await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', body: form });
  expect(response.status).toBe(200);
  return (await response.json()) as { text: string; doubtful: boolean };
}

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

describe.skipIf(python === undefined)(`with its voice and its ear (${python ?? withoutPython})`, () => {
  let speech: Running;
  beforeAll(async () => {
    speech = await start(process.env);
  });

  it('says plainly what it is', async () => {
    await eventually(() => expect(speech.log()).toContain('no speech service and no language model'));
  });

  it.each(['Where is my order 4711?', 'I would like to rent a tandem next weekend.', 'What can you do?', 'Thank you, good bye.'])(
    'understands what it says: %s',
    async (text) => {
      const file = await say(speech, text);
      const { samples, sampleRate } = readWav(file);
      expect(sampleRate).toBe(24_000);
      expect(samples.length).toBeGreaterThan(sampleRate / 2);
      expect(await hear(speech, file)).toEqual({ text, doubtful: false });
    },
  );

  it('hears a phrase word by word while it streams, and all of it once it is committed', async () => {
    const text = 'I would like to rent a tandem next weekend.';
    const { samples } = readWav(await say(speech, text));
    const socket = new WebSocket(`${speech.url.replace('http', 'ws')}/v1/realtime?intent=transcription`);
    const events: { readonly type: string; readonly delta?: string; readonly transcript?: string; readonly error?: { code: string } }[] =
      [];
    socket.addEventListener('message', ({ data }) => events.push(JSON.parse(String(data)) as (typeof events)[number]));
    await once(socket, 'open');
    const send = (event: object): void => socket.send(JSON.stringify(event));
    const deltas = (): string => events.map(({ delta = '' }) => delta).join('');
    send({ type: 'input_audio_buffer.commit' });
    socket.send('no JSON');
    await eventually(() => expect(events.map(({ error }) => error?.code)).toContain('invalid_json'));
    expect(events.map(({ error }) => error?.code)).toContain('input_audio_buffer_commit_empty');
    for (let at = 0; at < samples.length; at += 2_400) {
      send({ type: 'input_audio_buffer.append', audio: bytesOf(samples.slice(at, at + 2_400)).toString('base64') });
      await delay(50);
    }
    await eventually(() => expect(deltas()).toMatch(/^i would like to rent a tandem/));
    expect(events.map(({ type }) => type)).not.toContain('conversation.item.input_audio_transcription.completed');
    send({ type: 'input_audio_buffer.commit' });
    await eventually(() => expect(events.at(-1)).toMatchObject({ transcript: text }));
    socket.close();
  });

  it('understands usual phrases that it has not spoken, in another voice than its first', async () => {
    const other = await start(process.env);
    expect((await hear(other, await say(speech, 'Is my bicycle ready?', { voice: 'nova' }))).text).toBe('is my bicycle ready');
  });

  it('marks what it does not understand', async () => {
    const other = await start(process.env);
    expect(await hear(other, await say(speech, 'My grandmother has painted eleven purple elephants on the ceiling.'))).toMatchObject({
      doubtful: true,
    });
  });

  it('hears nothing in silence', async () => {
    const silence = await say(speech, 'Hello.');
    expect(await hear(speech, Buffer.concat([silence.subarray(0, 44), Buffer.alloc(silence.length - 44)]))).toEqual({
      text: '',
      doubtful: false,
    });
  });

  it('speaks the language of the agent', async () => {
    const [german, english] = await Promise.all([
      say(speech, 'Guten Tag', { language: 'de-DE' }),
      say(speech, 'Guten Tag', { language: 'en-US' }),
    ]);
    expect(german.equals(english)).toBe(false);
  });
});

describe('without anything', () => {
  let speech: Running;
  beforeAll(async () => {
    speech = await start({ HOME: process.env['HOME'], PATH: '/nowhere' });
  });

  it('plays tones, follows a script, and says so', async () => {
    const file = await say(speech, 'Where is my order?');
    expect(readWav(file).samples.length).toBeGreaterThan(12_000);
    await eventually(() => expect(speech.log()).toContain('tones are played in place of words'));
    expect(speech.log()).toContain('no recogniser');
    // By its length it knows its own tones again.
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
