/** Puts a document's chunks into the vector store, in batches that may be repeated. */
import type { Collection, DocumentRecord, StoredChunk } from '../../store/index.ts';
import { passageTerms } from '../lexical/passage.ts';
import { documentVector } from '../lexical/vectors.ts';
import { filterableBy } from '../search/chunk-metadata.ts';
import { collectionRef } from '../search/create-search.ts';
import { tieBreakerOf } from '../search/tie-breaker.ts';
import type { VectorRecord } from '../vector-stores/vector-store.ts';
import { clearLateVectors } from './clear-document.ts';
import type { IngestionDependencies, Step } from './step.ts';
import { Pacer } from '../../platform/pacer.ts';

/** Chunks that are embedded and written at a time. */
const BATCH = 256;

/**
 * @param from ordinal of the first chunk that is still to be written
 * @throws EmbeddingError, VectorStoreError
 */
export async function indexDocument(
  step: Step & { readonly from: number },
  { knowledge, vectors, embedderOf }: Pick<IngestionDependencies, 'knowledge' | 'vectors' | 'embedderOf'>,
): Promise<void> {
  const { document, collection, signal } = step;
  const ref = { org: document.org, id: document.id };
  const embedder = embedderOf(collection);
  const tieBreaker = tieBreakerOf(document);
  const pacer = new Pacer();
  for (let next = step.from; ;) {
    await step.report(next, document.chunkCount);
    const chunks = await knowledge.ingestion.chunks(ref, { after: next - 1, limit: BATCH });
    const last = chunks.at(-1);
    if (last === undefined) return;
    const dense = await embedder?.embed(
      chunks.map(({ indexedText }) => indexedText),
      'passage',
      { signal },
    );
    const records: VectorRecord[] = [];
    for (const [index, chunk] of chunks.entries()) {
      if (pacer.due) await pacer.pause();
      records.push(vectorRecord({ document, chunk, tieBreaker, sparse: sparseVectorOf(chunk, collection), dense: dense?.[index] }));
    }
    try {
      await vectors.upsert(collectionRef(collection), records, signal);
    } finally {
      await clearLateVectors({ collection, documentId: document.id }, { knowledge, vectors });
    }
    next = last.ordinal + 1;
  }
}

export function vectorRecord({
  document,
  chunk,
  dense,
  ...rest
}: Pick<VectorRecord, 'tieBreaker' | 'sparse'> & {
  readonly document: DocumentRecord;
  readonly chunk: StoredChunk;
  readonly dense?: Float32Array | undefined;
}): VectorRecord {
  const { id: documentId } = document;
  const { ordinal } = chunk;
  const metadata = filterableBy(document, chunk);
  return { chunkId: `${documentId}:${ordinal}`, documentId, ordinal, metadata, ...rest, ...(dense !== undefined && { dense }) };
}

export function sparseVectorOf(chunk: StoredChunk, collection: Collection): VectorRecord['sparse'] {
  return documentVector(passageTerms(chunk.indexedText, collection.language));
}
