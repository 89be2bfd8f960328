import type { PartResult } from '../harness/suite.ts';
import type { VoiceHost } from './host.ts';

/** How much work a run does. */
export interface VoiceScale {
  /** How many calls at once. */
  readonly calls: readonly number[];
  /** Questions that each caller asks. */
  readonly turns: number;
  /** Calls one after the other whose beginning is timed. */
  readonly joins: number;
  readonly interruptions: number;
  /** Rounds of calls with traces and without. */
  readonly traceRounds: number;
  /** Calls one after the other for the memory. */
  readonly soak: number;
  /** Of these, so many at the same time. */
  readonly lanes: number;
  /** Processes that the voice role keeps ready for the next calls. */
  readonly ready: number;
  /** Calls that share a process. */
  readonly perProcess: number;
  /** To which what is measured is bound. */
  readonly cores: number;
}

/** Calls that the voice role takes at most: as a pod is sized for what is measured. */
export const capacityOf = ({ calls, lanes }: VoiceScale): number => Math.max(10, lanes, ...calls);

interface PartContext {
  readonly scale: VoiceScale;
  readonly host: VoiceHost;
  /** One line of what is being done now. */
  readonly progress: (line: string) => void;
}

/** @throws Error naming what is missing */
export type VoicePart = (context: PartContext) => Promise<PartResult>;
