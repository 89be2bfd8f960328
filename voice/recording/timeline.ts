/** Where sound stands in a recording, by the time at which it was heard. Positions count samples of one channel from the recording's beginning. */
import { RECORDING_RATE } from './encoder/rate.ts';

/** Sound that begins so much earlier or later than the sound before it ends, in milliseconds, is its continuation: jitter must not chop it. */
const TOLERANCE_MS = 100;

/** Sound of one rate without a gap. */
export interface Run {
  /** Of its first sample. */
  readonly start: number;
  /** In Hz, as it came. */
  readonly sampleRate: number;
  /** In samples of that rate. */
  readonly length: number;
}

export const positionOf = (ms: number): number => (ms * RECORDING_RATE) / 1_000;

/** Not always whole: the rates differ. */
export const endOf = ({ start, sampleRate, length }: Run): number => start + positionOf((length / sampleRate) * 1_000);

export interface NewSound {
  /** When it began, in milliseconds since the recording's beginning. */
  readonly atMs: number;
  readonly sampleRate: number;
  /** In samples of its rate. */
  readonly length: number;
}

/**
 * @param channel.end where its sound ends, or where nothing is written yet
 * @param channel.open whether new sound may continue the last one
 * @returns where the sound begins, and how many of its samples come too late for that
 */
export function place(
  { atMs, sampleRate, length }: NewSound,
  { end, open }: { readonly end: number; readonly open: boolean },
): { readonly start: number; readonly lost: number } {
  const wanted = positionOf(atMs);
  if (open && Math.abs(wanted - end) <= positionOf(TOLERANCE_MS)) return { start: end, lost: 0 };
  const start = Math.max(wanted, end);
  return { start, lost: Math.min(length, Math.round(((start - wanted) * sampleRate) / RECORDING_RATE)) };
}
