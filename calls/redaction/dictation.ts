/** Finds numbers that are dictated over several messages, a group in each: "4242", "go on", "4242". Pure. */
import { digitGroupsIn, tokensIn } from './digit-runs.ts';
import type { Finding } from './kinds.ts';

/** Most words beside the digits of a message that only goes on with a number: "it's", "and then". */
const MOST_WORDS = 4;

/** Tells whether a message may be a part of a number that goes on in the next one. */
export function isDictation(text: string, language: string): boolean {
  const groups = digitGroupsIn(text, language);
  if (groups.reduce((sum, { digits }) => sum + digits.length, 0) < 2) return false;
  const inDigits = (start: number): boolean => groups.some((group) => start >= group.start && start < group.end);
  return tokensIn(text).filter(({ word, start }) => word !== undefined && !inDigits(start)).length <= MOST_WORDS;
}

export interface DictationFindings {
  /** Findings of each message, in the messages' order. */
  readonly findings: readonly (readonly Finding[])[];
  /** True if a number ends with the last digits, so that it is complete. */
  readonly complete: boolean;
}

/** Finds what all messages together are. @param find finds in one text */
export function findInDictation(texts: readonly string[], language: string, find: (text: string) => readonly Finding[]): DictationFindings {
  let joined = '';
  const placed = texts.flatMap((text, message) =>
    digitGroupsIn(text, language).map(({ digits, start, end }) => {
      const at = joined.length;
      joined += `${digits} `;
      return { message, start, end, at };
    }),
  );
  const found = find(joined.trimEnd());
  const findings = texts.map((_, message) =>
    found.flatMap(({ start, end, kind, label }): readonly Finding[] => {
      const covered = placed.filter((group) => group.message === message && group.at >= start && group.at < end);
      return covered.length === 0 ? [] : [{ start: covered[0]!.start, end: covered.at(-1)!.end, kind, label }];
    }),
  );
  const last = placed.at(-1);
  const isIn = (place: number | undefined, among: readonly Finding[]): boolean =>
    place !== undefined && among.some(({ start, end }) => place >= start && place < end);
  // What the last message says of the number, such as its plus, may make it one by itself.
  return { findings, complete: isIn(last?.at, found) || isIn(last?.start, find(texts.at(-1) ?? '')) };
}
