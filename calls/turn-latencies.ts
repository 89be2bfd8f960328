/** The latencies of an agent's answers, for people. */

/** Latencies as REST has them: milliseconds, null where it was not measured. */
export interface TurnLatencies {
  readonly eou: number | null;
  readonly stt: number | null;
  readonly llm_ttft: number | null;
  readonly tts_ttfb: number | null;
  readonly v2v: number | null;
}

/** Latencies in the order in which they pass. */
export const LATENCY_NAMES = {
  eou: 'end of turn',
  stt: 'speech to text',
  llm_ttft: 'first token',
  tts_ttfb: 'first audio',
  v2v: 'voice to voice',
} as const satisfies Readonly<Record<keyof TurnLatencies, string>>;

/** Returns the median of what was measured; null where nothing was. */
export function medianLatencies(turns: readonly TurnLatencies[]): TurnLatencies {
  const of = (name: keyof TurnLatencies): number | null => median(turns.flatMap(({ [name]: value }) => (value === null ? [] : [value])));
  return { eou: of('eou'), stt: of('stt'), llm_ttft: of('llm_ttft'), tts_ttfb: of('tts_ttfb'), v2v: of('v2v') };
}

/** Writes a latency as `1.2 s` or `480 ms`; a dash stands for what was not measured. */
export function latencyText(ms: number | null): string {
  if (ms === null) return '–';
  return ms >= 1_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms)} ms`;
}

function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) return null;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
