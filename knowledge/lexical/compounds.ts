/**
 * Finds words in compounds: `parken` finds `Parkgebühr`, and `Telefonnummer` finds `Telefon`. A long word may be parted at each hyphenation
 * point; the questions and the frequencies of the knowledge base decide whether the parts are words.
 */
import { createRequire } from 'node:module';

import { primarySubtag, stemFor } from './stemming.ts';

/** Languages that write compounds as one word, by primary subtag of BCP 47, with the name of their hyphenation patterns. */
const HYPHENATION: Readonly<Record<string, string>> = { da: 'da', de: 'de', fi: 'fi', nb: 'nb', nl: 'nl', nn: 'nb', no: 'nb', sv: 'sv' };

// The bundle needs this, too: the patterns of a language are up to 750 KB, which are read when the first text in it comes.
const require = createRequire(import.meta.url);

/** The package's data for a language. */
interface Hyphenation {
  hyphenateSync(text: string, options: { readonly hyphenChar: string; readonly minWordLength: number }): string;
}

/** Fewest characters of a word that may be a compound, of its first part and of its last one: shorter parts are mostly endings. */
const SHORTEST = 7;
const SHORTEST_FIRST = 3;
const SHORTEST_LAST = 4;
/** Most characters of a word that may be a compound: no word is longer. */
const LONGEST = 60;
const REMEMBERED = 20_000;

/** A word taken apart in one place; both parts are terms. */
export type Halves = readonly [first: string, last: string];

/** Names the dimension of a term as part of compounds, so that words alone keep their frequencies. */
export function partTerm(term: string): string {
  return `~${term}`;
}

export function hasCompounds(language: string | undefined): boolean {
  return Object.hasOwn(HYPHENATION, primarySubtag(language));
}

/** Returns the words that may be compounds, each as often as it occurs: none where the language has no compounds. */
export function longWordsOf(words: readonly string[], language: string | undefined): readonly string[] {
  if (!hasCompounds(language)) return [];
  return words.filter((word) => word.length >= SHORTEST && word.length <= LONGEST && /^\p{Script=Latin}+$/u.test(word));
}

/** Returns the two parts of a word for each place where it may be parted. */
export function halvesOf(word: string, language: string): readonly Halves[] {
  return (splitters.get(language) ?? createSplitter(language))(word);
}

const splitters = new Map<string, (word: string) => readonly Halves[]>();

function createSplitter(language: string): (word: string) => readonly Halves[] {
  const primary = primarySubtag(language);
  const hyphenation = require(`hyphen/${HYPHENATION[primary] ?? primary}`) as Hyphenation;
  const stem = stemFor(language);
  const memory = new Map<string, readonly Halves[]>();
  const split = (word: string): readonly Halves[] => {
    const before = memory.get(word);
    if (before !== undefined) return before;
    const halves = pointsOf(hyphenation.hyphenateSync(word, { hyphenChar: '|', minWordLength: SHORTEST }))
      .filter((point) => point >= SHORTEST_FIRST && word.length - point >= SHORTEST_LAST)
      .map((point): Halves => [stem(word.slice(0, point)), stem(word.slice(point))]);
    if (memory.size >= REMEMBERED) memory.clear();
    memory.set(word, halves);
    return halves;
  };
  splitters.set(language, split);
  return split;
}

/** @param hyphenated the word with `|` wherever it may be parted */
function pointsOf(hyphenated: string): readonly number[] {
  const lengths = hyphenated.split('|').map(({ length }) => length);
  let end = 0;
  return lengths.slice(0, -1).map((length) => (end += length));
}

/** Endings of a verb's forms and its noun: `geöffnet` and `öffnen` against `Öffnung`. */
const VERBS: Readonly<Record<string, { readonly form: RegExp; readonly others: readonly string[] }>> = {
  de: { form: /^(?:ge)?(\p{L}{4,}?)(?:e[nt]|t)$/u, others: ['en', 'ung'] },
  nl: { form: /^(?:ge)?(\p{L}{4,}?)(?:en|d|t)$/u, others: ['', 'ing'] },
};

/** Returns terms of a verb's other forms that its stem doesn't find. */
export function otherForms(word: string, language: string): readonly string[] {
  const primary = primarySubtag(language);
  const verbs = Object.hasOwn(VERBS, primary) ? VERBS[primary] : undefined;
  const root = verbs?.form.exec(word)?.[1];
  if (verbs === undefined || root === undefined) return [];
  const stem = stemFor(language);
  const own = stem(word);
  return [...new Set(verbs.others.map((ending) => stem(root + ending)))].filter((term) => term !== own);
}
