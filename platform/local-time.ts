/** Converts between local times of a time zone and moments. */
import { DAY_MS } from './time.ts';

/**
 * Returns the moment of `2026-11-24T09:00` (or with seconds) in a time zone; an offset or `Z` in the text wins. A time that comes twice,
 * when clocks go back, is the first of the two; one that doesn't come, when they go forward, is read as if they hadn't.
 *
 * @returns milliseconds since the Unix epoch, undefined for an invalid time
 */
export function momentOf(text: string, timeZone: string): number | undefined {
  const [, date, time, offset] =
    /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*(Z|[+-]\d{2}:?\d{2})?$/i.exec(text.trim()) ?? [];
  if (date === undefined || time === undefined) return undefined;
  const asUtc = Date.parse(`${date}T${time}Z`);
  // Without this check `02-30` would roll over into March.
  if (Number.isNaN(asUtc) || !new Date(asUtc).toISOString().startsWith(date)) return undefined;
  if (offset !== undefined) {
    const parsed = Date.parse(`${date}T${time}${offset.toUpperCase()}`);
    return Number.isNaN(parsed) ? undefined : parsed;
  }
  const offsets = [asUtc - DAY_MS, asUtc + DAY_MS].map((around) => offsetAt(around, timeZone));
  const fitting = offsets.map((ms) => asUtc - ms).filter((moment) => moment + offsetAt(moment, timeZone) === asUtc);
  return fitting.length === 0 ? asUtc - (offsets[0] ?? 0) : Math.min(...fitting);
}

/** Returns how far the clocks of a time zone are ahead of UTC, in milliseconds. */
function offsetAt(moment: number, timeZone: string): number {
  return Date.parse(`${wallTime(moment, timeZone)}Z`) - Math.floor(moment / 1000) * 1000;
}

/** Formats a moment as `2026-11-24T09:00:00`. */
export function wallTime(moment: number, timeZone: string): string {
  // The Swedish format of dates is that of ISO 8601.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(moment).replace(' ', 'T');
}

/** Formats a moment as `2026-11-24`. */
export function dateIn(moment: number, timeZone: string): string {
  return wallTime(moment, timeZone).slice(0, 10);
}

/**
 * Intl takes these names, but no other program understands them alike: offsets like +01:00, which know no daylight saving time, the three
 * letters of Java 1.1, which Postgres doesn't know or takes for another zone (IST: Israel's, not India's), those that Postgres takes for a
 * fixed offset (CET), and SystemV/…. Source: aliases of zones in ICU, `pg_timezone_abbrevs`.
 */
const AMBIGUOUS =
  /^([+-]|SystemV\/|([CEMW]ET|ACT|AET|AGT|ART|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|PLT|PNT|PRT|PST|SST|VST)$)/i;

/** Tells whether a text is an IANA name of a time zone, such as `Europe/Berlin`. Postgres knows all of them, by the same rules. */
export function isTimeZone(text: string): boolean {
  if (AMBIGUOUS.test(text)) return false;
  try {
    void new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/** Tells whether a text is a date of the calendar, such as `2026-11-24`. */
export function isDate(text: string): boolean {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
