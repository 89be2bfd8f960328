/** Writes documents of synthetic chunks by the very steps of an ingestion, without the workflow around them. */
import { indexDocument } from '../../../knowledge/ingestion/index-document.ts';
import { verifyDocument } from '../../../knowledge/ingestion/verify-document.ts';
import { allTerms, passageTerms } from '../../../knowledge/lexical/passage.ts';
import { dimensionsOf } from '../../../knowledge/lexical/vectors.ts';
import type { VectorStore } from '../../../knowledge/vector-stores/vector-store.ts';
import type { Collection, DocumentRecord, Store, StoredChunk } from '../../../store/index.ts';
import { randomEmbedder } from './random-embedder.ts';
import type { Texts } from './texts.ts';

/** Words of a chunk: about the 400 tokens at which a knowledge base cuts. */
export const wordsInChunk = 220;

interface NewDocument {
  readonly store: Store;
  readonly collection: Collection;
  readonly chunks: number;
  readonly texts: Texts;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Makes a document whose chunks are in Postgres: read, and not yet indexed. */
export async function readDocument({ store, collection, chunks: count, texts, metadata = {} }: NewDocument): Promise<DocumentRecord> {
  const { documents, ingestion } = store.knowledge;
  const { org, id: collectionId } = collection;
  const { id } = await documents.create({ org, collectionId, kind: 'text', filename: 'synthetic.txt', metadata });
  const ref = { org, id };
  const frequencies = new Map<number, number>();
  let termTotal = 0;
  let batch: StoredChunk[] = [];
  for (let ordinal = 0; ordinal < count; ordinal += 1) {
    const text = texts.passage(wordsInChunk);
    const terms = passageTerms(text, collection.language);
    termTotal += terms.words.length;
    for (const term of dimensionsOf(allTerms(terms))) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
    batch.push({
      ordinal,
      text,
      indexedText: text,
      tokens: 400,
      headingPath: [],
      page: null,
      sheet: null,
      url: null,
      firstRow: null,
      lastRow: null,
    });
    if (batch.length < 250 && ordinal < count - 1) continue;
    await ingestion.addChunks(ref, batch);
    batch = [];
  }
  const sorted = [...frequencies].sort(([a], [b]) => a - b);
  const terms = { terms: sorted.map(([term]) => term), chunks: sorted.map(([, chunks]) => chunks) };
  await ingestion.parsed(ref, { warnings: [], chunkCount: count, termTotal, terms });
  const document = await documents.get(ref);
  if (document === undefined) throw new Error(`document ${id} is gone`);
  return document;
}

/** Computes the vectors, writes them and asks for them, as the worker does. @returns milliseconds */
export async function index(
  { store, vectors }: { readonly store: Store; readonly vectors: VectorStore },
  { collection, document }: { readonly collection: Collection; readonly document: DocumentRecord },
): Promise<number> {
  const startedAt = performance.now();
  const embedderOf = () => (collection.dimension === 0 ? undefined : randomEmbedder);
  const step = { document, collection, signal: new AbortController().signal, report: () => Promise.resolve() };
  await indexDocument({ ...step, from: 0 }, { knowledge: store.knowledge, vectors, embedderOf });
  await verifyDocument(step, { knowledge: store.knowledge, vectors });
  return performance.now() - startedAt;
}
