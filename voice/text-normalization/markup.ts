/** Takes out the markup of lines: headings, quotations, lists, tables and code blocks. A line ends with a pause. */
import { editsOfInlineMarkup } from './inline-markup.ts';
import type { Edit } from './mapped-text.ts';
import { isTableRule } from './sentence-splitter.ts';
import type { Vocabulary } from './vocabulary.ts';

interface Line {
  readonly from: number;
  /** End of its text, without white space. */
  readonly to: number;
  /** End of its line break, where the next line begins. */
  readonly end: number;
}

/** Reads the lines of one answer: a table goes on from sentence to sentence. */
export class MarkupReader {
  readonly #vocabulary: Vocabulary | undefined;
  /** Headers of the table that goes on. */
  #headers: readonly string[] = [];

  constructor(vocabulary: Vocabulary | undefined) {
    this.#vocabulary = vocabulary;
  }

  /** Returns the edits of a sentence. @param text the next sentence, as it was written */
  editsOf(text: string): readonly Edit[] {
    const lines = findLines(text);
    return lines.flatMap((line, index) => {
      const below = lines[index + 1];
      return this.#editsOfLine(text, line, below && text.slice(below.from, below.to));
    });
  }

  #editsOfLine(text: string, { from, to, end }: Line, below: string | undefined): readonly Edit[] {
    const line = text.slice(from, to);
    const whole = (): readonly Edit[] => (end > from ? [{ from, to: end, spoken: '' }] : []);
    const isRow = line.trimStart().startsWith('|') && line.trimStart().length > 1 && !line.trimStart().startsWith('||');
    if (line.trim() === '' || isTableRule(line)) return whole();
    if (isRow && below !== undefined && isTableRule(below)) {
      this.#headers = cellsOf(line, from).map((cell) =>
        text
          .slice(cell.from, cell.to)
          .replaceAll(/[*_`~]/g, '')
          .trim(),
      );
      return whole();
    }
    if (isRow) return [...this.#row(text, line, from), ...this.#lineBreak(text, { from, to, end }, true)];
    // A sentence that ends without a line break may have a part of the table's last line.
    this.#headers = [];
    if (isRuler(line) || isFence(line)) return whole();
    const [marker] = /^\s*(?:(?:#{1,6}|>|[-*+•‣◦▪])\s+(?:\[[ xX]\]\s+)?)*/.exec(`${line} `) ?? [''];
    const prefix = Math.min(marker.length, line.length);
    return [
      ...(prefix > 0 ? [{ from, to: from + prefix, spoken: '' }] : []),
      ...this.#inline(text, from + prefix, to),
      ...this.#lineBreak(text, { from, to, end }),
    ];
  }

  #inline(text: string, from: number, to: number): readonly Edit[] {
    return editsOfInlineMarkup({ text: text.slice(from, to), vocabulary: this.#vocabulary }, from);
  }

  /** Reads a row as "Size: small, Price: 4." */
  #row(text: string, line: string, from: number): readonly Edit[] {
    const edits: Edit[] = [];
    let [at, spoken] = [from, false];
    for (const [index, cell] of cellsOf(line, from).entries()) {
      const header = this.#headers[index] ?? '';
      const isEmpty = cell.from === cell.to;
      const introduced = isEmpty ? '' : `${spoken ? ', ' : ''}${header === '' ? '' : `${header}: `}`;
      if (cell.from > at) edits.push({ from: at, to: cell.from, spoken: introduced });
      edits.push(...this.#inline(text, cell.from, cell.to));
      at = cell.to;
      spoken ||= !isEmpty;
    }
    if (from + line.length > at) edits.push({ from: at, to: from + line.length, spoken: '' });
    return edits;
  }

  /** Puts a full stop, unless the line has a mark of its own at its end. @param isRow true if the end of the text isn't spoken */
  #lineBreak(text: string, { from, to, end }: Line, isRow = false): readonly Edit[] {
    if (end === to) return [];
    const last =
      text
        .slice(from, to)
        .replace(isRow ? /[\s|*_`~]+$/ : /[\s*_`~]+$/, '')
        .at(-1) ?? '.';
    if (!/[\p{L}\p{N}\p{Sc}\p{Pe}%°"'”’]/u.test(last)) return [{ from: to, to: end, spoken: ' ' }];
    const stop = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u.test(last) ? '。' : '.';
    return [{ from: to, to: end, spoken: end < text.length ? `${stop} ` : stop }];
  }
}

function findLines(text: string): readonly Line[] {
  const lines: Line[] = [];
  for (let from = 0; from < text.length;) {
    const found = text.indexOf('\n', from);
    let end = found < 0 ? text.length : found + 1;
    const to = from + text.slice(from, found < 0 ? text.length : found).trimEnd().length;
    // Empty lines are a part of the line break.
    while (found >= 0 && /[\n\r]/.test(text[end] ?? '')) end += 1;
    lines.push({ from, to: found < 0 ? end : to, end });
    from = end;
  }
  return lines;
}

/** Returns the cells, without the white space around them. @param offset of the line */
function cellsOf(line: string, offset: number): readonly { readonly from: number; readonly to: number }[] {
  const cells: { from: number; to: number }[] = [];
  let from = line.indexOf('|') + 1;
  while (from < line.length) {
    const bar = line.indexOf('|', from);
    const cell = line.slice(from, bar < 0 ? undefined : bar);
    const begin = from + cell.length - cell.trimStart().length;
    cells.push({ from: offset + begin, to: offset + begin + cell.trim().length });
    from = bar < 0 ? line.length : bar + 1;
  }
  return cells;
}

/** Matches `---`, `* * *`, and the `===` below a heading. */
const isRuler = (line: string): boolean => /^\s*([-*_=])(?:\s*\1){2,}\s*$/.test(line);

/** Matches the first or last line of a code block. */
const isFence = (line: string): boolean => /^\s*(?:```|~~~)[^`\s]*\s*$/.test(line);
