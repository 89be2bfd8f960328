/** A part of a long text, cut where no element goes on. */
export interface MarkdownPiece {
  readonly text: string;
  /** Number of the first row of the table that the piece begins with: more than 1 when the table has begun before. */
  readonly firstRow: number;
}

/** Characters below which texts are read whole. The parser's time and memory grow faster than the text, most of all in tables. */
const WHOLE_BELOW = 200_000;
const PIECE_CHARACTERS = 50_000;
const ROWS_PER_PIECE = 500;

const FENCE = /^ {0,3}(`{3,}|~{3,})/u;
const DELIMITER_ROW = /^ {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/u;

/** Most brackets inside one another, in one paragraph. People write two. */
const DEEPEST_BRACKETS = 32;
/** Most marks of emphasis and brackets in one line, and marks of lists at its beginning. People write a few. */
const MOST_MARKS = 1000;
const DEEPEST_BEGINNING = 64;

/**
 * Links within links within links take the parser time that grows with the square of their number: half a minute for 10 KB. So do emphasis, and lists
 * within lists. Paragraphs with more of them than any text has are separated, and taken as they stand.
 */
export function deepBracketsApart(text: string): readonly { readonly text: string; readonly isDeep: boolean }[] {
  const parts: { text: string; isDeep: boolean }[] = [];
  for (const paragraph of text.split(/(?<=\n[^\S\n]*\n)/u)) {
    const isDeep = depthOf(paragraph) > DEEPEST_BRACKETS || paragraph.split('\n').some(isAllMarks);
    const last = parts.at(-1);
    if (last !== undefined && !last.isDeep && !isDeep) last.text += paragraph;
    else parts.push({ text: paragraph, isDeep });
  }
  return parts;
}

function isAllMarks(line: string): boolean {
  if (line.length < DEEPEST_BEGINNING) return false;
  const beginning = /^[\s>*+-]*/u.exec(line)?.[0].replaceAll(/[\s>]/gu, '') ?? '';
  // A line of one mark alone is a rule.
  if (beginning.length > DEEPEST_BEGINNING && /\S/u.test(line.replaceAll(beginning.charAt(0), ''))) return true;
  let marks = 0;
  for (const character of line) if ('*_~[]'.includes(character)) marks += 1;
  return marks > MOST_MARKS;
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '\\') at += 1;
    else if (character === '[') deepest = Math.max(deepest, (depth += 1));
    else if (character === ']') depth = Math.max(0, depth - 1);
  }
  return deepest;
}

/**
 * Cuts at empty lines outside of code, and long tables between rows, each part with the table's header again. Definitions of links work
 * only inside their piece then; the links' texts are kept in any case.
 */
export function* markdownPieces(text: string): Generator<MarkdownPiece> {
  if (text.length <= WHOLE_BELOW) {
    yield { text, firstRow: 1 };
    return;
  }
  const lines = text.split('\n');
  let open: string[] = [];
  let characters = 0;
  let firstRow = 1;
  let code: string | undefined;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const mark = FENCE.exec(line)?.[1];
    if (code === undefined) code = mark;
    else if (mark !== undefined && mark.startsWith(code)) code = undefined;
    if (code === undefined && line.includes('|') && isDelimiterRow(lines[at + 1] ?? '')) {
      const end = tableEnd(lines, at + 2);
      if (end - at > ROWS_PER_PIECE) {
        yield { text: open.join('\n'), firstRow };
        for (let row = at + 2; row < end; row += ROWS_PER_PIECE)
          yield {
            text: [line, lines[at + 1], ...lines.slice(row, Math.min(end, row + ROWS_PER_PIECE))].join('\n'),
            firstRow: row - at - 1,
          };
        open = [];
        characters = 0;
        firstRow = 1;
        at = end - 1;
        continue;
      }
    }
    open.push(line);
    characters += line.length + 1;
    const isGap = code === undefined && line.trim() === '' && !/^(?: {2,}|\t|>)/u.test(lines[at + 1] ?? '');
    if (characters >= PIECE_CHARACTERS && isGap) {
      yield { text: open.join('\n'), firstRow };
      open = [];
      characters = 0;
    }
  }
  yield { text: open.join('\n'), firstRow };
}

/** Rejects long lines: no person wrote such a row, and they take the expression an age. */
function isDelimiterRow(line: string): boolean {
  return line.length <= 2000 && DELIMITER_ROW.test(line);
}

function tableEnd(lines: readonly string[], from: number): number {
  let end = from;
  while (end < lines.length && lines[end]?.trim() !== '' && lines[end]?.includes('|') === true) end += 1;
  return end;
}
