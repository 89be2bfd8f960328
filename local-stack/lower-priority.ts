import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * Makes a process that leads a session, and what it starts, yield to others where processors are short. Linux weighs sessions against each
 * other before the processes in them (sched(7), "The autogroup feature"), so that the priority of the process alone would change nothing.
 */
export function lowerPriority(pid: number, nice: number): void {
  attempt(() => setPriority(pid, nice));
  if (process.platform === 'linux') attempt(() => writeFileSync(`/proc/${pid}/autogroup`, String(nice)));
}

/** Ignores a failure: the process may have ended, or the kernel may refuse. All goes on, with the usual priority. */
function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // The usual priority remains.
  }
}
