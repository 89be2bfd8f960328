/** Makes short calls one after the other, to see whether the voice role keeps anything of them. */
import { setTimeout as delay } from 'node:timers/promises';

import { treeCpuMs, treeUse, type TreeUse } from '../harness/process-tree.ts';
import { duration, figure, megabytes } from '../harness/table.ts';
import type { VoicePart } from './part.ts';

/** Rounds of calls between two looks. */
const step = 10;
/** Time after which the memory of a call has been freed, in milliseconds. */
const settleMs = 3_000;

interface Look extends TreeUse {
  readonly calls: number;
  /** CPU since the role began, in milliseconds. */
  readonly cpuMs: number;
}

export const soak: VoicePart = async ({ host, scale, progress }) => {
  const role = await host.voiceRole(scale);
  const looks: Look[] = [];
  try {
    const look = async (calls: number): Promise<void> => {
      await delay(settleMs);
      looks.push({ calls, cpuMs: treeCpuMs(role.pid) ?? Number.NaN, ...treeUse(role.pid) });
    };
    await look(0);
    for (let done = 0; done < scale.soak;) {
      progress(`after ${done} of ${scale.soak} calls`);
      for (let round = 0; round < step && done < scale.soak; round += 1) {
        const calls = await Promise.all(Array.from({ length: Math.min(scale.lanes, scale.soak - done) }, () => host.call('soak')));
        await host.callers({ calls, turns: 0, interruptions: 0 });
        done += calls.length;
      }
      await look(done);
    }
  } finally {
    await role.stop();
  }
  // The first calls load what all others use.
  const warm = looks.slice(Math.min(3, looks.length - 1));
  const perCall = slope(warm);
  return {
    figures: { looks, bytesPerCall: perCall },
    tables: [
      {
        title: 'What the voice role holds with all its processes, over calls one after the other',
        columns: ['', 'memory', 'processes', 'threads', 'open files', 'CPU of a call since'],
        rows: looks
          .filter((_, index) => index % Math.max(1, Math.floor(looks.length / 8)) === 0 || index === looks.length - 1)
          .map(({ calls, cpuMs, bytes, processes, threads, files }, index, shown) => [
            `after ${calls}`,
            megabytes(bytes),
            figure(processes),
            figure(threads),
            figure(files),
            index === 0 ? '' : duration((cpuMs - shown[index - 1]!.cpuMs) / (calls - shown[index - 1]!.calls)),
          ]),
        notes: [
          `What several processes share counts once (PSS). The line through what was seen from the fourth look on rises by ${figure(perCall / 1_000, 'kB')} a call.`,
        ],
      },
    ],
  };
};

/** Returns the slope of the line of least squares, in bytes a call; NaN for a single look. */
export function slope(looks: readonly Pick<Look, 'calls' | 'bytes'>[]): number {
  const mean = (of: (look: Pick<Look, 'calls' | 'bytes'>) => number): number =>
    looks.reduce((sum, look) => sum + of(look), 0) / looks.length;
  const [calls, bytes] = [mean((look) => look.calls), mean((look) => look.bytes)];
  const above = looks.reduce((sum, look) => sum + (look.calls - calls) * (look.bytes - bytes), 0);
  return above / looks.reduce((sum, look) => sum + (look.calls - calls) ** 2, 0);
}
