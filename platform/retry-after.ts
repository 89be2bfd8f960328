const IMF_OR_RFC850_DATE = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -](?:\d{2}|\d{4}) \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME_DATE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Reads a `Retry-After` header (RFC 9110, 10.2.3): seconds, also with a fraction as providers of models send them, or a date.
 *
 * @param header the header as it came; of several the first counts
 * @param now milliseconds since the Unix epoch
 * @returns milliseconds from now, 0 or more and unbounded; undefined for anything else
 */
export function retryAfterMs(header: string | readonly string[] | null | undefined, now: number): number | undefined {
  const text = (typeof header === 'string' ? header : header?.[0])?.trim();
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const at = IMF_OR_RFC850_DATE.test(text) ? Date.parse(text) : ASCTIME_DATE.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
