/** Runs searches: Postgres knows how rare the terms are, the vector store ranks, Postgres decides which hits may be shown. */
import { LruMap } from '../../platform/lru.ts';
import * as genAi from '../../platform/telemetry/gen-ai/conventions.ts';
import { capturesContent, inSpan, type SpanStart } from '../../platform/telemetry/tracing.ts';
import { type Collection, type KnowledgeStore, StoreError } from '../../store/index.ts';
import type { FoundChunk, Prepared } from '../../store/knowledge/lookup.ts';
import type { Embedder } from '../embedding/embedder.ts';
import { EmbeddingError } from '../embedding/embedding-error.ts';
import { readQuestion, termsInQuestion, type Question } from '../lexical/question.ts';
import { dimensionsOf, queryVector, relevance } from '../lexical/vectors.ts';
import { type CollectionRef, type VectorHit, type VectorQuery, type VectorStore, VectorStoreError } from '../vector-stores/vector-store.ts';
import type { Reranking } from '../reranking/create-reranking.ts';
import { placeMetadata } from './chunk-metadata.ts';
import { type Search, type SearchHit, type SearchRequest, SearchUnavailableError } from './search.ts';
import { snippetOf } from './snippet.ts';
import { bestReciprocalRank } from '../vector-stores/fuse-rankings.ts';

export interface SearchDependencies {
  readonly knowledge: Pick<KnowledgeStore, 'collections' | 'lookup'>;
  readonly vectors: VectorStore;
  /** @returns undefined for a profile without dense vectors */
  readonly embedderOf: (collection: Pick<Collection, 'org' | 'profile' | 'model' | 'dimension'>) => Embedder | undefined;
  /** Nothing is reranked without it. */
  readonly reranking?: Reranking;
}

/** Most hits that are asked for when some of the first ones may not be shown. */
const DEEPEST = 1_000;
/** Most starts of a search when documents change while it runs; more than a refresh takes. */
const ATTEMPTS = 4;

export function collectionRef(collection: Pick<Collection, 'org' | 'id' | 'model' | 'dimension'>): CollectionRef {
  return { org: collection.org, collectionId: collection.id, space: { model: collection.model, dimension: collection.dimension } };
}

export function createSearch(dependencies: SearchDependencies): Search {
  const { collections } = dependencies.knowledge;
  /**
   * Collections at their last search, by `org/name`: their language and model decide how to analyse a question before Postgres is queried.
   */
  const known = new LruMap<string, Collection>(10_000);
  return {
    search: (request) => inSpan(spanOf(request), () => available(() => found(request))),
  };
  async function found(request: SearchRequest): Promise<readonly SearchHit[] | undefined> {
    const { org, knowledgeBase: name } = request;
    const key = `${org}/${name}`;
    for (;;) {
      const before = known.get(key) ?? (await collections.byName({ org, name }));
      if (before === undefined) return undefined;
      known.set(key, before);
      const asked = await ask(before, request, dependencies);
      if (asked.outcome === 'answered') return asked.hits;
      if (asked.outcome === 'changed') known.set(key, asked.collection);
      else known.delete(key);
    }
  }
}

const spanOf = ({ org, knowledgeBase, topK, query, withholdsContent = false }: SearchRequest): SpanStart => ({
  name: genAi.spanName(genAi.RETRIEVAL, knowledgeBase),
  kind: 'client',
  attributes: {
    [genAi.OPERATION_NAME]: genAi.RETRIEVAL,
    [genAi.DATA_SOURCE_ID]: knowledgeBase,
    [genAi.REQUEST_TOP_K]: topK,
    'parley.org': org,
    ...(capturesContent() && !withholdsContent && { [genAi.RETRIEVAL_QUERY]: query }),
  },
});

type Asked =
  | { readonly outcome: 'answered'; readonly hits: readonly SearchHit[] }
  /** The collection has changed since: the question has to be read again. */
  | { readonly outcome: 'changed'; readonly collection: Collection }
  | { readonly outcome: 'gone' };

/** @param before decides how to read the question; everything else is read during the search */
async function ask(before: Collection, request: SearchRequest, dependencies: SearchDependencies): Promise<Asked> {
  const { lookup } = dependencies.knowledge;
  const { org } = request;
  const question = readQuestion(request.query, before.language);
  const prepare = () => lookup.prepare({ org, name: before.name, terms: dimensionsOf(termsInQuestion(question)) });
  const embedding = embedQuery(() => dependencies.embedderOf(before), request);
  // Only the answer of Postgres tells whether the embedding is needed.
  embedding.catch(() => undefined);
  let prepared = await prepare();
  for (let attempt = 1; ; attempt += 1) {
    if (prepared === undefined) return { outcome: 'gone' };
    if (!readsAlike(prepared.collection, before)) return { outcome: 'changed', collection: prepared.collection };
    const { hits, dropped } = await rank({ request, question, dense: await embedding, prepared }, dependencies);
    // One document may have replaced another after the search had begun, so that it found neither of the two.
    const missed = (dropped && prepared.allHidden) || (await lookup.arrived({ org, ids: prepared.arriving }));
    if (!missed || attempt === ATTEMPTS) return { outcome: 'answered', hits };
    prepared = await prepare();
  }
}

/** Tells whether a question has the same terms and the same vector in both. */
function readsAlike(one: Collection, other: Collection): boolean {
  return one.language === other.language && one.profile === other.profile && one.model === other.model && one.dimension === other.dimension;
}

/** @returns with `dropped` whether hits were left out that searches could find when this one began */
async function rank(
  {
    request,
    question,
    dense,
    prepared,
  }: {
    readonly request: SearchRequest;
    readonly question: Question;
    readonly dense: Float32Array | undefined;
    readonly prepared: Prepared;
  },
  { knowledge, vectors, reranking }: SearchDependencies,
): Promise<{ readonly hits: readonly SearchHit[]; readonly dropped: boolean }> {
  const { org } = request;
  const { collection, frequencies, hidden } = prepared;
  const sparse = queryVector(question, {
    documentCount: collection.chunkCount,
    frequencyOf: (dimension) => frequencies.get(dimension) ?? 0,
  });
  const query: Omit<VectorQuery, 'topK'> = {
    sparse,
    chunks: collection.chunkCount,
    ...(dense && { dense }),
    ...(request.filter && { filter: request.filter }),
    ...(hidden.length > 0 && { exclude: hidden }),
  };
  const scoreOf = ({ score }: VectorHit): number =>
    dense === undefined ? relevance(score, sparse) : Math.min(1, score / bestReciprocalRank);

  const wanted = Math.max(request.topK, reranking?.candidates(collection.rerankProfile) ?? 0);
  for (let topK = wanted; ; topK = Math.min(DEEPEST, topK * 4)) {
    const found = await vectors.search(collectionRef(collection), { ...query, topK }, request.signal);
    const visible = new Map(
      (await knowledge.lookup.resolve({ org, collectionId: collection.id, hits: found })).map((chunk) => [
        `${chunk.documentId}:${chunk.ordinal}`,
        chunk,
      ]),
    );
    const hits = found.flatMap((hit) => {
      const chunk = visible.get(hit.chunkId);
      return chunk === undefined ? [] : [{ hit: toHit(hit.chunkId, chunk, scoreOf(hit)), chunk }];
    });
    // Some hits were hidden while the store ranked: those behind them move up.
    const exhausted = found.length < topK || topK === DEEPEST;
    if (hits.length < wanted && !exhausted) continue;
    const best = await reranked(hits, { request, profile: collection.rerankProfile, reranking });
    const lengths = request.snippetLengths ?? [];
    const shown = best.slice(0, request.topK).map(({ hit, chunk }, place) => {
      const maxLength = lengths[place] ?? lengths.at(-1);
      if (maxLength === undefined) return hit;
      const about = { text: chunk.text, query: sparse, language: collection.language, isSheet: chunk.sheet !== null };
      return Object.assign(hit, { snippet: snippetOf({ ...about, maxLength }) });
    });
    return { hits: shown, dropped: hits.length < found.length };
  }
}

interface Found {
  readonly hit: SearchHit;
  readonly chunk: FoundChunk;
}

/** Returns the first hits in the order of the collection's rerank profile, if it has one that answers in time. */
async function reranked(
  hits: readonly Found[],
  {
    request: { query, signal, onUse },
    profile,
    reranking,
  }: { readonly request: SearchRequest; readonly profile: string | undefined; readonly reranking: Reranking | undefined },
): Promise<readonly Found[]> {
  const candidates = hits.slice(0, reranking?.candidates(profile) ?? 0);
  if (reranking === undefined || profile === undefined || candidates.length === 0) return hits;
  const documents = candidates.map(({ chunk }) => chunk.text);
  const order = await reranking.rerank(profile, { query, documents }, { signal, onUse });
  if (order === undefined) return hits;
  const first = order.flatMap(({ index, score }) => {
    const found = candidates[index];
    return found === undefined ? [] : [scored(found, score)];
  });
  // The scores are of two kinds: hits that were not reranked stay below the others.
  const least = first.at(-1)?.hit.score ?? 1;
  return [...first, ...hits.slice(first.length).map((found) => scored(found, found.hit.score * least))];
}

const scored = ({ hit, chunk }: Found, score: number): Found => ({ chunk, hit: { ...hit, score } });

async function embedQuery(
  embedderOf: () => Embedder | undefined,
  { query, signal, onUse }: SearchRequest,
): Promise<Float32Array | undefined> {
  const vectors = await embedderOf()?.embed([query], 'query', { signal, onUse });
  return vectors?.[0];
}

function toHit(chunkId: string, chunk: FoundChunk, score: number): SearchHit {
  return {
    chunkId,
    documentId: chunk.documentId,
    filename: chunk.filename,
    content: chunk.text,
    score,
    chunkIndex: chunk.ordinal,
    // The owner's own values win over ours.
    metadata: { ...placeMetadata(chunk, chunk.title), ...chunk.metadata },
  };
}

async function available<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // An operator has to put back a profile that was taken out of the configuration: until then nothing can be searched.
    if (error instanceof EmbeddingError)
      throw new SearchUnavailableError(`the question could not be embedded: ${error.message}`, { cause: error });
    if (error instanceof StoreError && error.retryable)
      throw new SearchUnavailableError('Postgres does not answer at the moment', { cause: error });
    if (error instanceof VectorStoreError && error.retryable)
      throw new SearchUnavailableError('the vector store does not answer at the moment', { cause: error });
    throw error;
  }
}
