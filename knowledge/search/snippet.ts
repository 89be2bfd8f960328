/** Finds the part of a hit that answers the question: whole sentences, or rows of a table, around the question's terms. Pure. */
import { graphemesOf, trim } from '../chunking/graphemes.ts';
import { sentencesOf, wordSegmentsOf } from '../chunking/segments.ts';
import { CELL_SEPARATOR } from '../chunking/table-text.ts';
import { dimensionOf } from '../lexical/dimension.ts';
import { allTerms, textTerms } from '../lexical/passage.ts';
import type { SparseVector } from '../lexical/vectors.ts';

export interface SnippetOptions {
  readonly text: string;
  /** The question as the weight of each of its terms. */
  readonly query: SparseVector;
  /** BCP 47 tag of the knowledge base. */
  readonly language: string;
  /** True for a sheet: each line is a row, and the first one names the sheet. */
  readonly isSheet: boolean;
  /** Longest snippet in {@link weighedLength characters}. */
  readonly maxLength: number;
}

/** A part of the text that is not cut. */
interface Unit {
  readonly text: string;
  readonly length: number;
  /** The header of its table, which is repeated before it. */
  readonly header: string;
  /** True if it is part of a sentence that is longer than a snippet. */
  readonly isPart: boolean;
}

/** Share of a term's weight that another occurrence adds to the first one's: sentences about it stay together. */
const REPETITION = 0.5;
/** Share of the greatest weight of a term: those below don't show where the answer is. */
const LEAST_SHARE = 0.35;
const ELLIPSIS = '…';
/** Characters of which one says about as much as three letters. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const MAY_BE_DENSE = /[\u1100-\u11ff\u3040-\u9fff\uac00-\ud7af\uf900-\ufaff\ud840-\ud8ff]/;

/** Counts characters (UTF-16 units); those of Chinese, Japanese and Korean count threefold. */
function weighedLength(text: string): number {
  return MAY_BE_DENSE.test(text) ? text.length + 2 * (text.match(DENSE)?.length ?? 0) : text.length;
}

/** @returns the text itself where it is short enough; otherwise part of it, with an ellipsis where a sentence had to be cut */
export function snippetOf(options: SnippetOptions): string {
  const text = trim(options.text);
  if (weighedLength(text) <= options.maxLength) return text;
  const units = unitsOf(text, options);
  const window = bestWindow(units, options);
  return joinUnits(units, window);
}

interface Window {
  readonly from: number;
  /** Index of the first unit behind the window. */
  readonly to: number;
}

/**
 * Returns the stretch that scores best among the longest that fit; among equals the one that has the found terms in its middle: the answer
 * often stands next to them.
 */
function bestWindow(units: readonly Unit[], { query, language, maxLength }: SnippetOptions): Window {
  const weights = weightsOf(query);
  const found = units.map(({ text }) =>
    [...new Set(allTerms(textTerms(text, language)).map(dimensionOf))].filter((dimension) => weights.has(dimension)),
  );
  let best: Window & { readonly score: number; readonly offset: number } = { from: 0, to: 1, score: -1, offset: 0 };
  for (let from = 0, to = 0, length = 0; from < units.length; from += 1) {
    for (; to < units.length; to += 1) {
      const longer = length + (units[to]?.length ?? 0);
      if (to > from && longer + (units[from]?.header.length ?? 0) > maxLength) break;
      length = longer;
    }
    const score = scoreOf(found, { from, to }, weights);
    const offset = offsetOf(found, { from, to });
    if (score > best.score || (score === best.score && offset < best.offset)) best = { from, to, score, offset };
    if (to === units.length) break;
    length -= units[from]?.length ?? 0;
  }
  return best;
}

/** Returns the weights of meaningful terms: function words are in every sentence. */
function weightsOf({ indices, values }: SparseVector): ReadonlyMap<number, number> {
  const least = LEAST_SHARE * Math.max(0, ...values);
  return new Map(indices.map((dimension, position) => [dimension, values[position] ?? 0] as const).filter(([, weight]) => weight >= least));
}

/** Counts each term once in full, and a little for each further sentence that has it. */
function scoreOf(found: readonly (readonly number[])[], { from, to }: Window, weights: ReadonlyMap<number, number>): number {
  const counts = new Map<number, number>();
  for (const dimension of found.slice(from, to).flat()) counts.set(dimension, (counts.get(dimension) ?? 0) + 1);
  let score = 0;
  for (const [dimension, count] of counts) score += (weights.get(dimension) ?? 0) * (1 + REPETITION * Math.log(count));
  return score;
}

/**
 * Returns how far the found terms are from the middle of a window, in units. Where nothing was found the beginning is as good as anything.
 */
function offsetOf(found: readonly (readonly number[])[], { from, to }: Window): number {
  const within = found.slice(from, to);
  const first = within.findIndex((terms) => terms.length > 0);
  if (first < 0) return from;
  const last = within.findLastIndex((terms) => terms.length > 0);
  return Math.abs(first - (within.length - 1 - last));
}

function joinUnits(units: readonly Unit[], { from, to }: Window): string {
  const shown = units.slice(from, to);
  const body = trim(shown.map(({ text }) => text).join(''));
  const isCut = (inside: number, outside: number): boolean => units[inside]?.isPart === true && units[outside]?.isPart === true;
  return `${shown[0]?.header ?? ''}${isCut(from, from - 1) ? ELLIPSIS : ''}${body}${isCut(to - 1, to) ? ELLIPSIS : ''}`;
}

function unitsOf(text: string, { language, isSheet, maxLength }: SnippetOptions): readonly Unit[] {
  const units: Unit[] = [];
  let header: string | undefined;
  for (const line of text.split(/(?<=\n)/)) {
    const isRow = isSheet || line.includes(CELL_SEPARATOR);
    if (!isRow) header = undefined;
    const room = maxLength - (header?.length ?? 0);
    for (const piece of isRow ? [line] : sentencesOf(line, language))
      for (const part of splitSentence(piece, room))
        units.push({ text: part.text, isPart: part.isPart, length: weighedLength(part.text), header: header ?? '' });
    // A header that takes too much of the room is shown only in its own place.
    if (isRow) header ??= weighedLength(line) <= maxLength / 3 ? line : '';
  }
  return units;
}

/** Returns a sentence, or its words in runs where it is longer than a snippet. */
function splitSentence(sentence: string, room: number): readonly Pick<Unit, 'text' | 'isPart'>[] {
  if (weighedLength(trim(sentence)) <= room) return [{ text: sentence, isPart: false }];
  const longest = Math.max(1, Math.floor(room / 5));
  const parts: string[] = [];
  let run = '';
  let length = 0;
  for (const word of wordSegmentsOf(sentence)) {
    for (const segment of weighedLength(word) <= longest ? [word] : graphemesOf(word)) {
      const more = weighedLength(segment);
      if (run !== '' && length + more > longest) {
        parts.push(run);
        [run, length] = ['', 0];
      }
      run += segment;
      length += more;
    }
  }
  return [...parts, run].map((text) => ({ text, isPart: true }));
}
