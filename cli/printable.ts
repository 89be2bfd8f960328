/** Decides what may reach a terminal: others write most of what is printed (agents, callers, servers), and terminals obey it. */

/** Matches C0 and C1 but for newline and tab, line separators of Unicode, and what turns the direction of text around (Trojan Source). */
// oxlint-disable-next-line no-control-regex -- they are what this is about
const UNSAFE = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g;

/** Matches what this program itself writes to a terminal: the start of a line again, and the colours of kubectl/style.ts. */
// oxlint-disable-next-line no-control-regex -- they are what this is about
const OURS = /(\r\u001B\[2K|\u001B\[(?:1|2|22|31|32|39)m)/;

/** Escapes every unsafe character as `\u001b`, the escape of JSON and of YAML's double quotes, so that these keep their value. */
export function printable(text: string): string {
  return text.replaceAll(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Does the same for a terminal that this program draws on: its own sequences stay. */
export function drawable(text: string): string {
  return text
    .split(OURS)
    .map((part, index) => (index % 2 === 1 ? part : printable(part)))
    .join('');
}

type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;

/** Makes every text safe that is written to these streams from now on; bytes are written as they are. */
export function writePrintable(...streams: readonly Stream[]): void {
  for (const stream of streams) {
    const write = stream.write.bind(stream) as (chunk: unknown, ...rest: readonly unknown[]) => boolean;
    const safe = (chunk: unknown, ...rest: readonly unknown[]): boolean =>
      write(typeof chunk === 'string' ? (stream.isTTY ? drawable(chunk) : printable(chunk)) : chunk, ...rest);
    stream.write = safe;
  }
}
