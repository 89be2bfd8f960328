/** `Retry-After`, by which an endpoint asks not to be called again too soon. Source: RFC 9110, 10.2.3. */

/** Longest wait that an endpoint can ask for, in milliseconds. */
const longestMs = 3_600_000;

/** The answers on which it is heeded: too many requests, and unavailable. */
const heededStatuses: ReadonlySet<number> = new Set([429, 503]);

const date = {
  /** `Sun, 06 Nov 1994 08:49:37 GMT`, and the older `Sunday, 06-Nov-94 08:49:37 GMT`. */
  gmt: /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -](?:\d{2}|\d{4}) \d{2}:\d{2}:\d{2} GMT$/,
  /** `Sun Nov  6 08:49:37 1994`, which is GMT, too. */
  asctime: /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
};

/**
 * @param header seconds or a date, as it came
 * @param now milliseconds since the Unix epoch
 * @returns milliseconds from now, 0 to an hour; undefined where the status has no such thing, or the header can't be read
 */
export function retryAfterMs(status: number, header: string | readonly string[] | undefined, now: number): number | undefined {
  if (!heededStatuses.has(status)) return undefined;
  const text = (typeof header === 'string' ? header : header?.[0])?.trim();
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : dateOf(text) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), longestMs);
}

function dateOf(text: string): number {
  if (date.gmt.test(text)) return Date.parse(text);
  return date.asctime.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
}
