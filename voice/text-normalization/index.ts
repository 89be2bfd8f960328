export { type Sentence } from './mapped-text.ts';
export { wholeWords } from './rules/replacements.ts';
export { AnswerNormalizer, TextNormalizer } from './text-normalizer.ts';
