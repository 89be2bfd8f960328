/** Makes the same text in every run, of no language but with the statistics of one: a few words are everywhere, most nearly nowhere. */
import { mulberry } from '../../../platform/mulberry.ts';

const syllables = [
  'ba',
  'cor',
  'den',
  'fi',
  'gol',
  'hum',
  'in',
  'jar',
  'kel',
  'lo',
  'mar',
  'nes',
  'or',
  'pi',
  'qua',
  'ris',
  'sol',
  'tu',
  'ven',
  'wick',
];
const usualVocabulary = 40_000;

export interface Texts {
  /** Returns so many words, in sentences. */
  passage(words: number): string;
  /** Returns a question of 3 to 9 words, some of them as common as in a question of a person. */
  question(): string;
  /** Returns a number from 0 to 1. */
  random(): number;
}

/** @param vocabulary number of distinct words; a large collection has more of them */
export function createTexts(seed: number, vocabulary = usualVocabulary): Texts {
  const random = mulberry(seed);
  const word = (): string => nameOf(zipf(random(), vocabulary));
  const sentence = (): string => {
    const words = Array.from({ length: 6 + Math.floor(random() * 14) }, word).join(' ');
    return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
  };
  return {
    random,
    passage(words) {
      const sentences: string[] = [];
      for (let count = 0; count < words;) {
        const next = sentence();
        sentences.push(next);
        count += next.split(' ').length;
      }
      return sentences.join(' ');
    },
    question: () => Array.from({ length: 3 + Math.floor(random() * 7) }, word).join(' '),
  };
}

/** Returns a rank from 1, each about as often as its share in a text of a person: Zipf's law with an exponent of 1. */
export function zipf(share: number, vocabulary: number): number {
  return Math.floor(Math.exp(share * Math.log(vocabulary)));
}

/** Makes common words short. */
export function nameOf(rank: number): string {
  let name = '';
  for (let rest = rank; rest > 0; rest = Math.floor(rest / syllables.length)) name += syllables[rest % syllables.length] ?? '';
  return name;
}
