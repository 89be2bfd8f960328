/** Ranks by BM25 as in the textbook, with nothing of ours: words in an inverted index, scores in double precision, exact lengths. */

const k1 = 1.2;
const b = 0.75;

export type Tokenize = (text: string) => readonly string[];

/** Takes letters, with their marks, and digits in lower case, in any script. */
export const wordsAsWritten: Tokenize = (text) => text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];

/** @returns ids, best first, ties by the order of the passages */
export function textbookBm25(
  passages: readonly { readonly id: string; readonly text: string }[],
  tokenize: Tokenize,
): (query: string, depth: number) => readonly string[] {
  const postings = new Map<string, Map<number, number>>();
  const lengths = passages.map(({ text }, position) => {
    const words = tokenize(text);
    for (const word of words) {
      const found = postings.get(word) ?? new Map<number, number>();
      found.set(position, (found.get(position) ?? 0) + 1);
      postings.set(word, found);
    }
    return words.length;
  });
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  return (query, depth) => {
    const scores = new Map<number, number>();
    for (const word of tokenize(query)) {
      const found = postings.get(word) ?? new Map<number, number>();
      const idf = Math.log(1 + (passages.length - found.size + 0.5) / (found.size + 0.5));
      for (const [position, occurrences] of found) {
        const length = (lengths[position] ?? 0) / average;
        const weight = (occurrences * (k1 + 1)) / (occurrences + k1 * (1 - b + b * length));
        scores.set(position, (scores.get(position) ?? 0) + idf * weight);
      }
    }
    return [...scores]
      .toSorted(([left, leftScore], [right, rightScore]) => rightScore - leftScore || left - right)
      .slice(0, depth)
      .map(([position]) => passages[position]?.id ?? '');
  };
}
