/** Measures what a process uses with all that it has started, read from `/proc`. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

interface Node {
  readonly parent: number;
  /** CPU time of itself and of its children that have ended, in clock ticks. */
  readonly ticks: number;
}

/** @returns the numbers in the text of `/proc/<pid>/stat` */
export function parseNode(stat: string): Node {
  // The second field is the executable's name in parentheses and may itself hold blanks and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { parent: Number(fields[1]), ticks };
}

/** Reads a process and all that it has started, its own node first; empty where there is no `/proc` or no such process. */
function readTree(pid: number): ReadonlyMap<number, Node> {
  const nodes = new Map<number, Node>();
  for (const name of entriesOf('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      nodes.set(Number(name), parseNode(readFileSync(`/proc/${name}/stat`, 'utf8')));
    } catch {
      // The process has ended meanwhile.
    }
  }
  const within = (id: number): boolean => id === pid || (nodes.has(id) && within(nodes.get(id)?.parent ?? 0));
  return new Map([...nodes].filter(([id]) => within(id)));
}

/** Returns the milliseconds of CPU since `pid` started, with ended descendants; undefined where there is no `/proc` or no such process. */
export function treeCpuMs(pid: number): number | undefined {
  const tree = readTree(pid);
  if (!tree.has(pid)) return undefined;
  // Linux counts 100 ticks a second.
  return [...tree.values()].reduce((sum, { ticks }) => sum + ticks, 0) * 10;
}

/** A process and all that it has started hold this. */
export interface TreeUse {
  /** Memory in bytes; what several share counts once. */
  readonly bytes: number;
  readonly processes: number;
  readonly threads: number;
  /** Open files, connections among them. */
  readonly files: number;
}

export function treeUse(pid: number): TreeUse {
  const pids = [...readTree(pid).keys()];
  const count = (folder: string): number => pids.reduce((sum, each) => sum + entriesOf(`/proc/${each}/${folder}`).length, 0);
  return { bytes: memoryOf(pids), processes: pids.length, threads: count('task'), files: count('fd') };
}

/** Returns the memory of a process and all that it has started, in bytes. */
export function treeMemory(pid: number): number {
  return memoryOf([...readTree(pid).keys()]);
}

/** Adds proportional shares; processes that have ended count for nothing. */
function memoryOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    try {
      return sum + Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) * 1024;
    } catch {
      return sum;
    }
  }, 0);
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Milliseconds of CPU; a process that uses less within {@link restMs} is at rest. */
const littleMs = 300;
const restMs = 2_000;

/** Waits until what a process has begun is done: its children have started, or what they have used is put away. */
export async function untilAtRest(pid: number): Promise<void> {
  for (let before = treeCpuMs(pid); before !== undefined;) {
    await delay(restMs);
    const now = treeCpuMs(pid);
    if (now === undefined || now - before < littleMs) return;
    before = now;
  }
}
