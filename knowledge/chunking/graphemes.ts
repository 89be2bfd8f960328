/** Cuts text between graphemes, the characters that a reader sees (Bangla conjuncts, joined emoji, letters with marks). */

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Characters that attach to the one before them, even to a space. */
const ATTACHED = String.raw`[\p{M}\p{Emoji_Modifier}\u200c\u200d\uff9e\uff9f]`;
const leading = new RegExp(String.raw`^\s+(?!${ATTACHED})`, 'u');
const IS_BLANK = /^\s*$/;

/** No writing has graphemes as long as this; longer ones are cut between code points, so that no chunk grows without bound. */
export const LONGEST_GRAPHEME = 1_000;

/** Removes the white space around a text, as far as no mark is attached to it. */
export function trim(text: string): string {
  return trimStart(text).trimEnd();
}

export function trimStart(text: string): string {
  return text.replace(leading, '');
}

/** Yields the graphemes in order; together they are the text. */
export function* graphemesOf(text: string): Generator<string> {
  for (const { segment } of graphemes.segment(text)) {
    if (segment.length <= LONGEST_GRAPHEME) yield segment;
    else yield* inParts(segment);
  }
}

function* inParts(segment: string): Generator<string> {
  let part = '';
  for (const [codePoint] of segment.matchAll(/./gsu)) {
    if (part.length + codePoint.length > LONGEST_GRAPHEME) {
      yield part;
      part = '';
    }
    part += codePoint;
  }
  yield part;
}

/**
 * Cuts the text into parts of at most `size` UTF-16 units (a grapheme more where it has to be). Each part ends behind the white space
 * nearest to its end or, where there is none in its second half, between two graphemes.
 */
export function* slabsOf(text: string, size: number): Generator<string> {
  let start = 0;
  while (text.length - start > size) {
    const window = text.slice(start, start + size + LONGEST_GRAPHEME);
    const end = endOfSlab(window, size);
    yield window.slice(0, end);
    start += end;
  }
  yield text.slice(start);
}

function endOfSlab(window: string, size: number): number {
  const segments = graphemes.segment(window);
  for (let index = size; index > size / 2; index -= 1) {
    if (IS_BLANK.test(window.charAt(index - 1)) && segments.containing(index)?.index === index) return index;
  }
  const last = segments.containing(size);
  if (last === undefined || last.index === 0 || last.segment.length > LONGEST_GRAPHEME) return wholeCodePoints(window, size);
  return last.index;
}

function wholeCodePoints(window: string, size: number): number {
  const next = window.charCodeAt(size);
  return next >= 0xdc00 && next <= 0xdfff ? size - 1 : size;
}
