/**
 * Places sound in a recording, by the time at which it was heard. Positions count samples of one channel from the recording's beginning.
 */
import { RECORDING_RATE } from './encoder/rate.ts';

/** Largest gap or overlap, in milliseconds, at which sound continues the sound before it: jitter must not chop it. */
const TOLERANCE_MS = 100;

/** Sound of one rate without a gap. */
export interface Run {
  /** Position of its first sample. */
  readonly start: number;
  /** Rate in Hz, as it came. */
  readonly sampleRate: number;
  /** Length in samples of that rate. */
  readonly length: number;
}

export const positionOf = (ms: number): number => (ms * RECORDING_RATE) / 1_000;

/** Returns where a run ends. Not always whole: the rates differ. */
export const endOf = ({ start, sampleRate, length }: Run): number => start + positionOf((length / sampleRate) * 1_000);

export interface NewSound {
  /** Start of the sound, in milliseconds since the recording's beginning. */
  readonly atMs: number;
  readonly sampleRate: number;
  /** Length in samples of its rate. */
  readonly length: number;
}

/**
 * Finds the place of sound.
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
