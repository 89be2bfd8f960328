/** Colours for a terminal, and none for anything else. */
import type { Io } from './io.ts';

export interface Style {
  readonly bold: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly weak: (text: string) => string;
}

const plain: Style = { bold: same, good: same, bad: same, weak: same };
const coloured: Style = { bold: sgr(1, 22), good: sgr(32, 39), bad: sgr(31, 39), weak: sgr(2, 22) };

/** Only on a terminal that can, and where NO_COLOR is not set. */
export function styleOf({ out, env }: Pick<Io, 'out' | 'env'>): Style {
  const wanted = out.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  return wanted ? coloured : plain;
}

function same(text: string): string {
  return text;
}

function sgr(on: number, off: number): (text: string) => string {
  return (text) => `\u001B[${on}m${text}\u001B[${off}m`;
}
