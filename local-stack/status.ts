import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { maskUrl } from '../platform/masking.ts';
import { externalDatabase } from './database-url.ts';
import { readEnvFile, type StackEnv } from './env-file.ts';
import { type Layout, layoutOf } from './layout.ts';
import { httpCheck } from './parts/http-check.ts';
import { clientTls, ensureMutualTls } from './parts/key-pairs.ts';
import { readSettings } from './settings.ts';
import { readState } from './state.ts';
import { runningSupervisor } from './supervisor-lock.ts';
import { tour } from './tour.ts';

/** The addresses and commands of a running stack, with an agent that is there. */
export function tourOf(env: StackEnv, layout: Layout): string {
  // A password that the stack did not make up itself is not for the screen.
  const shown =
    externalDatabase({ DATABASE_URL: env.DATABASE_URL }) === undefined ? env : { ...env, DATABASE_URL: maskUrl(env.DATABASE_URL) };
  const agent = firstAgent(env);
  return tour(shown, {
    envCommand: `cd ${quoted(join(layout.root, '..'))} && eval "$(${quoted(join(env.PARLEY_BIN, 'parley'))} env)"`,
    ...(agent === undefined ? {} : { agent }),
  });
}

const quoted = (text: string): string => (/^[\w/.@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

function firstAgent(env: StackEnv): string | undefined {
  try {
    const names = execFileSync(
      join(env.PARLEY_BIN, 'kubectl'),
      ['get', 'agents', `--namespace=${env.PARLEY_ORG}`, '--output=jsonpath={.items[*].metadata.name}'],
      {
        env: { ...process.env, KUBECONFIG: env.KUBECONFIG },
        encoding: 'utf8',
        timeout: 10_000,
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    return names.split(' ').find((name) => name !== '');
  } catch {
    return undefined;
  }
}

/** Exit code 0 when the stack is ready, 1 when it is not or there is none. */
export async function showStatus(folder: string): Promise<void> {
  const layout = layoutOf(folder);
  const pid = await runningSupervisor(layout.supervisorPid);
  if (pid === undefined) {
    process.stdout.write('no stack runs in this folder\n  → parley dev\n');
    process.exitCode = 1;
    return;
  }
  const env = readEnvFile(layout.envFile);
  process.stdout.write(
    `The stack in ${join(layout.root, '..')} ${env === undefined ? 'is starting or stopping' : 'is up'} (process ${pid}).\n`,
  );
  const { ports = {} } = readSettings(layout.settings);
  const { parts } = readState(layout);
  const silent = await Promise.all(parts.map(async ({ name, state }) => state === 'ready' && (await isSilent(name, ports, layout))));
  for (const [index, part] of parts.entries()) {
    const mark = part.state === 'ready' && silent[index] !== true ? '✓' : '!';
    const state = silent[index] === true ? `does not answer within ${ANSWER_MS / 1000} s` : part.state;
    process.stdout.write(
      `  ${mark} ${part.name.padEnd(24)}${state}${part.pid === undefined ? '' : `, process ${part.pid}`}${part.restarts === 0 ? '' : `, restarted ${part.restarts}×`}\n`,
    );
  }
  process.stdout.write(env === undefined ? '' : `\n${tourOf(env, layout)}`);
  process.exitCode = env === undefined || silent.includes(true) ? 1 : 0;
}

/** A process that is stopped or stuck still exists: whether it answers is another question. */
const ANSWER_MS = 2_000;

const livePaths: Partial<Readonly<Record<string, readonly ['http' | 'https', string]>>> = {
  etcd: ['https', '/health'],
  'kube-apiserver': ['https', '/livez'],
  'kube-controller-manager': ['https', '/healthz'],
  operator: ['http', '/healthz'],
  api: ['http', '/healthz'],
  worker: ['http', '/healthz'],
  dispatcher: ['http', '/healthz'],
  receiver: ['http', '/'],
  voice: ['http', '/healthz'],
  livekit: ['http', '/'],
};

/** True for a part that is asked over HTTP and gives no answer at all, whatever it would say. */
async function isSilent(part: string, ports: Partial<Readonly<Record<string, number>>>, { secrets }: Layout): Promise<boolean> {
  const [scheme, path] = livePaths[part] ?? [];
  const port = ports[part];
  if (scheme === undefined || port === undefined) return false;
  return httpCheck({
    url: `${scheme}://127.0.0.1:${port}${path}`,
    ...(part === 'etcd' ? clientTls(ensureMutualTls(secrets, 'etcd')) : {}),
    signal: AbortSignal.timeout(ANSWER_MS),
  }).then(
    () => false,
    () => true,
  );
}
