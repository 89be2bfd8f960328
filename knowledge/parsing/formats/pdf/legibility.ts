/** Counts of a page's glyphs. */
export interface GlyphCount {
  /** All glyphs but spaces. */
  readonly glyphs: number;
  /** Glyphs whose font doesn't say which character they are. */
  readonly unmapped: number;
}

/** Largest shares of unmapped glyphs, and of words that mix scripts. */
const MOST_UNMAPPED = 0.2;
const MOST_MIXED = 0.3;
const LEAST_WORDS = 5;
const SCRIPTS = ['Latin', 'Greek', 'Cyrillic', 'Arabic', 'Hebrew', 'Devanagari', 'Bengali', 'Thai', 'Armenian', 'Georgian'].map(
  (script) => new RegExp(`\\p{Script=${script}}`, 'u'),
);
const PLAIN = /^[A-Za-z]+$/;
const UNREADABLE = /[\p{Co}\p{Cn}\ufffd]/gu;

/** Tells whether a person could read the text: enough glyphs have characters, and words keep to one script. */
export function isLegible(text: string, { glyphs, unmapped }: GlyphCount): boolean {
  const unreadable = unmapped + (text.match(UNREADABLE)?.length ?? 0);
  if (glyphs > 0 && unreadable / glyphs > MOST_UNMAPPED) return false;
  const words = text.match(/[\p{L}\p{M}]{3,}/gu) ?? [];
  const mixed = words.filter((word) => !PLAIN.test(word) && SCRIPTS.filter((script) => script.test(word)).length > 1);
  return words.length < LEAST_WORDS || mixed.length / words.length <= MOST_MIXED;
}
