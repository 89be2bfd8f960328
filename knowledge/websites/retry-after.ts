/**
 * How long `Retry-After` asks to wait, in milliseconds, from seconds or a date; undefined where it asks for nothing that
 * can be understood.
 */
export function retryAfterMs(header: string | readonly string[] | undefined, now: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = /^[A-Z][a-z]+,? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
