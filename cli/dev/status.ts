import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { maskUrl } from '../../platform/masking.ts';
import { externalDatabase } from './database-url.ts';
import { readEnvFile, type StackEnv } from './env-file.ts';
import { type Layout, layoutOf } from './layout.ts';
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
  for (const part of readState(layout).parts) {
    const mark = part.state === 'ready' ? '✓' : '!';
    process.stdout.write(
      `  ${mark} ${part.name.padEnd(24)}${part.state}${part.pid === undefined ? '' : `, process ${part.pid}`}${part.restarts === 0 ? '' : `, restarted ${part.restarts}×`}\n`,
    );
  }
  process.stdout.write(env === undefined ? '' : `\n${tourOf(env, layout)}`);
  process.exitCode = env === undefined ? 1 : 0;
}
