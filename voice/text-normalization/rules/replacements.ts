/** Replaces names and terms that an agent's voice would say wrong, as the agent says. */
import { editsOf } from './numbers.ts';
import type { Rule } from './rule.ts';

interface Replacement {
  /** A word or a phrase; without capitals in it, it stands for the same with capitals, too. */
  readonly written: string;
  readonly spoken: string;
}

const WORD = String.raw`[\p{L}\p{N}]`;
/** Scripts that write words without spaces between them have no whole words. */
const SPACED_WORD = String.raw`(?![\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}])${WORD}`;
const BEGINS_WITH_WORD = new RegExp(`^${SPACED_WORD}`, 'u');
const ENDS_WITH_WORD = new RegExp(`${SPACED_WORD}$`, 'u');

/** Returns the rules. The longest text wins where several begin at the same place. */
export function replacing(replacements: readonly Replacement[]): readonly Rule[] {
  const isExact = ({ written }: Replacement): boolean => written !== written.toLowerCase();
  return [
    ruleOf(replacements.filter(isExact), 'gu'),
    ruleOf(
      replacements.filter((each) => !isExact(each)),
      'giu',
    ),
  ].flat();
}

function ruleOf(replacements: readonly Replacement[], flags: string): readonly Rule[] {
  const spoken = new Map(replacements.map((each) => [each.written, each.spoken]));
  const longestFirst = [...spoken.keys()].filter((written) => written.trim() !== '').toSorted((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return [];
  const pattern = new RegExp(longestFirst.map(wholeWords).join('|'), flags);
  return [(text) => editsOf(text, pattern, ([found]) => spoken.get(found) ?? spoken.get(found.toLowerCase()))];
}

/** Returns a pattern of a text as whole words. */
export function wholeWords(written: string): string {
  const [before, after] = [BEGINS_WITH_WORD.test(written) ? `(?<!${WORD})` : '', ENDS_WITH_WORD.test(written) ? `(?!${WORD})` : ''];
  return `${before}${written.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)}${after}`;
}
