/** `parley call` as a person uses it: the real command, a real media server, the voice role, and providers that do as they are told. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';

import { repositoryRoot } from '../../../cli/dev/repository.ts';
import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { ownMediaServer, type OwnMediaServer } from '../../support/own-media-server.ts';
import { startProviderServer, type ProviderServer } from '../../support/provider-server.ts';
import { syntheticSpeech } from '../../support/synthetic-speech.ts';
import { serveAgent } from '../api/calls-support.ts';
import { organization, startFacade, type Facade, type TestOrganization } from '../api/facade.ts';

const entry = join(repositoryRoot(), 'cli', 'main.ts');
let folder: string;
let facade: Facade;
let org: TestOrganization;
let livekit: OwnMediaServer;
let provider: ProviderServer;
let voice: ChildProcess;
let voiceLog = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-cli-call-'));
  livekit = await ownMediaServer();
  await livekit.start();
  provider = await startProviderServer();
  const storageUrl = `file://${join(folder, 'files')}`;
  facade = await startFacade(undefined, undefined, undefined, undefined, {
    mediaServer: livekit.address,
    recordings: openFileStorage({ url: storageUrl }),
  });
  org = await organization(facade);
  const speech = { provider: 'openai_compatible', baseURL: provider.url, model: 'm' };
  const llm = { ...speech, type: 'simple', temperature: 0 } as const;
  const agent = { llm, speechToText: speech, textToSpeech: { ...speech, voice: {}, temperature: 0.5 } };
  await serveAgent(facade.store, org.name, 'receptionist', { agent: { ...agent, welcomeMessage: 'Good morning.' } });
  await serveAgent(facade.store, org.name, 'curious', { agent: { ...agent, llm: { ...llm, requiredDynamicData: ['who'] } } });
  const port = await freePort();
  voice = spawn(process.execPath, [entry, 'voice'], {
    env: {
      ...process.env,
      DATABASE_URL: facade.database.url,
      LIVEKIT_URL: livekit.address.url,
      LIVEKIT_API_KEY: livekit.address.apiKey,
      LIVEKIT_API_SECRET: livekit.address.apiSecret,
      LIVEKIT_AGENT_NAME: livekit.address.agentName,
      STORAGE_URL: storageUrl,
      PARLEY_VOICE_SPOOL: join(folder, 'spool'),
      PARLEY_VOICE_PORT: String(port),
      PARLEY_VOICE_DRAIN_MS: '5000',
      PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [voice.stdout, voice.stderr]) stream?.on('data', (chunk: Buffer) => (voiceLog += chunk.toString()));
  await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status, voiceLog).toBe(200));
});
afterAll(async () => {
  voice.kill('SIGTERM');
  if (voice.exitCode === null) await once(voice, 'exit');
  await livekit.stop();
  await provider.close();
  await facade.close();
  await rm(folder, { recursive: true, force: true });
});

interface Run {
  readonly process: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly ended: Promise<number | null>;
}

function call(args: readonly string[], env: NodeJS.ProcessEnv = {}): Run {
  const child = spawn(process.execPath, [entry, 'call', ...args], {
    cwd: folder,
    env: { ...process.env, NODE_ENV: '', PATH: '/nowhere', PARLEY_URL: facade.url, PARLEY_API_KEY: org.key, PARLEY_SPEECH_URL: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { process: child, out: () => out, err: () => err, ended };
}

/** A sentence that a detector of voices takes for one. */
function speechWav(): Buffer {
  const samples = syntheticSpeech({ sampleRate: 24_000, ms: 1_200 });
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.byteLength, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(24_000, 24);
  header.writeUInt32LE(48_000, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.byteLength, 40);
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}

/** @returns its address, and what it was asked to say */
async function speechServer(): Promise<{ readonly url: string; readonly said: string[] }> {
  const said: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      said.push((JSON.parse(body) as { input: string }).input);
      response.end(speechWav());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => void server.close(() => resolve())));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, said };
}

it('speaks in turn, prints what is said, and leaves the recording', async () => {
  const { url, said } = await speechServer();
  provider.reset();
  provider.hear('What are your hours?', 'Thank you.');
  provider.chat(({ lastUser }) => (lastUser.startsWith('Thank') ? 'You are welcome.' : 'From nine to five.'));
  const run = call(['receptionist', '--say', 'What are your hours?', '--say', 'Thank you.', '--metadata', '{"ticket": 7}'], {
    PARLEY_SPEECH_URL: url,
  });
  expect(await run.ended, `${run.err()}\n${run.out()}\n${voiceLog.slice(-3000)}`).toBe(0);
  expect(said.toSorted()).toEqual(['Thank you.', 'What are your hours?']);
  const lines = run.out().split('\n');
  expect(lines.slice(0, 5)).toEqual([
    'agent  Good morning.',
    'you    What are your hours?',
    'agent  From nine to five.',
    'you    Thank you.',
    'agent  You are welcome.',
  ]);
  expect(run.out()).toMatch(/\nANSWER +END OF TURN .*\n1 +\d+ ms .*\n2 +\d/);
  const [, id] = /^(call_\S+) ended: user_ended_call after \d+\.\d s$/m.exec(run.out()) ?? [];
  expect(run.err()).toContain(`call ${id} to receptionist`);
  const file = join(folder, `${id}.ogg`);
  expect(run.out()).toContain(`recording: ${file}\n`);
  expect((await readFile(file)).subarray(0, 4).toString()).toBe('OggS');
  const { body } = await org.call('GET', `/v1/calls/${id}`);
  expect(body).toMatchObject({ call_status: 'ended', metadata: { ticket: 7 } });
  expect(body.messages.map(({ content }: { content: string }) => content)).toContain('From nine to five.');
});

it('tells a script everything, one object a line', async () => {
  provider.reset();
  provider.hear('Hello.');
  provider.chat(() => 'Hello yourself.');
  await writeFile(join(folder, 'hello.wav'), speechWav());
  const run = call(['curious', '--audio', 'hello.wav', '--data', 'who=Ada', '--json', '--record', 'kept.ogg']);
  expect(await run.ended, `${run.err()}\n${voiceLog.slice(-3000)}`).toBe(0);
  const lines = run
    .out()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines[0]).toMatchObject({ type: 'call', agent: 'curious', call_id: expect.stringMatching(/^call_/) });
  const final = lines.filter(({ type, final: isFinal }) => type === 'transcript' && isFinal === true);
  expect(
    final.map(({ role, text }) => [role, text]),
    `${run.out()}\n${voiceLog.slice(-3000)}`,
  ).toEqual([
    ['user', 'Hello.'],
    ['agent', 'Hello yourself.'],
  ]);
  expect(lines.some(({ type, state }) => type === 'agent_state' && state === 'speaking')).toBe(true);
  expect(lines.at(-1)).toMatchObject({
    type: 'result',
    status: 'ended',
    reason: 'user_ended_call',
    duration_seconds: expect.any(Number),
    recording: join(folder, 'kept.ogg'),
  });
  expect((await stat(join(folder, 'kept.ogg'))).size).toBeGreaterThan(1_000);
});

it('only listens where there is no microphone, and hangs up properly at Ctrl-C', async () => {
  provider.reset();
  const run = call(['receptionist', '--no-record']);
  await eventually(() => expect(run.out(), run.err()).toContain('agent  Good morning.'));
  expect(run.err()).toMatch(/no microphone here .*only listening/);
  run.process.kill('SIGINT');
  expect(await run.ended).toBe(0);
  expect(run.out()).toMatch(/ended: user_ended_call/);
  expect(run.out()).not.toContain('recording:');
});

it('hangs up when the time is over', async () => {
  provider.reset();
  const run = call(['receptionist', '--max-seconds', '3', '--quiet', '--no-record']);
  expect(await run.ended, run.err()).toBe(0);
  expect(run.out()).toMatch(/^call_\S+ ended: user_ended_call after \d+\.\d s\n$/);
});

it('says what is wrong, with what, and what to do', async () => {
  const failing = async (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> => {
    const run = call(args, env);
    expect(await run.ended, run.out()).toBe(1);
    expect(run.out()).toBe('');
    return run.err();
  };
  expect(await failing(['nobody'])).toMatch(/there is no agent "nobody".*\n.*kubectl get agents/);
  expect(await failing(['curious'])).toMatch(/native_llm_dynamic_data\.who.*\n.*--data name=value/);
  expect(await failing(['receptionist', '--say', 'x'])).toMatch(/no speech server.*\n.*--speech-url/);
  expect(await failing(['receptionist', '--audio', 'gone.wav'])).toMatch(/gone\.wav can't be read/);
  expect(await failing(['receptionist'], { PARLEY_API_KEY: 'pk_wrong' })).toMatch(/401.*\n.*PARLEY_API_KEY/);
  expect(await failing(['receptionist', '--record', '/nowhere/x.ogg'])).toMatch(/can't be written to \/nowhere\/x\.ogg/);
  await facade.store.organizations.limitLiveCalls(org.name, 0);
  expect(await failing(['receptionist'])).toMatch(/as many live calls as it may have\n.*parley org limit/);
  await facade.store.organizations.limitLiveCalls(org.name, 10);
});

it('says that the media server is away, and which one', async () => {
  const away = { ...livekit.address, publicUrl: 'ws://127.0.0.1:1' };
  const other = await startFacade(facade.database, undefined, undefined, undefined, { mediaServer: away });
  onTestFinished(() => other.close());
  const run = call(['receptionist'], { PARLEY_URL: other.url });
  expect(await run.ended).toBe(1);
  expect(run.err()).toMatch(/media server at ws:\/\/127\.0\.0\.1:1 can't be joined.*\n.*LIVEKIT_PUBLIC_URL/);
});
