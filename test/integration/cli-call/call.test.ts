/** Runs `parley call` as a person does: the real command, a real media server, the voice role, and scripted providers. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { Servers, startEndpoint } from '../../support/http-servers.ts';
import { parleyEntry } from '../../support/stack.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startFacade } from '../api/facade.ts';
import { speechWav, startCallPlatform } from './call-platform.ts';

const platform = suiteFixture(startCallPlatform);

interface Run {
  readonly process: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly ended: Promise<number | null>;
}

function call(args: readonly string[], env: NodeJS.ProcessEnv = {}): Run {
  const child = spawn(process.execPath, [parleyEntry, 'call', ...args], {
    cwd: platform.folder,
    env: {
      ...process.env,
      NODE_ENV: '',
      PATH: '/nowhere',
      PARLEY_URL: platform.facade.url,
      PARLEY_API_KEY: platform.org.key,
      PARLEY_SPEECH_URL: '',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { process: child, out: () => out, err: () => err, ended };
}

/** @returns the server's address, and the texts that it was asked to say */
async function speechServer(): Promise<{ readonly url: string; readonly said: string[] }> {
  const said: string[] = [];
  const servers = new Servers();
  onTestFinished(() => servers.stop());
  const { url } = await startEndpoint(servers, (response, { body }) => {
    said.push((JSON.parse(body) as { input: string }).input);
    response.end(speechWav());
  });
  return { url: `${url}/v1`, said };
}

it('speaks in turn, prints what is said, and leaves the recording', async () => {
  const { url, said } = await speechServer();
  platform.provider.reset();
  platform.provider.hear('What are your hours?', 'Thank you.');
  platform.provider.chat(({ lastUser }) => (lastUser.startsWith('Thank') ? 'You are \u001b]0;x\u0007welcome.' : 'From nine to five.'));
  const run = call(['receptionist', '--say', 'What are your hours?', '--say', 'Thank you.', '--metadata', '{"ticket": 7}', '--record'], {
    PARLEY_SPEECH_URL: url,
  });
  expect(await run.ended, `${run.err()}\n${run.out()}\n${platform.voiceLog().slice(-3000)}`).toBe(0);
  expect(said.toSorted()).toEqual(['Thank you.', 'What are your hours?']);
  const lines = run.out().split('\n');
  expect(lines.slice(0, 4)).toEqual([
    'agent  Good morning.',
    'you    What are your hours?',
    'agent  From nine to five.',
    'you    Thank you.',
  ]);
  // An agent may say anything: nothing of it steers the terminal.
  expect(lines[4]).toMatch(/^agent {2}You are (\\u001b]0;x\\u0007)?welcome\.$/);
  expect(run.out()).not.toContain('\u001b');
  expect(run.out()).toMatch(/\nANSWER +END OF TURN .*\n1 +\d[\d.]* m?s .*\n2 +\d/);
  const [, id] = /^(call_\S+) ended: user_ended_call after \d+\.\d s$/m.exec(run.out()) ?? [];
  expect(run.err()).toContain(`call ${id} to receptionist`);
  const file = join(platform.folder, `${id}.ogg`);
  expect(run.out()).toContain(`recording: ${file}\n`);
  expect((await readFile(file)).subarray(0, 4).toString()).toBe('OggS');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const { body } = await platform.org.call('GET', `/v1/calls/${id}`);
  expect(body).toMatchObject({ call_status: 'ended', metadata: { ticket: 7 } });
  expect(body.messages.map(({ content }: { content: string }) => content)).toContain('From nine to five.');
});

it('prints everything for a script, one object a line', async () => {
  platform.provider.reset();
  platform.provider.hear('Hello.');
  platform.provider.chat(() => 'Hello yourself.');
  await writeFile(join(platform.folder, 'hello.wav'), speechWav());
  const run = call(['curious', '--audio', 'hello.wav', '--data', 'who=Ada', '--json', '--record', 'kept.ogg']);
  expect(await run.ended, `${run.err()}\n${platform.voiceLog().slice(-3000)}`).toBe(0);
  const lines = run
    .out()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines[0]).toMatchObject({ type: 'call', agent: 'curious', call_id: expect.stringMatching(/^call_/) });
  const final = lines.filter(({ type, final: isFinal }) => type === 'transcript' && isFinal === true);
  expect(
    final.map(({ role, text }) => [role, text]),
    `${run.out()}\n${platform.voiceLog().slice(-3000)}`,
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
    recording: join(platform.folder, 'kept.ogg'),
  });
  expect((await stat(join(platform.folder, 'kept.ogg'))).size).toBeGreaterThan(1_000);
});

it('only listens where there is no microphone, and hangs up properly at Ctrl-C', async () => {
  platform.provider.reset();
  const kept = (await readdir(platform.folder)).filter((name) => name.startsWith('call_'));
  const run = call(['receptionist']);
  await eventually(() => expect(run.out(), run.err()).toContain('agent  Good morning.'));
  expect(run.err()).toMatch(/no microphone here .*only listening/);
  run.process.kill('SIGINT');
  expect(await run.ended).toBe(0);
  expect(run.out()).toMatch(/ended: user_ended_call/);
  // The command shows nothing raw from a library, and leaves no file that nobody asked for.
  expect(run.out() + run.err()).not.toContain('"level"');
  expect(run.out()).not.toContain('recording:');
  expect((await readdir(platform.folder)).filter((name) => name.startsWith('call_') && name.endsWith('.ogg'))).toEqual(kept);
});

it('talks with the microphone, and plays what it hears', async () => {
  platform.provider.reset();
  platform.provider.hear('Hello?');
  platform.provider.chat(() => 'Hello yourself.');
  const sound = join(platform.folder, 'microphone.wav');
  await writeFile(sound, speechWav({ sampleRate: 48_000, silenceMs: [4_000, 60_000] }));
  const played = join(platform.folder, 'played.raw');
  const programs = await mkdtemp(join(platform.folder, 'programs-'));
  const program = async (name: string, text: string): Promise<void> => {
    await writeFile(join(programs, name), text);
    await chmod(join(programs, name), 0o755);
  };
  // The file is read in real time, like a microphone.
  await program(
    'arecord',
    `#!${process.execPath}
const sound = require('node:fs').readFileSync(${JSON.stringify(sound)}).subarray(44);
let at = 0;
setInterval(() => process.stdout.write(sound.subarray(at, (at += 1920))), 20);`,
  );
  await program('aplay', `#!/bin/sh\nexec /bin/cat >> ${played}`);
  const run = call(['receptionist'], { PATH: programs });
  await eventually(() => expect(run.out(), run.err()).toContain('you    Hello?\nagent  Hello yourself.'));
  expect(run.err()).toMatch(/the microphone is on .*Ctrl-C hangs up/);
  run.process.kill('SIGINT');
  expect(await run.ended).toBe(0);
  // The file has both sentences, at 96 kB a second.
  expect((await stat(played)).size).toBeGreaterThan(96_000);
});

it('leaves at Ctrl-C when the api says nothing', async () => {
  const servers = new Servers();
  onTestFinished(() => servers.stop());
  const asked = Promise.withResolvers<void>();
  const { url } = await startEndpoint(servers, () => asked.resolve());
  const run = call(['receptionist'], { PARLEY_URL: url });
  await asked.promise;
  run.process.kill('SIGINT');
  expect({ code: await run.ended, out: run.out(), err: run.err() }).toEqual({ code: 130, out: '', err: '' });
});

it('hangs up when the time is over', async () => {
  platform.provider.reset();
  const run = call(['receptionist', '--max-seconds', '3', '--quiet']);
  expect(await run.ended, run.err()).toBe(0);
  expect(run.out()).toMatch(/^call_\S+ ended: user_ended_call after \d+\.\d s\n$/);
});

it('stays until the agent hangs up, with the flag for it', async () => {
  platform.provider.reset();
  platform.provider.hear('That was all.');
  platform.provider.chat(({ toolResults }) => (toolResults.length > 0 ? 'Goodbye.' : { toolCalls: [{ name: 'end_call' }] }));
  await writeFile(join(platform.folder, 'all.wav'), speechWav());
  const run = call(['receptionist', '--audio', 'all.wav', '--stay']);
  expect(await run.ended, `${run.err()}\n${run.out()}`).toBe(0);
  expect(run.out()).toMatch(/ended: agent_ended_call/);
});

it('distinguishes a call that failed from one that ended', async () => {
  platform.provider.reset();
  platform.provider.heard(() => ({ status: 500 }));
  await writeFile(join(platform.folder, 'unheard.wav'), speechWav());
  const run = call(['receptionist', '--audio', 'unheard.wav']);
  expect(await run.ended, `${run.err()}\n${run.out()}`).toBe(3);
  expect(run.out()).toMatch(/error: speech_recognition_error/);
});

it('says what is wrong, with what, and what to do', async () => {
  const failing = async (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> => {
    const run = call(args, env);
    expect(await run.ended, run.out()).toBe(1);
    expect(run.out()).toBe('');
    return run.err();
  };
  expect(await failing(['absent'])).toMatch(/there is no agent "absent".*\n.*kubectl get agents/);
  expect(await failing(['curious'])).toMatch(/native_llm_dynamic_data\.who.*\n.*--data name=value/);
  expect(await failing(['receptionist', '--say', 'x'])).toMatch(/no speech server.*\n.*--speech-url/);
  expect(await failing(['receptionist', '--audio', 'gone.wav'])).toMatch(/gone\.wav can't be read/);
  expect(await failing(['receptionist'], { PARLEY_API_KEY: 'pk_wrong' })).toMatch(/401.*\n.*PARLEY_API_KEY/);
  expect(await failing(['receptionist', '--record', '/nowhere/x.ogg'])).toMatch(/can't be written to \/nowhere\/x\.ogg/);
  await platform.facade.store.organizations.limitLiveCalls(platform.org.name, 0);
  expect(await failing(['receptionist'])).toMatch(/reached its limit of live calls\n.*parley org limit/);
  await platform.facade.store.organizations.limitLiveCalls(platform.org.name, 10);
});

it('says that the media server is unavailable, and which one', async () => {
  const away = { ...platform.mediaServer, publicUrl: 'ws://127.0.0.1:1' };
  const other = await startFacade({ database: platform.facade.database, calls: { mediaServer: away } });
  onTestFinished(() => other.close());
  const run = call(['receptionist'], { PARLEY_URL: other.url });
  expect(await run.ended).toBe(1);
  expect(run.err()).toMatch(/media server at ws:\/\/127\.0\.0\.1:1 can't be joined.*\n.*LIVEKIT_PUBLIC_URL/);
});
