/** Writes JSON without escapes that Postgres refuses: NUL, and half a surrogate pair. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][\da-f]{2})/g, String.raw`$1\ufffd`);
}
