/** Verifies that a search finds a document before it is `completed`: it queries the store in the way a search does. */
import { collectionRef } from '../search/create-search.ts';
import { sparseVectorOf } from './index-document.ts';
import type { CollectionRef, VectorRecord, VectorStore } from '../vector-stores/vector-store.ts';
import type { IngestionDependencies, Step } from './step.ts';

/** The store doesn't show the written vectors (yet). */
export class NotYetVisibleError extends Error {
  override readonly name = 'NotYetVisibleError';
}

/** @throws NotYetVisibleError when chunks are missing, or the first or last one isn't found */
export async function verifyDocument(
  { document, collection, signal }: Pick<Step, 'document' | 'collection' | 'signal'>,
  { knowledge, vectors }: Pick<IngestionDependencies, 'knowledge' | 'vectors'>,
): Promise<void> {
  const ref = collectionRef(collection);
  await requireCount(ref, document.id, document.chunkCount, vectors);
  for (const ordinal of new Set([0, document.chunkCount - 1])) {
    const [chunk] = await knowledge.ingestion.chunks({ org: document.org, id: document.id }, { after: ordinal - 1, limit: 1 });
    if (chunk === undefined) throw new NotYetVisibleError(`document ${document.id}: chunk ${ordinal} is missing in Postgres`);
    const sparse = sparseVectorOf(chunk, collection);
    await requireHit(ref, { documentId: document.id, ordinal, sparse }, vectors, signal);
  }
}

/** Verifies a document whose records are at hand. @throws NotYetVisibleError */
export async function requireFound(ref: CollectionRef, records: readonly VectorRecord[], vectors: VectorStore): Promise<void> {
  const [first] = records;
  if (first === undefined) return;
  await requireCount(ref, first.documentId, records.length, vectors);
  for (const record of new Set([first, records.at(-1) ?? first])) await requireHit(ref, record, vectors);
}

async function requireCount(ref: CollectionRef, documentId: string, expected: number, vectors: VectorStore): Promise<void> {
  const count = await vectors.count(ref, documentId);
  if (count !== expected) throw new NotYetVisibleError(`document ${documentId}: the vector store has ${count} of its ${expected} chunks`);
}

async function requireHit(
  ref: CollectionRef,
  { documentId, ordinal, sparse }: Pick<VectorRecord, 'documentId' | 'ordinal' | 'sparse'>,
  vectors: VectorStore,
  signal?: AbortSignal,
): Promise<void> {
  // Chunks without a single term (a line of dashes) can't be found, so there is nothing to verify.
  if (sparse.indices.length === 0) return;
  const hits = await vectors.search(ref, { sparse, document: documentId, topK: 1 }, signal);
  if (hits.length === 0) throw new NotYetVisibleError(`document ${documentId}: a search for chunk ${ordinal} does not find it`);
}
