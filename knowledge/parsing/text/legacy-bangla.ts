/**
 * Bijoy and its fonts (SutonnyMJ and others) write Bangla with Latin codes: the file has `evsjv` where the reader sees বাংলা. Only the same
 * codes find such text, so the document gets a warning.
 */
export const LEGACY_FONT_WARNING =
  'legacy_font_encoding: some text seems to be Bangla in an old font encoding (Bijoy, SutonnyMJ) and cannot be found by Bangla words; convert it to Unicode';

/** Names of fonts that carry this encoding; the MJ family alone has hundreds, all ending so. */
export const LEGACY_FONT_NAME = /\b(?:Sutonny|Bijoy|[A-Z][A-Za-z]+MJ\b)/u;

/** Signs that stand before Latin letters in Bijoy only (the vowels written to the left), and conjunct signs behind them. */
const MARKS = /[†‡‰ˆ][A-Za-z]|[A-Za-z][¨©ªÖ×Ø¤¦§][A-Za-z\s]|\b[A-Za-z&]{1,3}v[A-Za-z&]{0,3}v\b/gu;

export function looksLikeLegacyBangla(text: string): boolean {
  const sample = text.slice(0, 200_000);
  const left = sample.match(/[†‡‰ˆ][A-Za-z]/gu)?.length ?? 0;
  const hits = sample.match(MARKS)?.length ?? 0;
  const words = sample.match(/\S+/gu)?.length ?? 0;
  return left >= 2 && hits >= 4 && hits / words > 0.05;
}
