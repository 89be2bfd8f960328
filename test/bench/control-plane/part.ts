import type { Table } from '../harness/table.ts';
import type { BenchCluster } from './cluster.ts';
import type { BenchStack } from './stack.ts';

/** Amounts of work in a run. */
export interface ControlPlaneScale {
  /** Counted turns of each contender in (a) and (b). */
  readonly rounds: number;
  /** Length of one turn of a closed loop, in milliseconds. */
  readonly turnMs: number;
  /** Agents that exist while (c) changes some of them. */
  readonly objects: number;
  /** Changes a second in the steady part of (c). */
  readonly changesPerSecond: number;
  /** Length of the steady part of (c), in seconds. */
  readonly steadySeconds: number;
  /** Time for which (c) watches for writes when nothing changes, in seconds. */
  readonly restSeconds: number;
  /** Agents that the two loops of (d) have before them. */
  readonly loopObjects: number;
  /** Length of the paced stretch of (d), in seconds. */
  readonly loopSeconds: number;
  /** Turns of each loop of (d). */
  readonly loopRounds: number;
}

export interface ControlPlaneContext {
  readonly cluster: BenchCluster;
  /** Addresses for the parts that start roles. */
  readonly stack: BenchStack;
  readonly scale: ControlPlaneScale;
  /** Prints one line about what is being done now. */
  readonly progress: (line: string) => void;
}

/** Runs one of the comparisons: `run` measures, `tables` shows what `run` returned. */
export interface ControlPlanePart<R> {
  readonly title: string;
  run(context: ControlPlaneContext): Promise<R>;
  tables(result: R): readonly Table[];
}
