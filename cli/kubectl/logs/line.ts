/** A line of a role's log: JSON with `level` and `time`, as every role writes it. */
import { parseJson } from '../../../platform/json.ts';
import type { Style } from '../style.ts';

export const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type Level = (typeof levels)[number];

export type LogFields = Readonly<Record<string, unknown>>;

export interface LogLine {
  /** Name of the pod, or of a part of the local stack. */
  readonly source: string;
  readonly role: string;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly level: Level;
  readonly fields: LogFields;
  /** The line as it was written. */
  readonly raw: string;
}

/** Returns `undefined` for any other line: output of a library, a printed stack. */
export function parseLine(raw: string, origin: { readonly source: string; readonly role: string }): LogLine | undefined {
  if (!raw.startsWith('{')) return undefined;
  const fields = parseJson(raw) as LogFields | undefined;
  if (fields === undefined) return undefined;
  const time = typeof fields['time'] === 'number' ? fields['time'] : Date.parse(String(fields['time']));
  // Libraries write levels as the numbers that stand for them.
  const given = fields['level'];
  const level = typeof given === 'number' ? levels[Math.floor(given / 10) - 1] : levels.find((each) => each === given);
  return Number.isNaN(time) || level === undefined ? undefined : { ...origin, time, level, fields, raw };
}

export function atLeast(level: Level, least: Level): boolean {
  return levels.indexOf(level) >= levels.indexOf(least);
}

/** These fields stand in other places of the line. */
const elsewhere: ReadonlySet<string> = new Set(['time', 'level', 'msg', 'role']);

/** Formats one line for people: time, level, where it comes from, what is said, and the rest as `name=value`. */
export function printLine({ time, level, source, fields }: LogLine, style: Style): string {
  const { msg, err } = fields;
  const mark = level.toUpperCase().padEnd(5);
  const rest = Object.entries(fields)
    .filter(([name, value]) => !elsewhere.has(name) && name !== 'err' && value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${text(value)}`);
  const error = err === undefined ? [] : [`err=${text(errorText(err))}`];
  const coloured = level === 'error' || level === 'fatal' ? style.bad(mark) : level === 'warn' ? style.bold(mark) : mark;
  const details = [...error, ...rest].join(' ');
  return `${new Date(time).toISOString()} ${coloured} ${source}: ${text(msg, true)}${details === '' ? '' : ` ${style.weak(details)}`}\n`;
}

function errorText(err: unknown): unknown {
  return typeof err === 'object' && err !== null && 'message' in err ? err.message : err;
}

/** Formats a value so that it stays one line. */
function text(value: unknown, bare = false): string {
  if (typeof value !== 'string') return value === undefined ? '' : JSON.stringify(value);
  const oneLine = JSON.stringify(value).slice(1, -1);
  if (bare) return oneLine.replaceAll('\\"', '"');
  return /^[^\s"=]+$/.test(value) ? value : `"${oneLine}"`;
}
