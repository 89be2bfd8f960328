import type { LogLine } from './line.ts';

/** How far a source has been read. Logs are asked for by time alone, so the lines of the last millisecond belong to it. */
export interface LogPosition {
  /** Milliseconds since the Unix epoch; the beginning where absent. */
  readonly time: number | undefined;
  /** What has been read of that very millisecond, as it was written. */
  readonly lines: readonly string[];
}

export function isBeyond({ time, lines }: LogPosition, line: LogLine): boolean {
  return time === undefined || line.time > time || (line.time === time && !lines.includes(line.raw));
}

/** The place once the line has been read as well. Processes of one source may write a little out of order. */
export function after(place: LogPosition, { time, raw }: LogLine): LogPosition {
  if (place.time !== undefined && time < place.time) return place;
  return { time, lines: time === place.time ? [...place.lines, raw] : [raw] };
}
