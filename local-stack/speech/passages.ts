/** Finds a short answer in the passages that a knowledge base has found. */
import { sharedWith, tellingWords } from './words.ts';

/** More sentences would be a lecture. */
const MOST_SENTENCES = 2;
const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

interface Sentence {
  readonly text: string;
  readonly score: number;
}

/** Returns the sentences with the most words of the question, counting headings above them. @returns undefined where none has any */
export function answerFrom(passages: readonly string[], question: string): string | undefined {
  const asked = tellingWords(question);
  const shared = (text: string): number => sharedWith(asked, text);
  const found = passages.flatMap((passage): readonly Sentence[] => {
    let heading = 0;
    return passage.split('\n').flatMap((line) => {
      const text = line.replace(/^[\s#>*-]+/, '').trim();
      if (isHeading(line)) heading = shared(text);
      if (text === '' || isHeading(line)) return [];
      return [...sentences.segment(text)].map(({ segment }) => ({ text: segment.trim(), score: shared(segment) + heading }));
    });
  });
  const best = Math.max(0, ...found.map(({ score }) => score));
  if (best === 0) return undefined;
  const answers = found.filter(({ score }) => score === best).map(({ text }) => text);
  return [...new Set(answers)].slice(0, MOST_SENTENCES).join(' ');
}

/** A heading is one of Markdown, or a short line that is no sentence. */
const isHeading = (line: string): boolean => /^\s*#/.test(line) || (line.trim().length < 40 && !/[.!?:|,\d]/.test(line));
