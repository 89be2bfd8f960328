import type { PartResult } from '../harness/suite.ts';
import type { VoiceHost } from './host.ts';

/** Amounts of work in a run. */
export interface VoiceScale {
  /** Numbers of calls at once. */
  readonly calls: readonly number[];
  /** Questions that each caller asks. */
  readonly turns: number;
  /** Number of calls one after the other whose beginning is timed. */
  readonly joins: number;
  readonly interruptions: number;
  /** Rounds of calls with traces and without. */
  readonly traceRounds: number;
  /** Number of calls one after the other for the memory. */
  readonly soak: number;
  /** Calls of the soak at the same time. */
  readonly lanes: number;
  /** Processes that the voice role keeps ready for the next calls. */
  readonly ready: number;
  /** Calls that share a process. */
  readonly perProcess: number;
  /** Cores to which the measured processes are bound. */
  readonly cores: number;
}

/** Returns the most calls that the voice role takes: as a pod is sized for what is measured. */
export const capacityOf = ({ calls, lanes }: VoiceScale): number => Math.max(10, lanes, ...calls);

interface PartContext {
  readonly scale: VoiceScale;
  readonly host: VoiceHost;
  /** Prints one line about what is being done now. */
  readonly progress: (line: string) => void;
}

/** @throws Error naming what is missing */
export type VoicePart = (context: PartContext) => Promise<PartResult>;
