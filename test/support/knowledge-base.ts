/** Makes a knowledge base that calls can search, without the workflows that read documents. */
import { allTerms, passageTerms } from '../../knowledge/lexical/passage.ts';
import { dimensionsOf, documentVector } from '../../knowledge/lexical/vectors.ts';
import { createVectorStore } from '../../knowledge/vector-stores/index.ts';
import type { Store } from '../../store/index.ts';
import { completeDocument } from './complete-document.ts';

export interface KnowledgeBaseWish {
  readonly rerankProfile?: string;
  /** The embedding profile; that of words alone by default. */
  readonly profile?: string;
  readonly model?: string;
  /** Vector of the passage, with such a profile. */
  readonly dense?: Float32Array;
}

/** Makes a knowledge base with one document of one passage. */
export async function aKnowledgeBase(
  { store, org }: { readonly store: Store; readonly org: string },
  name: string,
  text: string,
  { dense, ...more }: KnowledgeBaseWish = {},
): Promise<void> {
  const { knowledge, database } = store;
  const base = {
    org,
    name,
    uid: `uid-${name}`,
    profile: 'default',
    model: 'bm25',
    dimension: dense?.length ?? 0,
    language: 'en',
    maxTokens: 400,
    overlapTokens: 50,
    ...more,
  };
  const { id: collectionId } = await knowledge.collections.ensure(base);
  const { id } = await knowledge.documents.create({ org, collectionId, kind: 'file', filename: `${name}.txt` });
  const place = { headingPath: [], page: null, sheet: null, url: null, firstRow: null, lastRow: null };
  const terms = passageTerms(text, 'en');
  await knowledge.ingestion.addChunks({ org, id }, [{ ordinal: 0, text, indexedText: text, tokens: 10, ...place }]);
  const dimensions = dimensionsOf(allTerms(terms));
  await knowledge.ingestion.parsed(
    { org, id },
    { warnings: [], chunkCount: 1, termTotal: terms.words.length, terms: { terms: dimensions, chunks: dimensions.map(() => 1) } },
  );
  await completeDocument(knowledge, { org, id });
  const record = {
    chunkId: `${id}:0`,
    documentId: id,
    ordinal: 0,
    tieBreaker: 0,
    sparse: documentVector(terms),
    ...(dense && { dense }),
    metadata: {},
  };
  await createVectorStore({ database }).upsert({ org, collectionId, space: { model: base.model, dimension: base.dimension } }, [record]);
}
