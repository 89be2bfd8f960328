/** Finds the processes that a process has started, as Linux shows them. */
import { readdirSync, readFileSync } from 'node:fs';

/** @returns no processes where there is no /proc */
export function childrenOf(parent: number): readonly number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)
    .filter((pid) => Number(statusOf(pid, 'PPid')) === parent && !(statusOf(pid, 'State') ?? 'Z').startsWith('Z'));
}

/** Returns bytes of memory: at the moment, or the most that the process ever held. 0 for one that has ended. */
export function residentBytesOf(pid: number, which: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  return 1024 * Number.parseInt(statusOf(pid, which) ?? '0', 10);
}

function statusOf(pid: number, field: string): string | undefined {
  try {
    return new RegExp(`^${field}:\\s+(.*)$`, 'mu').exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  } catch {
    // The process ended between the list and the look.
    return undefined;
  }
}
