/** Searches the agent's knowledge base, in this process. */
import { formatValue } from '../../../crds/template.ts';
import { SearchUnavailableError, type Search, type SearchHit } from '../../../knowledge/search/search.ts';
import { createArgumentCheck } from '../arguments.ts';
import type { ToolHost } from '../tool-host.ts';
import { failure, NO_MESSAGES, type JsonValue, type ToolDefinition } from '../tool-result.ts';
import { untilAborted } from '../../../platform/aborted.ts';

export interface SearchToolOptions {
  readonly org: string;
  /** Name of the KnowledgeBase resource. */
  readonly knowledgeBase: string;
  readonly search: Pick<Search, 'search'>;
  readonly host: Pick<ToolHost, 'recordSources'>;
}

/** Name of the function, unless a tool of the agent has it. */
export const SEARCH_FUNCTION = 'search_knowledge_base';

/**
 * Length of each hit, in characters: the first ones mostly have the answer (docs/benchmarks.md), and the user hears silence while the
 * model reads.
 */
export const SNIPPET_LENGTHS = [1_600, 1_000, 600, 400, 400];
const TOP_K = SNIPPET_LENGTHS.length;
/** Longest time for one search, in milliseconds: the user is waiting. */
const SEARCH_TIMEOUT_MS = 10_000;
/** Longest question that is searched for, in characters. */
const MAX_QUERY_LENGTH = 2_000;

const PARAMETERS = {
  type: 'object',
  properties: {
    query: { type: 'string', minLength: 1, description: 'What to look for, as a question or in key words, in the language of the user.' },
  },
  required: ['query'],
  additionalProperties: false,
};

export function createSearchKnowledgeBase({ org, knowledgeBase, search, host }: SearchToolOptions): ToolDefinition {
  return {
    name: SEARCH_FUNCTION,
    description:
      'Looks something up in the knowledge base. Use it before you answer a question about facts that you were not told; answer from what it finds, and say so when it finds nothing.',
    parameters: PARAMETERS,
    messages: NO_MESSAGES,
    searches: true,
    refuse: createArgumentCheck(PARAMETERS),
    async run({ query }, signal) {
      const question = formatValue(query).trim().slice(0, MAX_QUERY_LENGTH).toWellFormed();
      if (question === '') return failure('The query is empty.');
      let hits: readonly SearchHit[];
      try {
        const limited = AbortSignal.any([signal, AbortSignal.timeout(SEARCH_TIMEOUT_MS)]);
        const request = { org, knowledgeBase, query: question, topK: TOP_K, snippetLengths: SNIPPET_LENGTHS, signal: limited };
        hits = (await untilAborted(search.search(request), limited)) ?? [];
      } catch (error) {
        if (!(error instanceof SearchUnavailableError) && !isTimeout(error)) throw error;
        return failure(
          'The knowledge base does not answer at the moment. Tell the user that you cannot look it up now.',
          {},
          'unavailable',
        );
      }
      if (hits.length === 0) return { succeeded: true, forModel: { results: [], note: 'Nothing was found.' }, detail: '0 hits' };
      host.recordSources(
        hits.map(({ documentId, chunkId, filename, score }) => ({
          knowledge_base: knowledgeBase,
          document_id: documentId,
          chunk_id: chunkId,
          filename,
          score,
        })),
      );
      return { succeeded: true, forModel: { results: hits.map(passage) }, detail: `${hits.length} hits` };
    },
  };
}

function passage({ filename, content, snippet = content, metadata }: SearchHit): JsonValue {
  const { title, page } = metadata;
  return {
    source: typeof title === 'string' ? title : filename,
    ...(typeof page === 'number' && { page }),
    content: snippet,
  };
}

const isTimeout = (error: unknown): boolean =>
  error instanceof DOMException && (error.name === 'TimeoutError' || error.name === 'AbortError');
