import type { BlockPosition } from '../parsing/block.ts';

/** A piece of a document that is found as one. */
export interface Chunk extends BlockPosition {
  /** From 0, in the order of the document. */
  readonly ordinal: number;
  /** What is shown. Starts and ends between graphemes, never empty. */
  readonly text: string;
  /** What is embedded and ranked: `title > heading path`, then the text. */
  readonly indexedText: string;
  /** In tokens of the encoding that chunk sizes are counted in. */
  readonly tokens: number;
  /** First and last row, for tables and sheets. */
  readonly rows?: { readonly first: number; readonly last: number };
}
