import { dirname, join } from 'node:path';

import { IngestionError, type IngestionFailureCode } from '../../../knowledge/ingestion-failure.ts';
import type { Block, PagePicture, ParsedDocument } from '../../../knowledge/parsing/block.ts';
import { ParserPool, type ParserPoolOptions, type ParseRequest } from '../../../knowledge/parsing/parser-pool.ts';
import { PARSER_ENTRY } from '../../../knowledge/parsing/spawn-parser.ts';

interface Read {
  readonly blocks: readonly Block[];
  /** Pictures of pages without text, where they were asked for. */
  readonly pictures: readonly PagePicture[];
  readonly document: ParsedDocument;
}

async function* once(content: Buffer | string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content as string);
}

type What = Omit<ParseRequest, 'content'> & { readonly content: Buffer | string };

/** Starts a pool from the bundle, where `make test` has built it, because suites start hundreds of processes. */
export function parserPool(options: ParserPoolOptions): ParserPool {
  const bundle = process.env['PARLEY_TEST_ENTRY'];
  return new ParserPool({ ...options, ...(bundle !== undefined && { entry: join(dirname(bundle), PARSER_ENTRY) }) });
}

/** Reads a file to its end. */
export async function read(pool: ParserPool, what: What): Promise<Read> {
  const parsing = pool.parse({ ...what, content: once(what.content) });
  const blocks: Block[] = [];
  const pictures: PagePicture[] = [];
  for await (const batch of parsing.blocks())
    for (const block of batch) {
      if (block.kind === 'picture') pictures.push(block);
      else blocks.push(block);
    }
  return { blocks, pictures, document: await parsing.document };
}

/** Returns the outcome of reading a file as text: its blocks and facts, or its failure. */
export async function outcomeOf(pool: ParserPool, what: What): Promise<string> {
  return JSON.stringify(
    await read(pool, what).catch((error: unknown) => {
      if (error instanceof IngestionError) return { code: error.code, message: error.message };
      throw error;
    }),
  );
}

/** Reads a file that must not be readable. @returns why it is not */
export async function failureCode(pool: ParserPool, what: What): Promise<IngestionFailureCode> {
  try {
    await read(pool, what);
  } catch (error) {
    if (error instanceof IngestionError) return error.code;
    throw error;
  }
  throw new Error(`the .${what.extension} was read without a failure`);
}

/** Returns the text of the blocks, one line each; table rows have ` | ` between cells. */
export function texts(blocks: readonly Block[]): readonly string[] {
  return blocks.flatMap((block) => (block.kind === 'table' ? block.rows.map((row) => row.join(' | ')) : [block.text]));
}
