/** Reads times in requests. Pure. */
import { isDate } from '../../platform/local-time.ts';

const ISO = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i;

/** Milliseconds since the epoch. Postgres reads the years 1 to 9999 as JavaScript writes them, and no others. */
export const EARLIEST_INSTANT = Date.parse('0001-01-01T00:00:00Z');
const LATEST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Reads a time. Without a zone it is in UTC, as all times here are.
 * @returns undefined for a text that is no date, and for a time that in UTC is in no year from 1 to 9999
 */
export function instantOf(text: string): Date | undefined {
  // An unescaped plus in a query arrives as a blank.
  const whole = text.trim().replace(/ (?=\d\d:?\d\d$)/, (blank, at: number) => (at > 10 ? '+' : blank));
  if (!ISO.test(whole) || !isDate(whole.slice(0, 10))) return undefined;
  const zoned = /(Z|[+-]\d\d:?\d\d)$/i.test(whole.slice(10)) || whole.length === 10 ? whole : `${whole}Z`;
  const date = new Date(zoned.replace(' ', 'T'));
  return date.getTime() >= EARLIEST_INSTANT && date.getTime() <= LATEST_INSTANT ? date : undefined;
}
