/** Takes emoji out of a text: every voice makes a guess of its own at them. */
import type { Edit } from './mapped-text.ts';

/**
 * Matches one emoji by itself, with the signs that modify or join it; a flag; a digit on a key. Marks such as © and ™, and arrows, are
 * text.
 */
const EMOJI =
  /(?:\p{Emoji_Presentation}|(?![\u00A9\u00AE\u203C\u2049\u2122\u2139\u2190-\u21FF])\p{Extended_Pictographic}|\p{Regional_Indicator}|\p{Emoji_Modifier}|\u{FE0F}|\u{200D}|\u{20E3}|[\u{E0020}-\u{E007F}])+/gu;

/** Removes emoji, with a space beside them where two would be left. */
export function editsOfEmoji(text: string): readonly Edit[] {
  return [...text.matchAll(EMOJI)].flatMap(({ 0: emoji, index }) => {
    const to = index + emoji.length;
    // Scripts such as Persian join letters with U+200D.
    if (emoji === '\u200D') return [];
    const isSpare = /\s/u.test(text[index - 1] ?? '') && !/[\p{L}\p{N}$€£(]/u.test(text[to] ?? '');
    return [{ from: isSpare ? index - 1 : index, to, spoken: '' }];
  });
}
