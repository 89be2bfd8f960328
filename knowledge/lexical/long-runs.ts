/** Cuts long runs, because word breakers and tokenisers take time that grows with the square of a text's length where it has no spaces. */

/** Most characters without white space that stay uncut. */
const LONGEST_RUN = 2_000;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Puts a space inside every run of more than 2,000 characters, between two graphemes. */
export function cutLongRuns(text: string): string {
  if (text.length <= LONGEST_RUN) return text;
  // Each run is matched whole: a pattern with a least length would try the same run again from each of its characters.
  return text.replaceAll(/\S+/g, (run) => (run.length > LONGEST_RUN ? piecesOf(run).join(' ') : run));
}

function piecesOf(run: string): readonly string[] {
  const pieces: string[] = [];
  let start = 0;
  while (run.length - start > LONGEST_RUN) {
    // Breaks are looked for in a window alone: asking for one position in the whole run would cost as much as the run is long.
    const window = run.slice(start, start + LONGEST_RUN + 1);
    const last = graphemes.segment(window).containing(LONGEST_RUN)?.index ?? 0;
    const length = last > 0 ? last : wholeCharacters(window);
    pieces.push(run.slice(start, start + length));
    start += length;
  }
  pieces.push(run.slice(start));
  return pieces;
}

/** Returns where a window that is one single grapheme is cut after all: not inside a surrogate pair. */
function wholeCharacters(window: string): number {
  const next = window.charCodeAt(LONGEST_RUN);
  return next >= 0xdc00 && next <= 0xdfff ? LONGEST_RUN - 1 : LONGEST_RUN;
}
