/** What a model is given for a text: its prefix, and no more than it can take. */
import { countTokens } from '../chunking/tokens.ts';
import type { EmbeddingKind } from './embedder.ts';
import type { LocalProfile, OpenAiProfile } from './profile.ts';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cut behind `maxTokens`: the rest is still found by its words. Counted by our own encoding, so leave the model some room. */
export function inputOf(
  text: string,
  kind: EmbeddingKind,
  profile: Pick<OpenAiProfile | LocalProfile, 'queryPrefix' | 'passagePrefix' | 'maxTokens'>,
): string {
  const prefixed = (kind === 'query' ? profile.queryPrefix : profile.passagePrefix) + text;
  let input = prefixed;
  for (let tokens = countTokens(input); tokens > profile.maxTokens && input.length > 1; tokens = countTokens(input)) {
    const length = Math.max(1, Math.min(input.length - 1, Math.floor((input.length * profile.maxTokens) / tokens)));
    input = input.slice(0, graphemes.segment(input).containing(length)?.index || length);
  }
  return input;
}
