/** Constructs of JavaScript's regular expressions that RE2, which the API server uses, lacks or reads differently. */
const foreign: readonly { readonly construct: RegExp; readonly name: string }[] = [
  { construct: /\(\?=|\(\?!/, name: 'a lookahead' },
  { construct: /\(\?<=|\(\?<!/, name: 'a lookbehind' },
  { construct: /\\k<|\\[1-9]/, name: 'a backreference' },
  { construct: /\\u|\\c[A-Za-z]|\\0/, name: 'a \\u, \\c or \\0 escape' },
  { construct: /\[\^?\]/, name: 'an empty class' },
];

/** RE2 refuses a larger repetition. */
const MAX_REPEAT = 1000;

/** @returns what keeps `pattern` from meaning the same to the API server, if anything does. */
export function checkPattern(pattern: unknown): string | undefined {
  if (typeof pattern !== 'string') return undefined;
  // Behind an escaped backslash the next character is no escape: take those pairs out first.
  const bare = pattern.replaceAll('\\\\', '');
  const found = foreign.find(({ construct }) => construct.test(bare));
  if (found !== undefined) return `pattern ${pattern} holds ${found.name}, which RE2 does not know`;
  for (const match of bare.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) {
    if (Math.max(Number(match[1]), Number(match[2] ?? 0)) > MAX_REPEAT)
      return `pattern ${pattern} repeats more than ${MAX_REPEAT} times, which RE2 refuses`;
  }
  return undefined;
}
