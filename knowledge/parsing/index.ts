/** What files and web pages say, as blocks with their places. The parsers run in child processes: see parser-pool.ts. */
export type { Block, ParsedDocument, BlockPosition as Place, TableBlock, TextBlock } from './block.ts';
export type { ParserLimits } from './limits.ts';
export { PARSED_EXTENSIONS, type ParsedExtension, type ParseProgress } from './messages.ts';
export { type ParseRequest, ParserPool, type ParserPoolOptions, type Parsing } from './parser-pool.ts';
