import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';

import { UserError } from '../platform/user-error.ts';
import { type Console, streamConsole } from './console.ts';
import { resetStack, runStack } from './dev.ts';
import { readEnvFile, type StackEnv } from './env-file.ts';
import { createLayout, type Layout, layoutOf } from './layout.ts';
import { tellParent, type Message } from './parent.ts';
import type { Ports } from './settings.ts';
import { tourOf } from './status.ts';
import { stopStack } from './stop.ts';
import { runningSupervisor, takeFolder } from './supervisor-lock.ts';

export interface StartOptions {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly flags: { readonly detach?: true; readonly reset?: true; readonly org?: string; readonly ipc?: true; readonly call: boolean };
  readonly ports: Partial<Ports>;
}

export async function startStack(options: StartOptions): Promise<void> {
  const layout = layoutOf(options.folder);
  const running = await runningSupervisor(layout.supervisorPid);
  if (running !== undefined && options.flags.reset !== true) {
    alreadyRunning(layout, running);
    if (options.flags.org !== undefined || Object.keys(options.ports).length > 0)
      process.stdout.write('\nIts organisation and ports are as they were: to change them, stop it and start it again.\n');
    return;
  }
  if (options.flags.reset === true && options.flags.ipc !== true) {
    if (running !== undefined) await stopStack(options.folder);
    resetStack(layout);
  }
  if (options.flags.detach === true) await startDetached(options, layout);
  else await runHere(options, layout);
}

function alreadyRunning(layout: Layout, pid: number): void {
  const env = readEnvFile(layout.envFile);
  process.stdout.write(
    `A stack already runs in this folder (process ${pid})${env === undefined ? ' and is starting; `parley dev status` shows how far it is' : ''}. \`parley dev stop\` stops it.\n\n`,
  );
  if (env !== undefined) process.stdout.write(tourOf(env, layout));
}

async function runHere(options: StartOptions, layout: Layout): Promise<void> {
  createLayout(layout);
  const taken = await takeFolder(layout.supervisorPid);
  if ('takenBy' in taken) {
    alreadyRunning(layout, taken.takenBy);
    return;
  }
  const { ipc } = options.flags;
  // `parley dev | head`: other commands end with their reader, a running stack must not.
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error').on('error', () => undefined);
  const console = ipc === true ? ipcConsole() : streamConsole(process.stdout);
  const stop = new AbortController();
  const hurry = new AbortController();
  const onSignal = (): void => (stop.signal.aborted ? hurry : stop).abort(new Error('stopped by a signal'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  const onReady = (env: StackEnv): void => {
    if (ipc === true) tellParent({ kind: 'ready' });
    else process.stdout.write(`\nParley is up. Ctrl-C stops it.\n\n${tourOf(env, layout)}`);
  };
  try {
    await runStack({
      layout,
      env: options.env,
      console,
      parley: [process.execPath, process.argv[1]!],
      ports: options.ports,
      call: options.flags.call,
      onReady,
      stop: stop.signal,
      hurry: hurry.signal,
      ...(options.flags.org === undefined ? {} : { org: options.flags.org }),
    });
  } catch (error) {
    if (stop.signal.aborted) return;
    if (error instanceof Error)
      tellParent({
        kind: 'failed',
        text: error instanceof UserError ? error.message : (error.stack ?? error.message),
        ...(error instanceof UserError && error.cure !== undefined ? { cure: error.cure } : {}),
      });
    throw error;
  } finally {
    taken.release();
    console.close();
    if (process.connected) process.disconnect();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, onSignal);
  }
}

/** Lines go to the log of the stack and, while it listens, to the command that started it. */
function ipcConsole(): Console {
  const log = streamConsole(process.stdout);
  return {
    line(text) {
      log.line(text);
      tellParent({ kind: 'line', text });
    },
    status(key, text) {
      log.status(key, text);
      tellParent({ kind: 'status', key, ...(text === undefined ? {} : { text }) });
    },
    close: () => log.close(),
  };
}

/** Starts a supervisor of its own session, tells how it goes, and leaves when it is ready. */
async function startDetached(options: StartOptions, layout: Layout): Promise<void> {
  createLayout(layout);
  const log = openSync(join(layout.logs, 'dev.log'), 'a', 0o600);
  const args = process.argv.slice(2).filter((arg) => arg !== '--detach' && arg !== '--reset');
  const child = spawn(process.execPath, [process.argv[1]!, ...args, '--ipc'], {
    cwd: options.folder,
    env: options.env,
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  const console = streamConsole(process.stdout);
  const forward = (): void => void child.kill('SIGTERM');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, forward);
  try {
    await new Promise<void>((resolve, reject) => {
      let failure: UserError | undefined;
      child.on('error', reject);
      child.on('message', (message: Message) => {
        if (message.kind === 'line') console.line(message.text ?? '');
        else if (message.kind === 'status') console.status(message.key ?? '', message.text);
        else if (message.kind === 'failed') failure = new UserError(message.text, message.cure === undefined ? {} : { cure: message.cure });
        else resolve();
      });
      child.on('exit', (code, signal) =>
        reject(
          failure ??
            new UserError(`the stack ended before it was ready (${signal ?? `exit code ${code}`})`, {
              cure: `see ${join(layout.logs, 'dev.log')}`,
            }),
        ),
      );
    });
  } finally {
    console.close();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, forward);
  }
  child.disconnect();
  child.unref();
  const env = readEnvFile(layout.envFile);
  process.stdout.write(`\nParley is up and stays so. \`parley dev stop\` stops it.\n\n${env === undefined ? '' : tourOf(env, layout)}`);
}
