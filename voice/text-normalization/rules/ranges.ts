/** Puts ranges into words: "10-14 days", "2024–2026", and from one amount or time to another. */
import { REPLACED } from '../mapped-text.ts';
import { editsOf } from './numbers.ts';
import type { Language, Rule } from './rule.ts';

/** Matches a range, which goes up; several dashes in a row are the numbers of things. */
const RANGE = new RegExp(
  String.raw`(?<=(?<![\p{L}\d.,/:-])(\d{1,4}|\d{1,2}:\d\d)|(?<![-–])${REPLACED})(?: ?– ?|-)(?=(\d{1,4}|\d{1,2}:\d\d)(?![\p{L}\d/:-]|[.,]\d)|${REPLACED}(?![-–]))`,
  'gu',
);

export function ranges({ vocabulary }: Language): Rule {
  if (vocabulary === undefined) return () => [];
  return (text) =>
    editsOf(text, RANGE, ([, first, last]) => {
      const goesUp = first === undefined || last === undefined || Number(first.replace(':', '')) < Number(last.replace(':', ''));
      return goesUp ? ` ${vocabulary.to} ` : undefined;
    });
}
