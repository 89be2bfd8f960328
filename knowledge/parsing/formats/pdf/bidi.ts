/** The text at one place of a line that has scripts of both directions. */
interface Placed {
  readonly text: string;
  readonly left: number;
  readonly right: number;
}

const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;

/** Runs of words and numbers in visual order that are read from left to right: numbers alone, or words with all between them. */
const LEFT_TO_RIGHT_RUN = /(?:N[Np]*)?L(?:[LNpso]*[LN])?|N(?:[Np]*N)?/gu;
const RIGHT_TO_LEFT_RUN = /R(?:[RNpso]*R)?/gu;

export function isRightToLeft(text: string): boolean {
  // This runs for each letter: those before Hebrew need no look at their script.
  return !(text.length === 1 && text < '\u0590') && RIGHT_TO_LEFT.test(text);
}

/** Tells whether most letters are of a script that is read from the right. */
export function isMostlyRightToLeft(text: string): boolean {
  const letters = text.match(/\p{L}/gu) ?? [];
  return 2 * letters.filter(isRightToLeft).length > letters.length;
}

/** Returns the text of one line in the order in which it is read; a gap wider than `wordGap` is a space. */
export function bidirectionalText(glyphs: readonly Placed[], wordGap: number): string {
  const units = withSpaces(withMarks(glyphs), wordGap);
  const classes = units.map(classOf).join('');
  const isReversed = isMostlyRightToLeft(units.join(''));
  const logical = isReversed
    ? fromRight(units, classes)
    : runs(classes, RIGHT_TO_LEFT_RUN).flatMap(({ from, to, isRun }) =>
        isRun ? fromRight(units.slice(from, to), classes.slice(from, to)) : units.slice(from, to),
      );
  return logical.join('');
}

function fromRight(units: readonly string[], classes: string): readonly string[] {
  return runs(classes, LEFT_TO_RIGHT_RUN)
    .map(({ from, to, isRun }) => (isRun ? units.slice(from, to) : units.slice(from, to).toReversed()))
    .toReversed()
    .flat();
}

interface Run {
  readonly from: number;
  readonly to: number;
  readonly isRun: boolean;
}

/** Returns the matches, and the stretches between them. */
function runs(classes: string, pattern: RegExp): readonly Run[] {
  const found: Run[] = [];
  let at = 0;
  for (const match of classes.matchAll(pattern)) {
    if (match.index > at) found.push({ from: at, to: match.index, isRun: false });
    at = match.index + match[0].length;
    found.push({ from: match.index, to: at, isRun: true });
  }
  if (at < classes.length) found.push({ from: at, to: classes.length, isRun: false });
  return found;
}

/** Returns one letter for each unit: right to left, left to right, number, sign inside numbers, space, other. */
function classOf(text: string): string {
  if (isRightToLeft(text) && /[\p{L}\p{M}]/u.test(text)) return 'R';
  if (/\p{L}/u.test(text)) return 'L';
  if (/[\p{N}%٪$€£₪₹¥°]/u.test(text)) return 'N';
  if (/^[.,:/'’\-–٫٬]$/u.test(text)) return 'p';
  return text === ' ' ? 's' : 'o';
}

/** Sorts glyphs from the left; a mark without width goes with the letter that it stands at. */
function withMarks(glyphs: readonly Placed[]): readonly Placed[] {
  const centre = ({ left, right }: Placed): number => (left + right) / 2;
  const result: Placed[] = [];
  let waiting: Placed[] = [];
  for (const glyph of [...glyphs].sort((one, other) => centre(one) - centre(other))) {
    const last = result.at(-1);
    if (!/^\p{M}+$/u.test(glyph.text)) {
      result.push({ ...glyph, text: glyph.text + waiting.map(({ text }) => text).join('') });
      waiting = [];
    } else if (last !== undefined && centre(glyph) <= last.right) result[result.length - 1] = { ...last, text: last.text + glyph.text };
    else waiting.push(glyph);
  }
  const last = result.pop() ?? { text: '', left: 0, right: 0 };
  return [...result, { ...last, text: last.text + waiting.map(({ text }) => text).join('') }];
}

function withSpaces(glyphs: readonly Placed[], wordGap: number): readonly string[] {
  const units: string[] = [];
  let end = glyphs[0]?.left ?? 0;
  for (const { text, left, right } of glyphs) {
    if ((text === ' ' || left - end > wordGap) && units.at(-1) !== ' ') units.push(' ');
    if (text !== ' ') units.push(text);
    end = Math.max(end, right);
  }
  return units;
}
