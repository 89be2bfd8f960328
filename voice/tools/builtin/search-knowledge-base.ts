/** Searches the agent's knowledge base, in this process. */
import { textOf } from '../../calls/template.ts';
import { SearchUnavailableError, type Search, type SearchHit } from '../../../knowledge/search/search.ts';
import { createArgumentCheck } from '../arguments.ts';
import type { ToolHost } from '../tool-host.ts';
import { failure, NO_MESSAGES, type JsonValue, type ToolDefinition } from '../tool-result.ts';
import { untilAborted } from '../../../platform/until-aborted.ts';

export interface SearchToolOptions {
  readonly org: string;
  /** Of the KnowledgeBase resource. */
  readonly knowledgeBase: string;
  readonly search: Pick<Search, 'search'>;
  readonly host: Pick<ToolHost, 'recordSources'>;
}

/** The name, unless a tool of the agent has it. */
export const SEARCH_FUNCTION = 'search_knowledge_base';

const TOP_K = 5;
/** Longest time for one search, in milliseconds: the user is waiting. */
const SEARCH_TIMEOUT_MS = 10_000;
/** Longest question that is searched for, in characters. */
const MAX_QUERY_LENGTH = 2_000;
/** Of all passages together, in characters: the user hears silence while the model reads. */
const MAX_CHARACTERS = 12_000;

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
      const question = textOf(query).trim().slice(0, MAX_QUERY_LENGTH);
      if (question === '') return failure('The query is empty.');
      let hits: readonly SearchHit[];
      try {
        const limited = AbortSignal.any([signal, AbortSignal.timeout(SEARCH_TIMEOUT_MS)]);
        hits = (await untilAborted(search.search({ org, knowledgeBase, query: question, topK: TOP_K, signal: limited }), limited)) ?? [];
      } catch (error) {
        if (!(error instanceof SearchUnavailableError) && !isTimeout(error)) throw error;
        return failure(
          'The knowledge base does not answer at the moment. Tell the user that you cannot look it up now.',
          {},
          'unavailable',
        );
      }
      const shown = withinBounds(hits);
      if (shown.length === 0) return { succeeded: true, forModel: { results: [], note: 'Nothing was found.' }, detail: '0 hits' };
      host.recordSources(
        shown.map(({ documentId, chunkId, filename, score }) => ({
          knowledge_base: knowledgeBase,
          document_id: documentId,
          chunk_id: chunkId,
          filename,
          score,
        })),
      );
      return { succeeded: true, forModel: { results: shown.map(passage) }, detail: `${shown.length} hits` };
    },
  };
}

function withinBounds(hits: readonly SearchHit[]): readonly SearchHit[] {
  let left = MAX_CHARACTERS;
  return hits.flatMap((hit) => {
    const content = hit.content.slice(0, left).toWellFormed();
    left -= content.length;
    return content === '' ? [] : [{ ...hit, content }];
  });
}

function passage({ filename, content, metadata }: SearchHit): JsonValue {
  const { title, page } = metadata;
  return {
    source: typeof title === 'string' ? title : filename,
    ...(typeof page === 'number' && { page }),
    content,
  };
}

const isTimeout = (error: unknown): boolean =>
  error instanceof DOMException && (error.name === 'TimeoutError' || error.name === 'AbortError');
