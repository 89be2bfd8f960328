/** CPU time of a process with all that it has started, read from `/proc`: of Postgres, whose sessions are processes. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

interface Node {
  readonly parent: number;
  /** Its own and that of its children that have ended, in clock ticks. */
  readonly ticks: number;
}

/** @returns what the text of `/proc/<pid>/stat` says */
export function parseNode(stat: string): Node {
  // The second field is the executable's name in parentheses and may itself hold blanks and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { parent: Number(fields[1]), ticks };
}

/** Milliseconds of CPU since `pid` started, those of ended descendants included; undefined where there is no `/proc` or no such process. */
export function treeCpuMs(pid: number): number | undefined {
  const nodes = new Map<number, Node>();
  try {
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      try {
        nodes.set(Number(name), parseNode(readFileSync(`/proc/${name}/stat`, 'utf8')));
      } catch {
        // It has ended meanwhile.
      }
    }
  } catch {
    return undefined;
  }
  if (!nodes.has(pid)) return undefined;
  let ticks = 0;
  const within = (id: number): boolean => id === pid || (nodes.has(id) && within(nodes.get(id)?.parent ?? 0));
  for (const [id, node] of nodes) if (within(id)) ticks += node.ticks;
  // Linux counts 100 ticks a second.
  return ticks * 10;
}

/** Less than this within {@link restMs} is nothing that was begun, in milliseconds of CPU. */
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
