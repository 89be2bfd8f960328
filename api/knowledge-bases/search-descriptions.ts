import { SEARCH_PATH } from '../limits/limit-class.ts';
import { searchAnswer } from './answers.ts';
import { defineRoute } from './descriptions.ts';
import { knowledgeBaseExample, searchExample } from './examples.ts';
import { searchRequest } from './schema.ts';

const { id } = knowledgeBaseExample;

export const searchKnowledgeBase = defineRoute({
  method: 'POST',
  path: SEARCH_PATH,
  operationId: 'searchKnowledgeBase',
  mcp: { reads: true },
  summary: 'Search a knowledge base',
  description:
    'Finds the chunks of completed documents. Where a store is unavailable the answer is 503 and never an empty list. Nothing but a filter of the described form is taken for one: a placeholder such as `additionalProp1` is 422.',
  permission: 'knowledge_bases:read',
  body: searchRequest.meta({ id: 'SearchRequest' }),
  bodyExamples: {
    'what is needed': { query: 'how do I reset it', knowledge_base_id: id },
    'among some documents': {
      query: 'how do I reset it',
      knowledge_base_id: id,
      top_k: 10,
      filter: { product: { $eq: 'XK-7420' }, year: { $eq: 2026 } },
    },
  },
  answers: { 200: { description: 'What was found.', schema: searchAnswer, example: searchExample, headers: ['Age'] } },
  errors: ['not_found'],
});
