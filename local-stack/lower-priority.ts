import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * Has a process that leads a session, and what it starts, yield to others where processors are short. Linux weighs sessions against each
 * other before the processes in them (sched(7), "The autogroup feature"), so that the priority of the process alone would change nothing.
 */
export function lowerPriority(pid: number, nice: number): void {
  attempt(() => setPriority(pid, nice));
  if (process.platform === 'linux') attempt(() => writeFileSync(`/proc/${pid}/autogroup`, String(nice)));
}

/** It may have ended, the kernel may know no sessions, or it may have been asked too often: all goes on, with the usual priority. */
function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // As above.
  }
}
