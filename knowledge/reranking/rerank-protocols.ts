/** Builds the requests for each provider, and reads their answers. Pure. */
import { z } from 'zod';

import { reportedUseOf, type ReportedUse } from '../model-use.ts';
import { RerankError, type Reranked, type RerankProfile } from './reranker.ts';

export interface RerankQuestion {
  readonly query: string;
  readonly documents: readonly string[];
}

interface RerankProtocol {
  readonly baseURL: string | undefined;
  body(question: RerankQuestion, model: string): object;
  read(answer: unknown): readonly Reranked[];
}

const index = z.int().min(0);
const scored = z
  .array(z.object({ index, relevance_score: z.number() }))
  .transform((results) => results.map((each) => ({ index: each.index, score: each.relevance_score })));

/** Cohere's form, which Jina and most servers took over. It asks for all documents, because one that is left out would have no place. */
const asCohere: Omit<RerankProtocol, 'baseURL'> = {
  body: ({ query, documents }, model) => ({ model, query, documents, top_n: documents.length }),
  read: (answer) => z.object({ results: scored }).parse(answer).results,
};

/** Sources: the reference of each API. */
const PROTOCOLS: Readonly<Record<RerankProfile['provider'], RerankProtocol>> = {
  cohere: { ...asCohere, baseURL: 'https://api.cohere.com/v2' },
  jina: {
    ...asCohere,
    baseURL: 'https://api.jina.ai/v1',
    body: (question, model) => ({ ...asCohere.body(question, model), return_documents: false }),
  },
  voyage: {
    baseURL: 'https://api.voyageai.com/v1',
    body: ({ query, documents }, model) => ({ model, query, documents, top_k: documents.length, truncation: true }),
    read: (answer) => z.object({ data: scored }).parse(answer).data,
  },
  openai_compatible: { ...asCohere, baseURL: undefined },
  text_embeddings_inference: {
    baseURL: undefined,
    body: ({ query, documents }) => ({ query, texts: documents, truncate: true, raw_scores: false }),
    read: (answer) => z.array(z.object({ index, score: z.number() })).parse(answer),
  },
};

export function rerankUrlOf({ provider, baseURL }: Pick<RerankProfile, 'provider' | 'baseURL'>): string {
  return `${(baseURL ?? PROTOCOLS[provider].baseURL ?? '').replace(/\/+$/, '')}/rerank`;
}

export function rerankBodyOf({ provider, model }: Pick<RerankProfile, 'provider' | 'model'>, question: RerankQuestion): string {
  return JSON.stringify(PROTOCOLS[provider].body(question, model));
}

export interface RerankAnswer {
  /** Passages, the best first, each once. */
  readonly order: readonly Reranked[];
  readonly reported: ReportedUse;
}

/** @throws RerankError `invalid_response` */
export function rerankedOf({ provider }: Pick<RerankProfile, 'provider'>, body: string, count: number): RerankAnswer {
  let results: readonly Reranked[];
  let reported: ReportedUse;
  try {
    const answer: unknown = JSON.parse(body);
    results = PROTOCOLS[provider].read(answer);
    reported = reportedUseOf(answer);
  } catch {
    throw invalid('the answer has not the form of a rerank response');
  }
  if (new Set(results.map((each) => each.index)).size !== count || results.length !== count || results.some((each) => each.index >= count))
    throw invalid(`it does not score each of ${count} passages once`);
  const order = results
    .map((each) => ({ index: each.index, score: Math.min(1, Math.max(0, each.score)), raw: each.score }))
    .toSorted((left, right) => right.raw - left.raw || left.index - right.index)
    .map(({ index: position, score }) => ({ index: position, score }));
  return { order, reported };
}

function invalid(what: string): RerankError {
  return new RerankError('invalid_response', `the order of the passages can't be used: ${what}`);
}
