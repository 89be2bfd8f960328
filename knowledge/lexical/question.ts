/** Reads a question: the terms it asks for, and how much each part of it counts. */
import { halvesOf, hasCompounds, longWordsOf, otherForms, partTerm, type Halves } from './compounds.ts';
import { dimensionOf } from './dimension.ts';
import { splitFrame } from './frames.ts';
import { stopDimensions } from './stop-words.ts';
import { numbersIn } from './number-words.ts';
import { termsOf } from './terms.ts';
import { wordsOf } from './words.ts';
import { fold } from './folding.ts';

/** Other terms that a word, or a number in words, may stand for; those that the knowledge base has count. */
export interface Alternatives {
  readonly compound: readonly Halves[];
  readonly forms: readonly string[];
}

export interface Question {
  /** Terms of the question itself, each as often as it occurs. */
  readonly asked: readonly string[];
  /** Terms of the phrases around it: greetings, "I wanted to ask". */
  readonly frame: readonly string[];
  readonly alternatives: readonly Alternatives[];
  /** Dimensions of function words. */
  readonly stops: ReadonlySet<number>;
  /** True if words are also looked for in compounds. */
  readonly inCompounds: boolean;
}

/** @param language BCP 47 tag of the knowledge base, the same as of its passages */
export function readQuestion(text: string, language?: string): Question {
  const stops = stopDimensions(language);
  const saysSomething = (part: string): boolean => termsOf(part, language).some((term) => !stops.has(dimensionOf(term)));
  const parted = splitFrame(text, language);
  // A question of nothing but greetings asks about greetings.
  const { asked, frame } = saysSomething(parted.asked) ? parted : { asked: text, frame: '' };
  const inCompounds = hasCompounds(language);
  return {
    asked: termsOf(asked, language),
    frame: termsOf(frame, language),
    alternatives: alternativesIn(asked, language),
    stops,
    inCompounds,
  };
}

function alternativesIn(text: string, language: string | undefined): readonly Alternatives[] {
  const words = wordsOf(fold(text));
  const long = new Set(longWordsOf(words, language));
  return [...new Set(words)]
    .map((word) => ({ compound: long.has(word) ? halvesOf(word, language ?? '') : [], forms: otherForms(word, language ?? '') }))
    .concat({ compound: [], forms: numbersIn(words, language) })
    .filter(({ compound, forms }) => compound.length > 0 || forms.length > 0);
}

/** Returns every term that the question may find passages by: its weights need their frequencies. */
export function termsInQuestion({ asked, frame, alternatives, inCompounds }: Question): readonly string[] {
  const words = [...asked, ...alternatives.flatMap(({ compound, forms }) => [...compound.flat(), ...forms])];
  return [...words, ...frame, ...(inCompounds ? words.map(partTerm) : [])];
}
