const WORD = /\p{L}+(?:-\p{L}+)*/gu;
const HYPHEN_AT_END = /[-\u00ad\u2010]$/u;
const DIVIDED = /(\p{Ll}+)[-\u00ad\u2010]$/u;
/** `Vracht- en opslagkosten`: the hyphen stands for the end of the next word. */
const CONJUNCTION = /^(?:and|or|to|und|oder|bis|bzw|sowie|en|of|och|eller|og|ja|tai|et|ou|y|o|e)\b/u;
/** Second halves of English words that are written with a hyphen far more often than as one word. */
const HYPHENATED_END =
  /^(?:in|out|up|off|on|down|over|term|time|free|based|feeding|friendly|proof|ready|made|known|paid|level|scale|size|style|wide|like|related|specific|effective|resistant|sided|year|day|week|hour|minute|way|stop|class|end|to|of|the|by)\b/u;

const LONGEST_WORD = 100;

/** Collects the words inside a document's lines, in lower case: they show the spelling of a word that is divided between two lines. */
export function collectWords(lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => (HYPHEN_AT_END.test(line) ? line.replace(DIVIDED, '') : line).toLowerCase().match(WORD) ?? []));
}

/** Joins two lines: a divided word becomes whole, one that is written with a hyphen keeps it. */
export function joinLines(text: string, line: string, words: ReadonlySet<string>): string {
  // A paragraph grows with each line: only its end is looked at.
  const first = HYPHEN_AT_END.test(text.slice(-1)) ? DIVIDED.exec(text.slice(-LONGEST_WORD))?.[1] : undefined;
  const second = /^\p{Ll}+/u.exec(line)?.[0];
  if (first === undefined || second === undefined) {
    const isUnspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]$/u.test(text);
    return text + (text === '' || isUnspaced ? '' : ' ') + line;
  }
  const whole = text.slice(0, -1) + line;
  if (text.endsWith('\u00ad')) return whole;
  if (CONJUNCTION.test(line)) return `${text} ${line}`;
  if (words.has(`${first}-${second}`)) return text + line;
  if (words.has(first + second)) return whole;
  return HYPHENATED_END.test(line) ? text + line : whole;
}
