export { type Sentence } from './mapped-text.ts';
export { AnswerNormalizer, TextNormalizer, type TextNormalizerOptions } from './text-normalizer.ts';
