/** Counts tokens of o200k_base, the unit of chunk sizes. It needs about as few for Bangla or Thai as for English. */
import { countTokens as count } from 'gpt-tokenizer/encoding/o200k_base';

import { cutLongRuns } from '../lexical/long-runs.ts';

/** Reads text that looks like one of the encoding's control tokens as text. */
const asText = { disallowedSpecial: new Set<string>() };

/** Counts runs of more than 2,000 characters without white space in parts, which is a token or so too many for each. */
export function countTokens(text: string): number {
  return count(cutLongRuns(text).replaceAll(/\s{1000,}/g, ' '), asText);
}

/**
 * Returns the count, or infinity where the text has more than 20 characters for each of so many tokens: more than any writing has, and the
 * longer a text, the less it is worth counting.
 */
export function countUpTo(text: string, tokens: number): number {
  return text.length > tokens * 20 + 200 ? Number.POSITIVE_INFINITY : countTokens(text);
}
