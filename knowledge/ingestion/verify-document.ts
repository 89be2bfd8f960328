/** A document is `completed` only when a search finds it: asked of the store, in the way a search asks. */
import { collectionRef } from '../search/create-search.ts';
import { sparseVectorOf } from './index-document.ts';
import type { IngestionDependencies, Step } from './step.ts';

/** The store doesn't show (yet) what was written to it. */
export class NotYetVisibleError extends Error {
  override readonly name = 'NotYetVisibleError';
}

/** @throws NotYetVisibleError when chunks are missing, or the first or last one isn't found */
export async function verifyDocument(
  { document, collection, signal }: Pick<Step, 'document' | 'collection' | 'signal'>,
  { knowledge, vectors }: Pick<IngestionDependencies, 'knowledge' | 'vectors'>,
): Promise<void> {
  const ref = collectionRef(collection);
  const count = await vectors.count(ref, document.id);
  if (count !== document.chunkCount)
    throw new NotYetVisibleError(`document ${document.id}: the vector store has ${count} of its ${document.chunkCount} chunks`);
  for (const ordinal of new Set([0, document.chunkCount - 1])) {
    const [chunk] = await knowledge.ingestion.chunks({ org: document.org, id: document.id }, { after: ordinal - 1, limit: 1 });
    if (chunk === undefined) throw new NotYetVisibleError(`document ${document.id}: chunk ${ordinal} is missing in Postgres`);
    const sparse = sparseVectorOf(chunk, collection, collection.averageLength);
    // Without a single term (a line of dashes) nothing finds it, and nothing could.
    if (sparse.indices.length === 0) continue;
    const hits = await vectors.search(ref, { sparse, document: document.id, topK: 1 }, signal);
    if (hits.length === 0) throw new NotYetVisibleError(`document ${document.id}: a search for chunk ${ordinal} does not find it`);
  }
}
