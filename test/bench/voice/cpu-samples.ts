/** Samples the CPU of a process and all its children over time, to be asked about a window that is known afterwards. */
import { treeCpuMs } from '../harness/process-tree.ts';
import type { Interval } from './added-latency.ts';
import { now } from './caller.ts';

const everyMs = 250;

export interface CpuSamples {
  stop(): void;
  /** Returns the cores that were busy on average within the window; undefined where that can't be seen. */
  coresWithin(window: Interval): number | undefined;
}

export function sampleCpu(pid: number): CpuSamples {
  const samples: { readonly at: number; readonly cpuMs: number }[] = [];
  const take = (): void => {
    const cpuMs = treeCpuMs(pid);
    if (cpuMs !== undefined) samples.push({ at: now(), cpuMs });
  };
  take();
  const timer = setInterval(take, everyMs);
  return {
    stop: () => clearInterval(timer),
    coresWithin({ from, to }) {
      const inside = samples.filter(({ at }) => at >= from && at <= to);
      const [first, last] = [inside[0], inside.at(-1)];
      return first === undefined || last === undefined || first === last ? undefined : (last.cpuMs - first.cpuMs) / (last.at - first.at);
    },
  };
}
