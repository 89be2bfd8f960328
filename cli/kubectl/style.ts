/** Colours texts for a terminal, and for nothing else. */
import { styleText } from 'node:util';

import type { Io } from './io.ts';

export interface Style {
  readonly bold: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly weak: (text: string) => string;
}

const plain: Style = { bold: same, good: same, bad: same, weak: same };
const coloured: Style = { bold: styled('bold'), good: styled('green'), bad: styled('red'), weak: styled('dim') };

/** Returns colours only for a terminal that has them, and where NO_COLOR is not set. */
export function styleOf({ out, env }: Pick<Io, 'out' | 'env'>): Style {
  const wanted = out.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  return wanted ? coloured : plain;
}

function same(text: string): string {
  return text;
}

/** The function above decides about colours, by what the command was given. */
function styled(format: 'bold' | 'green' | 'red' | 'dim'): (text: string) => string {
  return (text) => styleText(format, text, { validateStream: false });
}
