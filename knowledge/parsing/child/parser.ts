import type { ParserTask } from '../messages.ts';
import type { Sink } from './block-sink.ts';

export interface ParserInput extends ParserTask {
  readonly content: Buffer;
}

/** What a parser knows when it has put all blocks into the sink. */
export interface ParserResult {
  readonly title?: string;
  readonly pages?: number;
}

/**
 * One for each kind of file, each a module of its own that is loaded when it is needed.
 * @throws IngestionFailure with the reason; whatever else it throws means that the file is damaged
 */
export type Parser = (input: ParserInput, sink: Sink) => Promise<ParserResult> | ParserResult;
