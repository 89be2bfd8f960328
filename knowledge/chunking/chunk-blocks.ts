/** Packs the blocks of a document into chunks: sections stay apart, paragraphs and rows whole wherever they fit. */
import type { Block, BlockPosition, TableBlock, TextBlock } from '../parsing/block.ts';
import type { Chunk } from './chunk.ts';
import { trim } from './graphemes.ts';
import { splitText } from './split-text.ts';
import { sheetChunks, type TablePart, tableParts } from './table-chunks.ts';
import { countTokens, countUpTo } from './tokens.ts';
import { present } from '../../platform/present.ts';

export interface ChunkOptions {
  /** Most tokens in a chunk's text (400). */
  readonly maxTokens?: number;
  /** Tokens at the end of a piece that the next one repeats where a paragraph is cut (50); at most half a chunk. */
  readonly overlapTokens?: number;
  readonly title?: string | undefined;
  /** BCP 47 tag; decides where sentences end. */
  readonly language?: string | undefined;
}

/**
 * Yields chunks in the order of the document. Holds one chunk and one block at a time.
 *
 * A chunk never has text of two sections: its heading path is that of all its text, headings without any text of their own aside. It is
 * longer than `maxTokens` only where a single grapheme is.
 */
export async function* chunkBlocks(blocks: Iterable<Block> | AsyncIterable<Block>, options: ChunkOptions = {}): AsyncGenerator<Chunk> {
  const packer = new Packer(options);
  for await (const block of blocks) yield* packer.add(block);
  yield* packer.end();
}

/** A list item whose text begins with its number, letter, box or bullet needs no other. */
const OWN_MARK =
  /^(?:[•▪▫●○◦‣∙·■□–—*☐☑☒-]\s|[§①-⑳]|（?[０-９]|（\d|\(?(?:[\d.]{1,12}|[\p{L}]|[ivxlcIVXLC]{1,7})[.)]\s|\d{1,3}(?:\.\d{1,3})+\s)/u;

interface Item {
  readonly text: string;
  readonly tokens: number;
  readonly place: BlockPosition;
  readonly kind: Block['kind'];
  readonly rows?: Chunk['rows'];
}

class Packer {
  readonly #maxTokens: number;
  readonly #overlapTokens: number;
  readonly #title: string;
  readonly #language: string | undefined;
  #ordinal = 0;
  /** The chunk that is being filled: headings first, then the text under the last of them. */
  #items: Item[] = [];
  #tokens = 0;
  /** The sheet that the last block belonged to: only its first chunk names all columns. */
  #sheet = '';

  constructor({ maxTokens = 400, overlapTokens = 50, title = '', language }: ChunkOptions) {
    this.#maxTokens = maxTokens;
    this.#overlapTokens = Math.min(overlapTokens, Math.floor(maxTokens / 2));
    this.#title = title;
    this.#language = language;
  }

  *add(block: Block): Generator<Chunk> {
    if (block.kind === 'heading') yield* this.#addHeading(block);
    else if (block.kind !== 'table') yield* this.#addText(block);
    else if (block.sheet === undefined) yield* this.#addTable(block);
    else yield* this.#addSheet(block, block.sheet);
  }

  *end(): Generator<Chunk> {
    yield* this.#flush();
  }

  *#addHeading(block: TextBlock): Generator<Chunk> {
    if (this.#hasContent()) yield* this.#flush();
    yield* this.#addPieces(block, trim(block.text));
  }

  *#addText(block: TextBlock): Generator<Chunk> {
    const text = block.kind === 'code' ? block.text.replace(/^\s*\n/, '').trimEnd() : trim(block.text);
    if (text === '') return;
    yield* this.#enter(block);
    yield* this.#addPieces(block, block.kind === 'listItem' && !OWN_MARK.test(text) ? `- ${text}` : text);
  }

  /** Adds a text of any length: whole where it fits, else in pieces, the first of which stays with its headings. */
  *#addPieces(block: TextBlock, text: string): Generator<Chunk> {
    const tokens = countUpTo(text, this.#maxTokens);
    if (tokens <= this.#maxTokens) {
      yield* this.#addWhole({ text, tokens, place: block, kind: block.kind });
      return;
    }
    if (this.#hasContent() || this.#tokens > this.#maxTokens / 2) yield* this.#flush();
    const pieces = splitText(text, {
      maxTokens: this.#maxTokens - this.#tokens,
      overlapTokens: block.kind === 'code' ? 0 : this.#overlapTokens,
      language: this.#language,
      code: block.kind === 'code',
    });
    for (const piece of pieces) {
      if (this.#hasContent() || (block.kind === 'heading' && this.#items.length > 0)) yield* this.#flush();
      this.#push({ ...piece, place: block, kind: block.kind });
    }
  }

  *#addWhole(item: Item): Generator<Chunk> {
    if (this.#items.length > 0 && this.#tokens + item.tokens > this.#maxTokens) yield* this.#flush();
    this.#push(item);
  }

  *#addTable(block: TableBlock): Generator<Chunk> {
    yield* this.#enter(block);
    const whole = tableParts(block, this.#maxTokens - this.#tokens, this.#splitting());
    const parts = fewerThanTwo(whole);
    if (parts !== undefined) {
      for (const part of parts) yield* this.#addWhole(this.#toItem(part, block));
      return;
    }
    if (this.#hasContent() || this.#tokens > this.#maxTokens / 2) yield* this.#flush();
    for (const part of tableParts(block, this.#maxTokens - this.#tokens, this.#splitting())) {
      if (this.#hasContent()) yield* this.#flush();
      this.#push(this.#toItem(part, block));
    }
  }

  *#addSheet(block: TableBlock, sheet: string): Generator<Chunk> {
    yield* this.#enter(block);
    const key = JSON.stringify([sheet, block.header]);
    const follows = this.#sheet === key;
    this.#sheet = key;
    for (const part of sheetChunks(block, sheet, { ...this.#splitting(), maxTokens: this.#maxTokens, namesColumns: !follows })) {
      yield* this.#flush();
      this.#push(this.#toItem(part, block));
    }
  }

  /** Makes room for a block at this place: only headings that lead to it may stay. */
  *#enter(place: BlockPosition): Generator<Chunk> {
    if (this.#hasContent()) {
      if (!isSameSection(this.#items.at(-1)?.place, place)) yield* this.#flush();
      return;
    }
    const leading = this.#items.findIndex((item) => leadsTo(item.place, place));
    if (leading === 0) return;
    const kept = leading < 0 ? [] : this.#items.splice(leading);
    this.#tokens -= kept.reduce((sum, { tokens }) => sum + tokens, 0);
    yield* this.#flush();
    for (const item of kept) this.#push(item);
  }

  #hasContent(): boolean {
    return this.#items.some(({ kind }) => kind !== 'heading');
  }

  #push(item: Item): void {
    // The line break between items takes one token.
    const tokens = item.tokens + 1;
    this.#items.push({ ...item, tokens });
    this.#tokens += tokens;
  }

  #splitting(): { readonly overlapTokens: number; readonly language: string | undefined } {
    return { overlapTokens: this.#overlapTokens, language: this.#language };
  }

  #toItem({ text, tokens, rows }: TablePart, place: BlockPosition): Item {
    return { text, tokens, place, kind: 'table', ...(rows && { rows }) };
  }

  *#flush(): Generator<Chunk> {
    const items = this.#items;
    this.#items = [];
    this.#tokens = 0;
    const [first] = items;
    if (first === undefined) return;
    const text = items.reduce((joined, item, index) => joined + separatorBetween(items[index - 1], item) + item.text, '');
    const tokens = countTokens(text);
    if (tokens > this.#maxTokens && items.length > 1) {
      // The line breaks between items took more than one token each.
      for (const half of [items.slice(0, -1), items.slice(-1)]) {
        this.#items = half;
        yield* this.#flush();
      }
      return;
    }
    yield this.#toChunk(items, text, tokens);
  }

  #toChunk(items: readonly Item[], text: string, tokens: number): Chunk {
    const { sheet, url } = items[0]?.place ?? {};
    const page = items.find(({ place }) => place.page !== undefined)?.place.page;
    const headings = items.filter(({ kind }) => kind === 'heading');
    const content = items.find(({ kind }) => kind !== 'heading');
    const headingPath = content?.place.headingPath ?? commonPath(headings.map(({ place }) => place.headingPath));
    // A heading with which the text begins counts once.
    const shown = new Set(headings.map((item) => item.text));
    const above = headingPath.filter((heading) => !shown.has(heading));
    const tables = items.flatMap(({ rows }) => rows ?? []);
    const [rows] = tables;
    return {
      ordinal: this.#ordinal++,
      text,
      indexedText: indexedText([this.#title, ...above], text),
      tokens,
      headingPath,
      ...present({ page, sheet, url, rows: tables.length === 1 ? rows : undefined }),
    };
  }
}

/** Returns the parts if there is at most one, without making more than two. */
function fewerThanTwo(parts: Iterable<TablePart>): readonly TablePart[] | undefined {
  const found: TablePart[] = [];
  for (const part of parts) {
    found.push(part);
    if (found.length > 1) return undefined;
  }
  return found;
}

function separatorBetween(before: Item | undefined, item: Item): string {
  if (before === undefined) return '';
  return (before.kind === 'listItem' && item.kind === 'listItem') || before.kind === 'heading' ? '\n' : '\n\n';
}

function isSameSection(left: BlockPosition | undefined, right: BlockPosition): boolean {
  return left?.sheet === right.sheet && left?.url === right.url && isSamePath(left?.headingPath ?? [], right.headingPath);
}

function isSamePath(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((heading, index) => heading === right[index]);
}

/** Tells whether a heading is that of the section, or of one around it. */
function leadsTo(heading: BlockPosition, place: BlockPosition): boolean {
  const { length } = heading.headingPath;
  return heading.sheet === place.sheet && heading.url === place.url && isSamePath(heading.headingPath, place.headingPath.slice(0, length));
}

function commonPath(paths: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...others] = paths;
  const end = first.findIndex((heading, index) => others.some((other) => other[index] !== heading));
  return end < 0 ? first : first.slice(0, end);
}

/** Titles are cut behind `LONGEST_PART` UTF-16 units, and all of them together behind `LONGEST_CONTEXT`: they must not drown the text. */
const LONGEST_PART = 120;
const LONGEST_CONTEXT = 300;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Writes `title > heading > heading`, a line break, and the text. */
function indexedText(context: readonly string[], text: string): string {
  const parts = context.map((part) => cut(part.replaceAll(/\s+/g, ' ').trim(), LONGEST_PART)).filter((part) => part !== '');
  // The innermost sections say most about the chunk.
  while (parts.length > 1 && parts.join(' > ').length > LONGEST_CONTEXT) parts.splice(1, 1);
  return parts.length === 0 ? text : `${parts.join(' > ')}\n${text}`;
}

function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, graphemes.segment(text).containing(length)?.index ?? length);
}
