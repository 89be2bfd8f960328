/** Starts a process for a benchmark, waits for it and stops it. */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

export interface ChildOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Standard output and error go to this file, as they would in production; no process reads along. */
  readonly logFile: string;
}

export interface Child {
  readonly pid: number;
  /**
   * Asks `check` every 20 ms until it answers true; its failures count as no.
   * @throws Error with the last lines of the log when the process ends first or `timeoutMs` (default: one minute) is over.
   */
  until(what: string, check: () => Promise<boolean>, timeoutMs?: number): Promise<void>;
  /** Returns what it has written so far. */
  log(): string;
  /** Sends SIGTERM, and SIGKILL after 30 s. Idempotent. */
  stop(): Promise<void>;
}

export function startChild(options: ChildOptions): Child {
  const { file, args, logFile } = options;
  mkdirSync(dirname(logFile), { recursive: true });
  const out = openSync(logFile, 'w');
  const child = spawn(file, args, {
    stdio: ['ignore', out, out],
    env: options.env ?? process.env,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  closeSync(out);
  let end: string | undefined;
  // The child ends with this process, whatever ends it, Ctrl-C included.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => resolve(void (end = `can't be started (${error.message})`)));
    child.once('exit', (code, signal) => resolve(void (end = `ended with ${code === null ? String(signal) : `exit code ${code}`}`)));
  });
  void ended.then(() => process.off('exit', kill));
  const log = (): string => readFileSync(logFile, 'utf8');
  const failure = (why: string): Error =>
    new Error(`${[file, ...args].join(' ')} ${why}; its last words (${logFile}):\n${log().split('\n').slice(-6).join('\n')}`);

  return {
    pid: child.pid ?? 0,
    log,
    async until(what, check, timeoutMs = 60_000) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        if (end !== undefined) throw failure(end);
        if (await check().catch(() => false)) return;
        if (performance.now() > deadline) throw failure(`was not ${what} within ${timeoutMs} ms`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async stop() {
      if (end !== undefined) return;
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 30_000);
      await ended;
      clearTimeout(late);
    },
  };
}
