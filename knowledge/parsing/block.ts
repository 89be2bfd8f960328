/** What parsing makes of every kind of file: a sequence of blocks, which the chunker packs. */

/** Where a block stands, as far as its kind of file knows places. */
export interface Place {
  /** From 1, for files with pages. */
  readonly page?: number;
  /** Name of the sheet, for spreadsheets. */
  readonly sheet?: string;
  /** Address of the page, for websites. */
  readonly url?: string;
  /** Titles of the enclosing sections, outermost first; a heading's own block has itself last. */
  readonly headingPath: readonly string[];
}

/** Running text. Never empty, NFC, without control characters but `\n` and `\t`. */
export interface TextBlock extends Place {
  readonly kind: 'heading' | 'paragraph' | 'listItem' | 'code' | 'quote';
  readonly text: string;
}

/** Some rows of a table, together with the table's header. */
export interface TableBlock extends Place {
  readonly kind: 'table';
  /** Empty where the table has none. */
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Number of the first of `rows` as a person counts them (in a sheet: as the spreadsheet shows it). */
  readonly firstRow: number;
}

export type Block = TextBlock | TableBlock;

/** What is known of the whole once its blocks are read. */
export interface ParsedDocument {
  readonly title?: string;
  /** For files with pages. */
  readonly pages?: number;
  /** What was left out or looks wrong, for a person: `page 3 has no text`. */
  readonly warnings: readonly string[];
}
