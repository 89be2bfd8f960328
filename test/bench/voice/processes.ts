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

/** A process, and all that it has started. */
function treeOf(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid).flatMap(treeOf)];
}

/** In bytes, what it shares with others in part; NaN where that can't be seen. */
function memoryOf(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? Number.NaN) * 1024;
  } catch {
    return Number.NaN;
  }
}

/** Memory of a process and all that it has started, in bytes: what several share counts once. NaN where that can't be seen. */
export function treeMemory(pid: number): number {
  const [, ...others] = treeOf(pid);
  return others.reduce((sum, other) => sum + (memoryOf(other) || 0), memoryOf(pid));
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

/** Of a process and all that it has started. */
export function treeUse(pid: number): Use {
  const pids = treeOf(pid);
  const count = (folder: string): number => pids.reduce((sum, each) => sum + entriesIn(`/proc/${each}/${folder}`), 0);
  return { bytes: treeMemory(pid), processes: pids.length, threads: count('task'), files: count('fd') };
}

/** 0 for a process that is gone. */
function entriesIn(folder: string): number {
  try {
    return readdirSync(folder).length;
  } catch {
    return 0;
  }
}
