/** Gives the example agent of a whole stack providers, as a newcomer does: the first start with a key, a switch, refusals, and the way back. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { removePostgresData } from '../../../local-stack/components/postgres-installation.ts';
import { findPythonWithVenv } from '../../../local-stack/binaries/python-environment.ts';
import { freePort } from '../../support/free-port.ts';
import { sendJson, Servers, startEndpoint, type TestEndpoint } from '../../support/http-servers.ts';
import { startProviderServer, type ProviderServer } from '../../support/provider-server.ts';
import { run, type Finished } from '../../support/run.ts';
import { parley, readStackEnv, stackClient, type StackClient } from '../../support/stack.ts';
import { KEY as SPEECH_KEY, startSpeechApis, type SpeechApis } from '../speech-apis/speech-apis.ts';

const KEY = 'sk-first-7f3a9c51';
const TYPED_KEY = 'sk-typed-b8e24d06';
const ALL_KEYS = [KEY, TYPED_KEY];

/** Variables of the runner that must not decide anything here. */
const clean = Object.fromEntries(
  [
    'DATABASE_URL',
    'PARLEY_API_PORT',
    'KUBECONFIG',
    'PARLEY_PROVIDERS',
    'OPENAI_API_KEY',
    'DEEPGRAM_API_KEY',
    'OPENAI_COMPATIBLE_API_KEY',
  ].map((name) => [name, undefined]),
);

const servers = new Servers();
let folder = '';
let provider: ProviderServer;
let speech: SpeechApis;
let refusing: TestEndpoint;
let refusal: { readonly status: number; readonly body: unknown } = { status: 500, body: {} };

const dev = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> =>
  run(parley, ['dev', ...args], { cwd: folder, env: { ...clean, ...env }, timeoutMs: 580_000 });

const client = async (): Promise<StackClient> => stackClient({ folder, env: await readStackEnv(folder) });

interface Part {
  readonly provider: string;
  readonly model?: string;
  readonly baseURL?: string;
  readonly apiKeySecretRef?: { readonly name: string; readonly key: string };
}
interface ReceptionistSpec {
  readonly llm: Part & { readonly systemPrompt: string };
  readonly speechToText: Part;
  readonly textToSpeech: Part;
}
const specOf = async (): Promise<ReceptionistSpec> =>
  (await (await client()).getJson<{ readonly spec: ReceptionistSpec }>(['agents.parley.dev/receptionist'])).spec;

const secretsOfProviders = async (): Promise<readonly string[]> =>
  (await (await client()).kubectl(['get', 'secrets', '-o', 'name'])).stdout
    .split('\n')
    .filter((name) => name.startsWith('secret/provider-'));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-providers-'));
  [provider, speech] = await Promise.all([startProviderServer(), startSpeechApis()]);
  refusing = await startEndpoint(servers, (response) => sendJson(response, refusal.body, refusal.status));
  provider.chat(({ headers, lastUser }) =>
    ALL_KEYS.some((key) => headers.authorization === `Bearer ${key}`)
      ? `A real model heard: ${lastUser}`
      : { status: 401, error: { message: `Incorrect API key provided: ${headers.authorization}`, code: 'invalid_api_key' } },
  );
});

afterAll(async () => {
  await dev(['stop']);
  removePostgresData(join(folder, '.parley/data'));
  rmSync(folder, { recursive: true, force: true });
  await Promise.all([provider.close(), speech.stop(), servers.stop()]);
});

it('starts nothing without a key and a terminal, or with a wrong key', async () => {
  const absent = await dev(['--detach', '--provider', 'openai,deepgram']);
  expect(absent).toMatchObject({ code: 1, stdout: '' });
  expect(absent.stderr).toMatch(/no key of OpenAI, Deepgram[\s\S]*→ set OPENAI_API_KEY, DEEPGRAM_API_KEY/);
  const wrong = await dev(['--detach', '--provider', 'openai_compatible', '--base-url', provider.url, '--model', 'm'], {
    OPENAI_COMPATIBLE_API_KEY: 'sk-wrong',
  });
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toMatch(/the key in OPENAI_COMPATIBLE_API_KEY is not accepted \(401\)/);
  expect(wrong.stderr + wrong.stdout).not.toContain('sk-wrong');
  expect(existsSync(join(folder, '.parley'))).toBe(false);
});

it('starts a stack whose agent answers with the model', async () => {
  const started = await dev(['--detach', '--no-call', '--provider', 'openai', '--base-url', provider.url], { OPENAI_API_KEY: KEY });
  expect(started.code, `${started.stdout}\n${started.stderr}`).toBe(0);
  expect(started.stdout).toMatch(
    /✓ OpenAI: language model gpt-4o-mini answers[\s\S]*Parley is up[\s\S]*language model +openai gpt-4o-mini\n/,
  );
  const spec = await specOf();
  const apiKeySecretRef = { name: 'provider-openai', key: 'api-key' };
  for (const part of [spec.llm, spec.speechToText, spec.textToSpeech])
    expect(part).toMatchObject({ provider: 'openai', baseURL: provider.url, apiKeySecretRef });
  expect(spec.llm.systemPrompt).toContain('Harbour Bikes');

  const stack = await client();
  const chat = await run(join(stack.env.PARLEY_BIN, 'parley'), ['chat', 'receptionist'], {
    cwd: folder,
    env: { ...clean, ...stack.env },
    input: 'Is anybody there?\n/quit\n',
  });
  expect(chat.stdout, chat.stderr).toContain('agent │ A real model heard: Is anybody there?');
  expect(provider.requests('chat').at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
});

it('holds a spoken call with them, with the key that the voice process reads', async () => {
  provider.reset();
  provider.chat(({ lastUser }) => `Spoken by a model: ${lastUser}`);
  provider.hear('do you repair brakes');
  const stack = await client();
  const call = await stack.parley(['call', 'receptionist', '--say', 'hello can you hear me', '--json', '--max-seconds', '40']);
  expect(call.stdout, call.stderr).toContain('Spoken by a model: do you repair brakes');
  const said = provider.requests('speech').map(({ input }) => input);
  expect(said.join(' ')).toContain('Spoken by a model');
  for (const request of provider.requests().filter(({ path }) => path !== 'chat'))
    expect(request.headers.authorization).toBe(`Bearer ${KEY}`);
});

it('takes a key that is typed without showing it, while the stack runs', async () => {
  const stack = await client();
  const python = await findPythonWithVenv();
  const script = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
typed = False
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    seen += part
    if not typed and b"not shown" in seen:
        typed = True
        os.write(terminal, b"${TYPED_KEY}\\r")
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;
  const typed = await run(python!, ['-c', script, parley, 'dev', '--provider', 'openai', '--base-url', provider.url], {
    cwd: folder,
    env: clean,
  });
  expect(typed.code, typed.stdout).toBe(0);
  expect(typed.stdout).toContain('Key of OpenAI (platform.openai.com/api-keys), not shown while you type: ');
  expect(typed.stdout).toContain('Calls may use the former key of openai for another minute.');
  expect(typed.stdout).not.toContain(TYPED_KEY);
  const { data } = await stack.getJson<{ data: Readonly<Record<string, string>> }>(['secret/provider-openai']);
  expect(Buffer.from(data['api-key']!, 'base64').toString()).toBe(TYPED_KEY);
});

it('changes the parts of another provider, and leaves the rest', async () => {
  await client();
  const switched = await dev(['--provider', 'deepgram', '--base-url', `${speech.url}/v1`], { DEEPGRAM_API_KEY: SPEECH_KEY });
  expect(switched.code, switched.stderr).toBe(0);
  expect(switched.stdout).toMatch(/language model +openai gpt-4o-mini\n +speech to text +deepgram\n +text to speech +deepgram\n/);
  expect(await specOf()).toMatchObject({
    llm: { provider: 'openai', apiKeySecretRef: { name: 'provider-openai' } },
    speechToText: { provider: 'deepgram', baseURL: `${speech.url}/v1`, apiKeySecretRef: { name: 'provider-deepgram' } },
    textToSpeech: { provider: 'deepgram', baseURL: `${speech.url}/v1`, apiKeySecretRef: { name: 'provider-deepgram' } },
  });
  expect(await secretsOfProviders()).toEqual(['secret/provider-deepgram', 'secret/provider-openai']);
});

it.each([
  [
    { status: 401, body: { error: { code: 'invalid_api_key' } } },
    /the key in OPENAI_API_KEY is not accepted \(401\)/,
    /platform\.openai\.com/,
  ],
  [{ status: 402, body: {} }, /no credit, or its quota is used up \(402\)/, /plan and billing/],
  [{ status: 429, body: { error: { code: 'insufficient_quota' } } }, /no credit, or its quota is used up \(429\)/, /plan and billing/],
  [{ status: 429, body: { error: { code: 'rate_limit_exceeded' } } }, /its limit of requests is reached/, /wait a minute/],
])('changes nothing where it is refused with %j', async (script, message, cure) => {
  refusal = script;
  const before = await specOf();
  const refused = await dev(['--provider', 'openai', '--base-url', `${refusing.url}/v1`], { OPENAI_API_KEY: 'sk-other' });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(message);
  expect(refused.stderr).toMatch(cure);
  expect(await specOf()).toEqual(before);
});

it('changes nothing where the server is away', async () => {
  const before = await specOf();
  const url = `http://127.0.0.1:${await freePort()}/v1`;
  const away = await dev(['--provider', 'ollama', '--base-url', url, '--model', 'm']);
  expect(away.code).toBe(1);
  expect(away.stderr).toMatch(/Ollama \(language model\): nothing answers at [\s\S]*ollama serve/);
  expect(await specOf()).toEqual(before);
});

function filesOf(at: string): readonly string[] {
  return readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

it('keeps keys in the Secrets of the cluster, and nowhere else', async () => {
  const stack = await client();
  const bytes = (key: string) => Buffer.from(key);
  const files = filesOf(join(folder, '.parley')).filter((file) => !file.includes('/data/etcd/'));
  expect(files.length).toBeGreaterThan(30);
  for (const file of files) {
    const content = readFileSync(file);
    for (const key of ALL_KEYS)
      for (const form of [key, Buffer.from(key).toString('base64')]) expect([file, content.includes(bytes(form))]).toEqual([file, false]);
  }
  const inEtcd = filesOf(join(folder, '.parley/data/etcd')).some((file) => readFileSync(file).includes(bytes(TYPED_KEY)));
  expect(inEtcd).toBe(true);

  const env = await run(parley, ['env'], { cwd: folder, env: clean });
  const report = join(folder, 'report.tar.gz');
  const made = await stack.kubectl(['parley', 'report', '--file', report], { allowFailure: true });
  expect(made.code, made.stderr).toBe(0);
  const unpacked = await run(
    '/bin/sh',
    ['-c', `mkdir unpacked && tar -xzf ${report} -C unpacked && grep -rlE '${ALL_KEYS.join('|')}' unpacked; ls unpacked | wc -l`],
    {
      cwd: folder,
    },
  );
  expect(unpacked.stdout.trim()).toMatch(/^[1-9]\d*$/);
  for (const key of ALL_KEYS) expect(env.stdout).not.toContain(key);
});

it.runIf(process.platform === 'linux')('gives keys to no process of the stack', async () => {
  const pids = readdirSync(join(folder, '.parley/run'))
    .filter((name) => name.endsWith('.pid'))
    .map((name) => Number(readFileSync(join(folder, '.parley/run', name), 'utf8')));
  pids.push(Number(readFileSync(join(folder, '.parley/supervisor.pid'), 'utf8')));
  expect(pids.length).toBeGreaterThan(10);
  for (const pid of pids)
    for (const file of ['environ', 'cmdline'])
      for (const key of ALL_KEYS) expect([pid, file, readFileSync(`/proc/${pid}/${file}`).includes(key)]).toEqual([pid, file, false]);
});

it('goes back to the robot, and takes the keys away', async () => {
  const stack = await client();
  const back = await dev(['--provider', 'offline']);
  expect(back.code, back.stderr).toBe(0);
  expect(back.stdout.match(/offline: the robot of this machine/g)).toHaveLength(3);
  const spec = await specOf();
  expect(spec).toMatchObject({
    llm: { provider: 'openai', model: 'gpt-4o-mini', apiKeySecretRef: { name: 'language-model', key: 'api-key' } },
    speechToText: { provider: 'deepgram', model: 'nova-3' },
    textToSpeech: { provider: 'elevenlabs', voice: { name: 'Rachel' } },
  });
  for (const part of [spec.llm, spec.speechToText, spec.textToSpeech]) expect(part.baseURL).toBeUndefined();
  expect(await secretsOfProviders()).toEqual([]);
  provider.reset();
  const tested = await stack.parley(['test', 'agent/receptionist']);
  expect(tested.code, tested.stdout + tested.stderr).toBe(0);
  expect(provider.requests()).toEqual([]);
});

it('says so where the example agent is gone', async () => {
  await (await client()).kubectl(['delete', 'agents.parley.dev', 'receptionist']);
  const gone = await dev(['--provider', 'openai', '--base-url', provider.url], { OPENAI_API_KEY: KEY });
  expect(gone.code).toBe(1);
  expect(gone.stderr).toMatch(/there is no agent receptionist in the organisation demo/);
  expect(await secretsOfProviders()).toEqual([]);
  expect(statSync(join(folder, '.parley/kubeconfig')).mode & 0o777).toBe(0o600);
});
