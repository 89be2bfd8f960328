/** `parley dev`: starts a stack in this process, or in a detached one that outlives it. */
import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';

import { onSignals } from '../platform/on-signals.ts';
import { reportFailure, UserError } from '../platform/user-error.ts';
import { parentConsole, type ParentMessage, sendToParent, streamConsole } from './console.ts';
import { resetStack, runStack } from './dev.ts';
import { readEnvFile, type StackEnv } from './env-file.ts';
import { createLayout, type Layout, layoutOf } from './layout.ts';
import type { Ports } from './settings.ts';
import { stackSummary } from './status.ts';
import { stopStack } from './stop.ts';
import { runningSupervisor, takeFolder } from './supervisor-lock.ts';

export interface StartStackOptions {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly flags: { readonly detach?: true; readonly reset?: true; readonly org?: string; readonly ipc?: true; readonly call: boolean };
  readonly ports: Partial<Ports>;
  /** Called once the stack is up, also where it was before. What it prints comes last. */
  readonly onUp?: ((stack: StackEnv) => Promise<void>) | undefined;
}

export async function startStack(options: StartStackOptions): Promise<void> {
  const { folder, flags, ports } = options;
  const layout = layoutOf(folder);
  const running = await runningSupervisor(layout.supervisorPid);
  if (running !== undefined && flags.reset !== true) {
    if (options.onUp !== undefined) {
      await options.onUp(runningEnv(layout, running));
      return;
    }
    reportRunning(layout, running);
    if (flags.org !== undefined || Object.keys(ports).length > 0)
      process.stdout.write('\nIts organisation and ports are as they were: to change them, stop it and start it again.\n');
    return;
  }
  if (flags.reset === true && flags.ipc !== true) {
    if (running !== undefined) await stopStack(folder);
    resetStack(layout);
  }
  createLayout(layout);
  if (flags.detach === true) await startDetached(options, layout);
  else await runHere(options, layout);
}

function reportRunning(layout: Layout, pid: number): void {
  const env = readEnvFile(layout.envFile);
  process.stdout.write(
    `A stack already runs in this folder (process ${pid})${env === undefined ? ' and is starting; `parley dev status` shows its progress' : ''}. \`parley dev stop\` stops it.\n\n`,
  );
  if (env !== undefined) process.stdout.write(stackSummary(env, layout));
}

/** @throws UserError while the stack starts */
function runningEnv(layout: Layout, pid: number): StackEnv {
  const env = readEnvFile(layout.envFile);
  if (env !== undefined) return env;
  throw new UserError(`the stack of this folder (process ${pid}) is starting or stopping`, {
    cure: 'run the command again when `parley dev status` shows it ready',
  });
}

async function runHere({ env, flags, ports, onUp }: StartStackOptions, layout: Layout): Promise<void> {
  const taken = await takeFolder(layout.supervisorPid);
  if ('takenBy' in taken) {
    reportRunning(layout, taken.takenBy);
    return;
  }
  // With `parley dev | head` other commands end with their reader; a running stack must not.
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error').on('error', () => undefined);
  const console = flags.ipc === true ? parentConsole() : streamConsole(process.stdout);
  const stop = new AbortController();
  const forceStop = new AbortController();
  const release = onSignals(['SIGINT', 'SIGTERM', 'SIGHUP'], () =>
    (stop.signal.aborted ? forceStop : stop).abort(new Error('stopped by a signal')),
  );
  const onReady = (stackEnv: StackEnv): void => {
    if (flags.ipc === true) sendToParent({ kind: 'ready' });
    else process.stdout.write(`\nParley is up. Ctrl-C stops it.\n\n${stackSummary(stackEnv, layout)}`);
    // The stack is up, and stays so where this fails.
    void onUp?.(stackEnv).catch((error: unknown) => void reportFailure(error, process.stderr));
  };
  try {
    await runStack({
      layout,
      env,
      console,
      parley: [process.execPath, process.argv[1]!],
      ports,
      call: flags.call,
      onReady,
      stop: stop.signal,
      forceStop: forceStop.signal,
      org: flags.org,
    });
  } catch (error) {
    if (stop.signal.aborted) return;
    if (error instanceof UserError) sendToParent({ kind: 'failed', text: error.message, cure: error.cure });
    else if (error instanceof Error) sendToParent({ kind: 'failed', text: error.stack ?? error.message, cure: undefined });
    throw error;
  } finally {
    taken.release();
    console.close();
    if (process.connected) process.disconnect();
    release();
  }
}

/** Starts a supervisor in a session of its own, forwards its progress, and leaves when it is ready. */
async function startDetached({ folder, env, onUp }: StartStackOptions, layout: Layout): Promise<void> {
  const log = openSync(join(layout.logs, 'dev.log'), 'a', 0o600);
  const args = process.argv.slice(2).filter((arg) => arg !== '--detach' && arg !== '--reset');
  const child = spawn(process.execPath, [process.argv[1]!, ...args, '--ipc'], {
    cwd: folder,
    env,
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  const console = streamConsole(process.stdout);
  const release = onSignals(['SIGINT', 'SIGTERM'], () => void child.kill('SIGTERM'));
  try {
    await new Promise<void>((resolve, reject) => {
      let failure: UserError | undefined;
      child.on('error', reject);
      child.on('message', (message: ParentMessage) => {
        if (message.kind === 'line') console.line(message.text);
        else if (message.kind === 'status') console.status(message.key, message.text);
        else if (message.kind === 'failed') failure = new UserError(message.text, message.cure === undefined ? {} : { cure: message.cure });
        else resolve();
      });
      child.on('exit', (code, signal) => {
        const cure = `see ${join(layout.logs, 'dev.log')}`;
        reject(failure ?? new UserError(`the stack ended before it was ready (${signal ?? `exit code ${code}`})`, { cure }));
      });
    });
  } finally {
    console.close();
    release();
  }
  child.disconnect();
  child.unref();
  const stackEnv = readEnvFile(layout.envFile);
  process.stdout.write(
    `\nParley is up and stays so. \`parley dev stop\` stops it.\n\n${stackEnv === undefined ? '' : stackSummary(stackEnv, layout)}`,
  );
  if (stackEnv !== undefined) await onUp?.(stackEnv);
}
