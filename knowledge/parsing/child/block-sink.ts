import { IngestionError } from '../../ingestion-failure.ts';
import type { Block, PagePicture, ParsedBlock, Sink, TableBlock, TextBlock } from '../block.ts';
import type { ParserLimits } from '../limits.ts';
import type { ChildMessage } from '../messages.ts';
import { cleanText, oneLine, tidyLines } from '../text/clean.ts';

/** Bytes after which the collected blocks are sent. */
const BATCH_BYTES = 64_000;
/** Longest cell; longer ones are cut. The formats allow 32,767 characters. */
const CELL_CHARACTERS = 33_000;
/** A longer paragraph comes as several blocks, so that no message is much longer than a batch. */
const BLOCK_CHARACTERS = 32_000;
/** Matches visible characters. Zero-width spaces alone, which editors leave in empty paragraphs, are no text. */
const VISIBLE = /[^\s\p{Cf}]/u;

export class BlockSink implements Sink {
  readonly #limits: ParserLimits;
  readonly #send: (message: ChildMessage) => void;
  readonly #warnings = new Set<string>();
  #batch: ParsedBlock[] = [];
  #batchBytes = 0;
  #textBytes = 0;
  #blocks = 0;

  constructor(options: { readonly limits: ParserLimits; readonly send: (message: ChildMessage) => void }) {
    this.#limits = options.limits;
    this.#send = options.send;
  }

  get warnings(): readonly string[] {
    return [...this.#warnings];
  }

  get isEmpty(): boolean {
    return this.#blocks === 0;
  }

  add(block: Block): void {
    if (block.kind === 'table') this.#addTable(block);
    else this.#addText(block);
  }

  addPicture(picture: PagePicture): void {
    this.#blocks += 1;
    this.#batch.push({ ...picture, headingPath: shortPath(picture.headingPath) });
    this.flush();
  }

  warn(warning: string): void {
    if (this.#warnings.size < 100) this.#warnings.add(oneLine(warning));
  }

  progress(done: number, total: number): void {
    this.#send({ type: 'progress', done, total });
  }

  flush(): void {
    if (this.#batch.length === 0) return;
    this.#send({ type: 'blocks', blocks: this.#batch });
    this.#batch = [];
    this.#batchBytes = 0;
  }

  #addText(block: TextBlock): void {
    const text = cleaned(block);
    for (let at = 0; at < text.length;) {
      const end = cutPoint(text, at, BLOCK_CHARACTERS);
      const piece = text.slice(at, end).trim();
      at = end;
      if (VISIBLE.test(piece)) this.#push({ ...block, headingPath: shortPath(block.headingPath), text: piece }, Buffer.byteLength(piece));
    }
  }

  #addTable(block: TableBlock): void {
    const characters = block.rows.reduce(
      (sum, row) => sum + row.reduce((inRow, cell) => inRow + Math.min(cell.length, CELL_CHARACTERS), 0),
      0,
    );
    if (characters > 2 * this.#limits.textBytes) throw this.#tooMuchText();
    const cells = (row: readonly string[]): readonly string[] => row.map((cell) => oneLine(cell.slice(0, CELL_CHARACTERS)));
    const header = cells(block.header);
    const rows = block.rows.map(cells);
    const bytes = [header, ...rows].reduce((sum, row) => sum + row.reduce((inRow, cell) => inRow + Buffer.byteLength(cell), 0), 0);
    if (bytes > 0) this.#push({ ...block, headingPath: shortPath(block.headingPath), header, rows }, bytes);
  }

  #push(block: Block, bytes: number): void {
    this.#blocks += 1;
    this.#textBytes += bytes;
    if (this.#textBytes > this.#limits.textBytes) throw this.#tooMuchText();
    if (this.#blocks > this.#limits.blocks)
      throw new IngestionError('too_large', `The file has more than ${this.#limits.blocks} paragraphs. Split it into several files.`);
    this.#batch.push(block);
    // The structure around the text travels too.
    this.#batchBytes += bytes + 120;
    if (this.#batchBytes >= BATCH_BYTES) this.flush();
  }

  #tooMuchText(): IngestionError {
    return new IngestionError(
      'too_large',
      `The file holds more than ${this.#limits.textBytes / 1e6} MB of text. Split it into several files.`,
    );
  }
}

function cleaned(block: TextBlock): string {
  if (block.kind === 'code') return cleanText(block.text).replace(/^\n+/u, '').trimEnd();
  return block.kind === 'heading' ? oneLine(block.text) : tidyLines(block.text);
}

/** Shortens the titles that stand on every block of their section: six, of no more than 200 characters each. */
function shortPath(path: readonly string[]): readonly string[] {
  return path
    .map(oneLine)
    .filter((title) => title !== '')
    .slice(-6)
    .map((title) => (title.length > 200 ? title.slice(0, cutPoint(title, 0, 200)).trim() : title));
}

/** Returns the place of a line end or a space if there is one in the last third, else between two graphemes. */
function cutPoint(text: string, from: number, most: number): number {
  const end = from + most;
  if (end >= text.length) return text.length;
  for (const mark of ['\n', ' ']) {
    const at = text.lastIndexOf(mark, end);
    if (at > end - most / 3) return at + 1;
  }
  const near = text.slice(end - 100, end + 100);
  return end - 100 + (new Intl.Segmenter().segment(near).containing(100)?.index ?? 100);
}
