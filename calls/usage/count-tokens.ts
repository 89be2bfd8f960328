/** Counts tokens with OpenAI's tokenizer. It is loaded when it is first needed, if not before: that takes a second, and 67 MB. */

/** Longer texts go by their length: to count them would hold up all else. */
const MOST_COUNTED = 200_000;
const BYTES_PER_TOKEN = 4;

export async function countTokens(texts: readonly string[]): Promise<readonly number[]> {
  const { countTokens: count } = await import('../../knowledge/chunking/tokens.ts');
  return texts.map((text) => (text.length <= MOST_COUNTED ? count(text) : Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)));
}

/** Loads the tokenizer beforehand, so that it holds up no call. What fails is tried again when it is needed. */
export async function loadTokenizer(): Promise<void> {
  await countTokens([]).catch(() => undefined);
}
