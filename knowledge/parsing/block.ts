/** Blocks: parsing turns every kind of file into a sequence of them, which the chunker packs. */
import type { ParsedExtension } from './extension.ts';
import type { ParserLimits } from './limits.ts';
import type { UnreadPage } from './unread-pages.ts';

/** Takes the blocks of parsers: cleans them, counts them, and sends them on in batches. */
export interface Sink {
  /** Blocks whose text is empty once cleaned are dropped. */
  add(block: Block): void;
  addPicture(picture: PagePicture): void;
  /** Adds a warning for a person; at most a hundred are kept. */
  warn(warning: string): void;
  progress(done: number, total: number): void;
}

export interface ParserTask {
  readonly extension: ParsedExtension;
  /** Content type of a web page's response; names its charset. */
  readonly contentType?: string | undefined;
  /** Address of a web page, kept as the place of its blocks. */
  readonly url?: string | undefined;
  /** Number of pages without readable text that are wanted as pictures; none where absent. */
  readonly pictures?: number | undefined;
  readonly limits: ParserLimits;
}

export interface ParserInput extends ParserTask {
  readonly content: Buffer;
}

/** The facts that a parser has once all blocks are in the sink. */
interface ParserResult {
  readonly title?: string;
  readonly pages?: number;
}

/**
 * Reads one kind of file. Each parser is a module of its own that is loaded when it is needed.
 * @throws IngestionError with the reason; any other error means that the file is damaged
 */
export type Parser = (input: ParserInput, sink: Sink) => Promise<ParserResult> | ParserResult;

/** The position of a block, as far as its file type has positions. */
export interface BlockPosition {
  /** Number of the page from 1, in files with pages. */
  readonly page?: number;
  readonly sheet?: string;
  readonly url?: string;
  /** True if the block stands beside the text of a web page, often on each page of a site. */
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
  /** Names of the columns; empty where the table has none. */
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Number of the first of `rows` as a person counts them (in a sheet: the spreadsheet's own number). */
  readonly firstRow: number;
}

export type Block = TextBlock | TableBlock;

/** A page whose text may be recognised from its picture. It replaces the page's text for callers that ask for pictures. */
export interface PagePicture extends BlockPosition {
  readonly kind: 'picture';
  readonly page: number;
  readonly reason: UnreadPage['reason'];
  /** A PNG in Base64, in shades of grey. */
  readonly png: string;
  readonly total: number;
}

export type ParsedBlock = Block | PagePicture;

/** The facts of a whole document, after its blocks. */
export interface ParsedDocument {
  readonly title?: string;
  /** Number of pages, in files that have them. */
  readonly pages?: number;
  /** Parts that were left out or look wrong, for a person: `page 3 has no text`. */
  readonly warnings: readonly string[];
}
