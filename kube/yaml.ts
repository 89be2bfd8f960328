/** JSON where the API server insists on YAML: server-side apply. The two differ in four places, and a value that meets one is changed or refused. */

/**
 * Characters that JSON has raw and YAML 1.1 has not: control characters and non-characters are refused there, and the line breaks that only
 * YAML knows (U+0085, U+2028, U+2029) are folded with the blanks around them. Escaped they are the same in both.
 */
// oxlint-disable-next-line no-control-regex -- they are what this is about
const FOREIGN = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;
/** A lone surrogate as JSON escapes it. The API server refuses it in YAML, and reads U+FFFD in JSON. */
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][\da-f]{2}/g;
const TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"(:?)/g;
/** YAML takes a longer key only with a `?` before it. Source: YAML 1.1, 7.3.1: 1024 characters, of which quotes and escapes are some. */
const LONGEST_PLAIN_KEY = 1000;

export function jsonAsYaml(value: unknown): string {
  const json = JSON.stringify(value);
  const sound = json.includes(String.raw`\ud`) ? json.replaceAll(LONE_SURROGATE, String.raw`$1\ufffd`) : json;
  const escaped = sound.replaceAll(FOREIGN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  if (escaped.length <= LONGEST_PLAIN_KEY || !mayHaveLongKey(value)) return escaped;
  return escaped.replaceAll(TEXT, (all, colon: string) => (colon !== '' && all.length > LONGEST_PLAIN_KEY ? `? ${all}` : all));
}

/** Spares almost every value the search through its text. Escaping makes a key at most six times as long, and its quotes add two characters. */
function mayHaveLongKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(mayHaveLongKey);
  return Object.entries(value).some(([key, item]) => key.length > LONGEST_PLAIN_KEY / 6 - 1 || mayHaveLongKey(item));
}
