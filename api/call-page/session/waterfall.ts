/** Lays out the latencies of one answer as bars on a common axis, which begins when the user has stopped speaking. */
import type { TurnLatencies } from '../../../calls/turn-latencies.ts';

export interface Bar {
  readonly stage: keyof TurnLatencies;
  /** Start on the axis, in milliseconds. */
  readonly from: number;
  readonly to: number;
}

export interface Waterfall {
  /** The whole, then its stages, where they were measured. */
  readonly bars: readonly Bar[];
  /** Length of the axis, in milliseconds: the same for all answers that are not too slow for it. */
  readonly length: number;
}

const AXIS_MS = 2_000;

/** Beyond so many milliseconds people begin to ask whether anyone is there. */
const SLOW_MS = 1_500;

export function isSlow({ v2v }: TurnLatencies): boolean {
  return v2v !== null && v2v >= SLOW_MS;
}

/**
 * Lays out one answer. The end of turn is decided while speech is recognised; then the model answers, then the voice. An answer that was
 * begun before the end of turn was decided is drawn from its end.
 */
export function waterfallOf({ eou, stt, llm_ttft: llm, tts_ttfb: tts, v2v }: TurnLatencies): Waterfall {
  const answer = (llm ?? 0) + (tts ?? 0);
  const inOrder = Math.max(eou ?? 0, stt ?? 0);
  const begun = v2v === null ? inOrder : Math.max(0, Math.min(inOrder, v2v - answer));
  const bar = (stage: Bar['stage'], from: number, ms: number | null): readonly Bar[] =>
    ms === null ? [] : [{ stage, from, to: from + ms }];
  const bars = [
    ...bar('v2v', 0, v2v),
    ...bar('eou', 0, eou),
    ...bar('stt', 0, stt),
    ...bar('llm_ttft', begun, llm),
    ...bar('tts_ttfb', begun + (llm ?? 0), tts),
  ];
  return { bars, length: Math.max(AXIS_MS, ...bars.map(({ to }) => to)) };
}
