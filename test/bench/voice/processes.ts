/** Processes and their memory, read from `/proc`. */
import { readdirSync, readFileSync } from 'node:fs';

/** What a process has started and what still runs; nothing for a process that is gone. */
function childrenOf(pid: number): readonly number[] {
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

/** What processes hold. */
export interface Use {
  /** What several share counts once. */
  readonly bytes: number;
  readonly processes: number;
  readonly threads: number;
  /** Connections are among them. */
  readonly files: number;
}

/** Of a process and all that it has started. Zeros for one that is gone. */
export function treeUse(pid: number): Use {
  const count = (folder: string): number => {
    try {
      return readdirSync(`/proc/${pid}/${folder}`).length;
    } catch {
      return 0;
    }
  };
  const all = childrenOf(pid).map(treeUse);
  const sum = (of: (use: Use) => number): number => all.reduce((total, use) => total + of(use), 0);
  return {
    bytes: treeMemory(pid),
    processes: 1 + sum((use) => use.processes),
    threads: count('task') + sum((use) => use.threads),
    files: count('fd') + sum((use) => use.files),
  };
}
