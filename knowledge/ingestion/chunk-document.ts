/** Reads a document's stored content and cuts it into chunks, for callers that store these. */
import { Readable } from 'node:stream';

import type { DocumentRecord, StoredChunk } from '../../store/index.ts';
import type { DocumentTerms } from '../../store/knowledge/ingestion.ts';
import { chunkBlocks } from '../chunking/chunk-blocks.ts';
import type { Chunk } from '../chunking/chunk.ts';
import { IngestionError } from '../ingestion-failure.ts';
import type { PageReader } from '../ocr/page-reader.ts';
import { allTerms, passageTerms, type PassageTerms } from '../lexical/passage.ts';
import { dimensionsOf } from '../lexical/vectors.ts';
import {
  PARSED_EXTENSIONS,
  type Block,
  type ParsedBlock,
  type ParsedDocument,
  type ParsedExtension,
  type ParserPool,
  type ParseProgress,
} from '../parsing/index.ts';
import type { IngestionDependencies, Step } from './step.ts';
import { readPages, type ReadPart } from './read-pages.ts';
import { isText, recognisePages } from './recognise-pages.ts';
import { paced } from '../../platform/pacer.ts';

export interface ReadingDependencies extends Pick<IngestionDependencies, 'knowledge' | 'storage' | 'clock'> {
  readonly parsers: Pick<ParserPool, 'parse'>;
  /** Reader for pages that have no text but pictures; undefined where none is configured. */
  readonly ocr?: PageReader | undefined;
}

export interface ReadChunk {
  readonly stored: StoredChunk;
  readonly terms: PassageTerms;
}

/** The facts about a document once all of its chunks have been read. */
export interface ReadFacts extends ParsedDocument {
  readonly chunkCount: number;
  readonly termTotal: number;
  readonly terms: DocumentTerms;
}

export interface DocumentReading {
  /** May be iterated once. @throws IngestionError when the document is at fault */
  chunks(): AsyncGenerator<ReadChunk>;
  /** Returns the facts after the last chunk. */
  facts(): ReadFacts;
}

export interface ReadingProgress {
  readonly onProgress?: (progress: ParseProgress) => void;
  /** Receives the number of recognised pages. An error that it throws ends the reading. */
  readonly onPage?: (progress: ParseProgress) => Promise<void>;
}

export function chunkDocument(
  step: Pick<Step, 'document' | 'collection' | 'signal'>,
  dependencies: ReadingDependencies,
  progress: ReadingProgress = {},
): DocumentReading {
  const { document, collection } = step;
  const read = partReader(step, dependencies, progress);
  const source = yieldBlocks(document, dependencies, read);
  const statistics = new TermStatistics();
  let chunkCount = 0;
  return {
    async *chunks() {
      const chunks = chunkBlocks(paced(source.blocks()), {
        maxTokens: collection.maxTokens,
        overlapTokens: collection.overlapTokens,
        language: collection.language,
        title: titleOf(document),
      });
      for await (const chunk of paced(chunks)) {
        const terms = passageTerms(chunk.indexedText, collection.language);
        statistics.add(terms);
        chunkCount += 1;
        yield { stored: toStored(chunk), terms };
      }
      if (chunkCount === 0)
        throw new IngestionError(
          'empty_document',
          'The document has no text that could be found. Check that it is the right file, and submit it again.',
        );
    },
    facts: () => ({ ...source.document(), chunkCount, termTotal: statistics.total, terms: statistics.terms() }),
  };
}

function partReader(
  { document, signal }: Pick<Step, 'document' | 'signal'>,
  { parsers, ocr, clock }: ReadingDependencies,
  { onProgress, onPage }: ReadingProgress,
): ReadPart {
  const parse = async function* (request: Parameters<ReadPart>[0]): AsyncGenerator<readonly ParsedBlock[], ParsedDocument> {
    const pictures = ocr?.maxPages;
    const parsing = parsers.parse({ ...request, pictures, owner: document.org, signal, ...(onProgress && { onProgress }) });
    yield* parsing.blocks();
    return parsing.document;
  };
  const readMarkdown = async (text: string): Promise<readonly Block[]> => {
    const blocks: Block[] = [];
    const parsing = parsers.parse({ content: Readable.from([Buffer.from(text)]), extension: 'md', owner: document.org, signal });
    for await (const batch of parsing.blocks()) blocks.push(...batch.filter(isText));
    return blocks;
  };
  return async function* (request) {
    if (ocr !== undefined) return yield* recognisePages(parse(request), { reader: ocr, readMarkdown, signal, clock, onPage });
    const parts = parse(request);
    for (;;) {
      const next = await parts.next();
      if (next.done === true) return next.value;
      yield next.value.filter(isText);
    }
  };
}

/** Yields the blocks of a document of any kind, followed by the facts of the whole. */
function yieldBlocks(document: DocumentRecord, dependencies: ReadingDependencies, read: ReadPart) {
  let parsed: ParsedDocument = { warnings: [] };
  return {
    async *blocks(): AsyncGenerator<Block> {
      const parts =
        document.kind === 'website'
          ? readPages(document, dependencies, read)
          : read({ content: await openBytes(document, dependencies), extension: extensionOf(document) });
      for (;;) {
        const next = await parts.next();
        if (next.done === true) {
          parsed = next.value;
          return;
        }
        yield* next.value;
      }
    },
    document: () => parsed,
  };
}

async function openBytes(document: DocumentRecord, { knowledge, storage }: ReadingDependencies): Promise<AsyncIterable<Uint8Array>> {
  if (document.objectKey !== null) return storage.read(document.objectKey);
  const content = await knowledge.documents.content(document);
  return Readable.from([Buffer.from(content ?? '')]);
}

/** Text that came with the configuration is parsed by its key: `faq.md` as Markdown, anything unknown as plain text. */
function extensionOf(document: DocumentRecord): ParsedExtension {
  const extension = document.extension ?? /\.([a-z0-9]+)$/i.exec(document.filename)?.[1]?.toLowerCase();
  return PARSED_EXTENSIONS.find((known) => known === extension) ?? 'txt';
}

/**
 * Returns the title that ranking puts before each chunk: the file's name without its ending. A website's pages have headings of their own.
 */
function titleOf(document: DocumentRecord): string {
  return document.kind === 'website' ? '' : document.filename.replace(/\.[A-Za-z0-9]{1,5}$/, '').replaceAll(/[_-]+/g, ' ');
}

function toStored(chunk: Chunk): StoredChunk {
  return {
    ordinal: chunk.ordinal,
    text: chunk.text,
    indexedText: chunk.indexedText,
    tokens: chunk.tokens,
    headingPath: chunk.headingPath,
    page: chunk.page ?? null,
    sheet: chunk.sheet ?? null,
    url: chunk.url ?? null,
    firstRow: chunk.rows?.first ?? null,
    lastRow: chunk.rows?.last ?? null,
  };
}

class TermStatistics {
  readonly #chunks = new Map<number, number>();
  total = 0;

  add(terms: PassageTerms): void {
    this.total += terms.words.length;
    for (const dimension of dimensionsOf(allTerms(terms))) this.#chunks.set(dimension, (this.#chunks.get(dimension) ?? 0) + 1);
  }

  terms(): DocumentTerms {
    const entries = [...this.#chunks].sort(([a], [b]) => a - b);
    return { terms: entries.map(([term]) => term), chunks: entries.map(([, chunks]) => chunks) };
  }
}
