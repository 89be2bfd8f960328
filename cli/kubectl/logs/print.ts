import type { Style } from '../style.ts';
import type { LogLine } from './line.ts';

/** Said in other places of the line. */
const elsewhere: ReadonlySet<string> = new Set(['time', 'level', 'msg', 'role']);

/** One line for people: time, level, where it comes from, what is said, and the rest as `name=value`. */
export function printLine({ time, level, source, fields }: LogLine, style: Style): string {
  const { msg, err } = fields;
  const mark = level.toUpperCase().padEnd(5);
  const rest = Object.entries(fields)
    .filter(([name, value]) => !elsewhere.has(name) && name !== 'err' && value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${text(value)}`);
  const error = err === undefined ? [] : [`err=${text(messageOf(err))}`];
  const coloured = level === 'error' || level === 'fatal' ? style.bad(mark) : level === 'warn' ? style.bold(mark) : mark;
  const details = [...error, ...rest].join(' ');
  return `${new Date(time).toISOString()} ${coloured} ${source}: ${text(msg, true)}${details === '' ? '' : ` ${style.weak(details)}`}\n`;
}

function messageOf(err: unknown): unknown {
  return typeof err === 'object' && err !== null && 'message' in err ? err.message : err;
}

/** Written so that it stays one line. */
function text(value: unknown, bare = false): string {
  if (typeof value !== 'string') return value === undefined ? '' : JSON.stringify(value);
  const oneLine = JSON.stringify(value).slice(1, -1);
  if (bare) return oneLine.replaceAll('\\"', '"');
  return /^[^\s"=]+$/.test(value) ? value : `"${oneLine}"`;
}
