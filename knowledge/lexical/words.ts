/** Finds the words of a text by Unicode's rules for word boundaries (UAX 29). */

/**
 * The locale only matters for two rules of Finnish and Swedish: with a fixed one a question and a passage are cut alike.
 * Chinese, Japanese, Thai, Lao, Khmer and Burmese are cut by ICU's dictionaries whatever the locale.
 */
const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** Latin letters in lower case, their punctuation and signs of currencies: text that the pattern cuts as ICU does. */
const LATIN = /^[\0-@[-\x7f\xa0-\xac\xae-\xb7\xb9-\u024f\u2010-\u2018\u201a-\u2023\u2025\u2026\u2030-\u2038\u20a0-\u20bf\u2122]*$/;
const LETTERS = 'a-z\\xaa\\xb5\\xba\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\u024f';
const LATIN_WORDS = new RegExp(
  // It starts only at the beginning of a line of underscores, because one of n would take n² steps otherwise.
  `(?<!_)_*[${LETTERS}0-9][${LETTERS}0-9_]*` +
    `(?:(?:(?<=[${LETTERS}])[.':\\xb7\\u2018](?=[${LETTERS}])|(?<=[0-9])[.,;'\\u2018](?=[0-9]))[${LETTERS}0-9_]+)*`,
  'g',
);

/** @param text a text in lower case */
export function wordsOf(text: string): readonly string[] {
  // The pattern is ten times as fast: passages are read when they are indexed, and again for each snippet.
  return LATIN.test(text) ? (text.match(LATIN_WORDS) ?? []) : segmentedWordsOf(text);
}

export function segmentedWordsOf(text: string): readonly string[] {
  return [...segmenter.segment(text)].filter(({ isWordLike }) => isWordLike === true).map(({ segment }) => segment);
}
