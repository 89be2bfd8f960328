/** A line of a role's log: JSON with `level` and `time`, as every role writes it. */

export const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type Level = (typeof levels)[number];

export type LogFields = Readonly<Record<string, unknown>>;

export interface LogLine {
  /** Pod, or part of the local stack. */
  readonly source: string;
  readonly role: string;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly level: Level;
  readonly fields: LogFields;
  /** As it was written. */
  readonly raw: string;
}

/** `undefined` for any other line: output of a library, a printed stack. */
export function parseLine(raw: string, origin: { readonly source: string; readonly role: string }): LogLine | undefined {
  if (!raw.startsWith('{')) return undefined;
  let fields: LogFields;
  try {
    fields = JSON.parse(raw) as LogFields;
  } catch {
    return undefined;
  }
  const time = typeof fields['time'] === 'number' ? fields['time'] : Date.parse(String(fields['time']));
  // Libraries write the numbers that stand for them.
  const given = fields['level'];
  const level = typeof given === 'number' ? levels[Math.floor(given / 10) - 1] : levels.find((each) => each === given);
  return Number.isNaN(time) || level === undefined ? undefined : { ...origin, time, level, fields, raw };
}

export function atLeast(level: Level, least: Level): boolean {
  return levels.indexOf(level) >= levels.indexOf(least);
}
