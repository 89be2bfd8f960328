import type { BlockPosition } from '../parsing/block.ts';

/** A piece of a document: the unit that a search finds. */
export interface Chunk extends BlockPosition {
  /** The chunk's number in the order of the document, from 0. */
  readonly ordinal: number;
  /** The text of a hit. Starts and ends between graphemes, never empty. */
  readonly text: string;
  /** The text that is embedded and ranked: `title > heading path`, then the chunk's text. */
  readonly indexedText: string;
  /** Number of tokens in the encoding that chunk sizes are counted in. */
  readonly tokens: number;
  /** First and last row, in tables and sheets. */
  readonly rows?: { readonly first: number; readonly last: number };
}
