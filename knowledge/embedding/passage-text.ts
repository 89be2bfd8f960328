/** Prepares a text for a model: adds its prefix, and cuts it to the model's limit. */
import type { EmbeddingKind, LocalProfile, OpenAiProfile } from './embedder.ts';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cuts texts behind `maxTokens`: searches still find the rest by its words. Our own encoding counts, so leave the model some room. */
export async function inputsOf(
  texts: readonly string[],
  kind: EmbeddingKind,
  profile: Pick<OpenAiProfile | LocalProfile, 'queryPrefix' | 'passagePrefix' | 'maxTokens'>,
): Promise<readonly string[]> {
  const prefix = kind === 'query' ? profile.queryPrefix : profile.passagePrefix;
  const inputs = texts.map((text) => prefix + text);
  // No token has less than a byte. The encoding takes tens of megabytes: a process that only embeds questions never loads it.
  if (inputs.every((input) => Buffer.byteLength(input) <= profile.maxTokens)) return inputs;
  const { countTokens } = await import('../chunking/tokens.ts');
  return inputs.map((input) => cut(input, profile.maxTokens, countTokens));
}

function cut(text: string, maxTokens: number, countTokens: (text: string) => number): string {
  let input = text;
  for (let tokens = countTokens(input); tokens > maxTokens && input.length > 1; tokens = countTokens(input)) {
    const length = Math.max(1, Math.min(input.length - 1, Math.floor((input.length * maxTokens) / tokens)));
    input = input.slice(0, graphemes.segment(input).containing(length)?.index || length);
  }
  return input;
}
