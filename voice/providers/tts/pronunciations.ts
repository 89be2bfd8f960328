/** Finds the words of a sentence that have a pronunciation of their own. */
import { wholeWords } from '../../text-normalization/index.ts';

export interface Pronunciation {
  /** Words as they stand in what is spoken. */
  readonly spoken: string;
  /** The International Phonetic Alphabet. */
  readonly ipa: string;
}

/** A part of a sentence; with `ipa` where it has a pronunciation. */
export interface SpokenPart {
  readonly text: string;
  readonly ipa?: string;
}

/** Cuts a sentence at its words that have a pronunciation. The parts, joined, are the sentence. The longest words win. */
export function partsOf(sentence: string, pronunciations: readonly Pronunciation[] = []): readonly SpokenPart[] {
  if (pronunciations.length === 0) return [{ text: sentence }];
  const ipa = new Map(pronunciations.map((each) => [each.spoken, each.ipa]));
  const pattern = [...ipa.keys()].toSorted((a, b) => b.length - a.length).map(wholeWords);
  return sentence.split(new RegExp(`(${pattern.join('|')})`, 'u')).flatMap((text): readonly SpokenPart[] => {
    const own = ipa.get(text);
    return text === '' ? [] : [{ text, ...(own !== undefined && { ipa: own }) }];
  });
}
