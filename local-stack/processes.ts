/** Asks the operating system about processes that this one may not have started. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

import { awakeClock } from '../platform/clock.ts';
import { pollUntil } from '../platform/poll-until.ts';

/** Tells whether a process with this number exists, zombies and other users' included. */
export function processAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Returns the command line, or undefined when there is no such process (a zombie has none either). */
export async function commandLine(pid: number): Promise<string | undefined> {
  try {
    if (process.platform === 'linux') {
      const text = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ').trim();
      return text === '' ? undefined : text;
    }
    const { stdout } = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]);
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Waits until the process is gone; false when it still runs after `timeoutMs`. */
export async function waitForExit(pid: number, timeoutMs: number): Promise<boolean> {
  const options = { everyMs: 50, withinMs: timeoutMs, clock: awakeClock };
  return pollUntil(async () => (await commandLine(pid)) === undefined, Boolean, options);
}
