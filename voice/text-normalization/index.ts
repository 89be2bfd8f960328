export { type Sentence } from './mapped-text.ts';
export { AnswerNormalizer, TextNormalizer } from './text-normalizer.ts';
