/** Turns files and web pages into blocks with their places. The parsers run in child processes: see parser-pool.ts. */
export type { Block, PagePicture, ParsedBlock, ParsedDocument } from './block.ts';
export { PARSED_EXTENSIONS, type ParsedExtension } from './extension.ts';
export type { ParseProgress } from './messages.ts';
export { type ParseRequest, ParserPool } from './parser-pool.ts';
