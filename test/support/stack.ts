/** Uses a running `parley dev` stack as its user does: files, kubectl and HTTP. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';

import type { StackEnv } from '../../local-stack/env-file.ts';
import { eventually } from './eventually.ts';
import { copyPermissions, isRole, killPods, type ClusterClient } from './role-pods.ts';
import { run, type Finished } from './run.ts';

export const repository = fileURLToPath(new URL('../..', import.meta.url));
export const parley = join(repository, 'bin/parley');
/** Entry of the command: the bundle that `make test` has built, because its processes start in a third of the time, or the sources. */
export const parleyEntry = process.env['PARLEY_TEST_ENTRY'] ?? join(repository, 'cli/main.ts');

const required = [
  'PARLEY_URL',
  'PARLEY_ORG',
  'PARLEY_API_KEY',
  'KUBECONFIG',
  'DATABASE_URL',
  'TEMPORAL_ADDRESS',
  'PARLEY_RECEIVER',
  'PARLEY_BIN',
] as const;

/** Variables that the tests read from `.parley/dev.env`. */
export interface TestStackEnv extends Pick<StackEnv, (typeof required)[number] | 'PARLEY_METRICS_TOKEN'> {
  /** Namespace of the pods of an installation on a node. Absent from `parley dev`, whose roles are processes. */
  readonly PARLEY_TEST_NAMESPACE?: string;
  /** Host at which the platform reaches a server of a test; the loopback address where absent. */
  readonly PARLEY_TEST_HOST?: string;
}

export async function readStackEnv(folder: string): Promise<TestStackEnv> {
  const values = parseEnv(await readFile(join(folder, '.parley/dev.env'), 'utf8'));
  const missing = required.filter((name) => !values[name]);
  if (missing.length > 0) throw new Error(`.parley/dev.env lacks ${missing.join(', ')}`);
  return values as unknown as TestStackEnv;
}

interface Answer<T = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
  readonly text: string;
}

export interface StackClient extends ClusterClient {
  readonly folder: string;
  readonly env: TestStackEnv;
  parley(args: readonly string[]): Promise<Finished>;
  rest<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer<T>>;
  /** Makes an organisation; on a node with the permissions that the chart gives to the configured ones. */
  createOrganization(name: string): Promise<void>;
  /** Returns the pid of a process of the stack, from `.parley/run/<part>.pid`. */
  pid(part: string): Promise<number>;
  /** Kills a part with SIGKILL in the middle of its work. Resolves when another one has been started in its place. */
  kill(part: string): Promise<void>;
}

/** `as` replaces the API key of the example organisation. */
export function stackClient(stack: { readonly folder: string; readonly env: TestStackEnv }, as?: string): StackClient {
  const { folder, env } = stack;
  const childEnv = { ...env, PATH: `${env.PARLEY_BIN}:${process.env['PATH'] ?? ''}` };
  const client: StackClient = {
    folder,
    env,
    async kubectl(args, options = {}) {
      const input =
        options.input === undefined ? {} : { input: typeof options.input === 'string' ? options.input : JSON.stringify(options.input) };
      const finished = await run(join(env.PARLEY_BIN, 'kubectl'), args, { env: childEnv, ...input });
      if (finished.code !== 0 && !options.allowFailure) throw new Error(`kubectl ${args.join(' ')}: ${finished.stderr}`);
      return finished;
    },
    async getJson<T>(args: readonly string[]) {
      return JSON.parse((await client.kubectl(['get', ...args, '-o', 'json'])).stdout) as T;
    },
    parley: (args) => run(join(env.PARLEY_BIN, 'parley'), args, { env: childEnv, cwd: folder }),
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the shape it then checks
    async rest<T>(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) {
      const send = (): Promise<Response> =>
        fetch(new URL(path, env.PARLEY_URL), {
          method,
          headers: {
            authorization: `Bearer ${as ?? env.PARLEY_API_KEY}`,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        });
      let response = await send();
      // The suites share the stack's one key, with the limit that it has by default: like any client they retry after Retry-After.
      for (let attempt = 0; response.status === 429 && attempt < 10; attempt += 1) {
        await response.body?.cancel();
        await delay(Number(response.headers.get('retry-after')) * 1000);
        response = await send();
      }
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: (text.startsWith('{') ? JSON.parse(text) : {}) as T };
    },
    async createOrganization(name) {
      const made = await client.parley(['org', 'create', name]);
      if (made.code !== 0) throw new Error(made.stderr);
      if (env.PARLEY_TEST_NAMESPACE !== undefined) await copyPermissions(client, { from: env.PARLEY_ORG, to: name });
    },
    async pid(part) {
      return Number(await readFile(join(folder, '.parley/run', `${part}.pid`), 'utf8'));
    },
    async kill(part) {
      if (env.PARLEY_TEST_NAMESPACE !== undefined && isRole(part))
        return killPods(client, { namespace: env.PARLEY_TEST_NAMESPACE, role: part });
      const before = await eventually(() => client.pid(part));
      process.kill(before, 'SIGKILL');
      await eventually(async () => {
        if ((await client.pid(part)) === before) throw new Error(`${part} has not been started again`);
      });
    },
  };
  return client;
}

/** Starts `parley dev` in the foreground, so that Ctrl-C, which goes to all processes of a terminal, ends it with the caller. Resolves once it is up. */
export function startDevStack(cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const stack = spawn(parley, ['dev'], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [stack.stdout, stack.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('Parley is up')) resolve();
      });
    }
    stack.on('exit', (code) => reject(new Error(`parley dev ended with ${code}:\n${output}`)));
  });
}
