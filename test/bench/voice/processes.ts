/** Processes and their memory, read from `/proc`. */
import { readdirSync, readFileSync } from 'node:fs';

/** Resident memory in bytes; NaN for a process that is gone. */
export function rssOf(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) * 1024;
  } catch {
    return Number.NaN;
  }
}

/** What a process has started and what still runs; nothing for a process that is gone. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '))
      .filter((child) => child.trim() !== '')
      .map(Number);
  } catch {
    return [];
  }
}

/** Memory of a process and all that it has started, in bytes: what several share counts once. NaN where that can't be seen. */
export function treeMemory(pid: number): number {
  try {
    const own = Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? Number.NaN) * 1024;
    return childrenOf(pid).reduce((sum, child) => sum + (treeMemory(child) || 0), own);
  } catch {
    return Number.NaN;
  }
}
