/** What parsing makes of every kind of file: a sequence of blocks, which the chunker packs. */
import type { ParserTask } from './messages.ts';
import type { UnreadPage } from './unread-pages.ts';

/** Where parsers put what they find: cleans it, counts it, and sends it on in batches. */
export interface Sink {
  /** Blocks whose text is empty once cleaned are dropped. */
  add(block: Block): void;
  addPicture(picture: PagePicture): void;
  /** For a person, at most a hundred. */
  warn(warning: string): void;
  progress(done: number, total: number): void;
}

export interface ParserInput extends ParserTask {
  readonly content: Buffer;
}

/** What a parser knows when it has put all blocks into the sink. */
interface ParserResult {
  readonly title?: string;
  readonly pages?: number;
}

/**
 * One for each kind of file, each a module of its own that is loaded when it is needed.
 * @throws IngestionError with the reason; whatever else it throws means that the file is damaged
 */
export type Parser = (input: ParserInput, sink: Sink) => Promise<ParserResult> | ParserResult;

/** The position of a block, as far as its file type has positions. */
export interface BlockPosition {
  /** From 1, for files with pages. */
  readonly page?: number;
  /** Name of the sheet, for spreadsheets. */
  readonly sheet?: string;
  /** Address of the page, for websites. */
  readonly url?: string;
  /** It stands beside the text of a web page, often on each page of a site. */
  readonly isAside?: boolean;
  /** Titles of the enclosing sections, outermost first; a heading's own block has itself last. */
  readonly headingPath: readonly string[];
}

/** Running text. Never empty, NFC, without control characters but `\n` and `\t`. */
export interface TextBlock extends BlockPosition {
  readonly kind: 'heading' | 'paragraph' | 'listItem' | 'code' | 'quote';
  readonly text: string;
}

/** Some rows of a table, together with the table's header. */
export interface TableBlock extends BlockPosition {
  readonly kind: 'table';
  /** Empty where the table has none. */
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Number of the first of `rows` as a person counts them (in a sheet: as the spreadsheet shows it). */
  readonly firstRow: number;
}

export type Block = TextBlock | TableBlock;

/** A page whose text may be recognised from its picture; only for those who ask for pictures, in the place of the page's text. */
export interface PagePicture extends BlockPosition {
  readonly kind: 'picture';
  readonly page: number;
  readonly reason: UnreadPage['reason'];
  /** A PNG in Base64, in shades of grey. */
  readonly png: string;
  /** How many pictures the document has. */
  readonly total: number;
}

export type ParsedBlock = Block | PagePicture;

/** The facts of a whole document, after its blocks. */
export interface ParsedDocument {
  readonly title?: string;
  /** For files with pages. */
  readonly pages?: number;
  /** What was left out or looks wrong, for a person: `page 3 has no text`. */
  readonly warnings: readonly string[];
}
