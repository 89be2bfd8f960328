import { z } from 'zod';

import { deleted, listOf } from '../codec/answers.ts';
import { deletionQuery, dryRunQuery, writeQuery } from '../http/conditions.ts';
import { routesOf } from '../http/route.ts';
import { resourcePage } from '../state/answers.ts';
import { knowledgeBaseExample } from './examples.ts';
import { knowledgeBaseAnswer, knowledgeBaseCreate, knowledgeBaseUpdate } from './fields.ts';

export const defineRoute = routesOf('Knowledge bases');
export const baseParams = { kb_id: 'The `id`: the name of the KnowledgeBase resource.' };

export const createKnowledgeBase = defineRoute({
  method: 'POST',
  path: '/api/v1/knowledge-bases',
  operationId: 'createKnowledgeBase',
  mcp: {},
  summary: 'Make a knowledge base',
  description: 'Documents can be put into it at once. It embeds them with the profile `default` of the operator configuration.',
  permission: 'knowledge_bases:write',
  query: z.object(dryRunQuery),
  body: knowledgeBaseCreate.meta({ id: 'KnowledgeBaseCreate' }),
  bodyExamples: {
    'what is needed': { name: 'Product manuals' },
    everything: { name: 'পণ্যের নির্দেশিকা', description: 'Manuals of everything we sell, for the support line.', document_language: 'bn' },
  },
  answers: {
    201: {
      description: 'The knowledge base.',
      schema: knowledgeBaseAnswer,
      example: knowledgeBaseExample,
      headers: ['ETag'],
      identifies: { kb_id: 'id' },
    },
  },
  errors: ['conflict'],
});

export const listKnowledgeBases = defineRoute({
  method: 'GET',
  path: '/api/v1/knowledge-bases',
  operationId: 'listKnowledgeBases',
  mcp: {},
  summary: 'List knowledge bases, in the order of their creation',
  permission: 'knowledge_bases:read',
  query: resourcePage,
  answers: {
    200: {
      description: 'A page of knowledge bases.',
      schema: listOf(knowledgeBaseAnswer, 'KnowledgeBaseList'),
      example: { data: [knowledgeBaseExample], next_page_token: null },
      headers: ['Age'],
    },
  },
});

export const getKnowledgeBase = defineRoute({
  method: 'GET',
  path: '/api/v1/knowledge-bases/:kb_id',
  operationId: 'getKnowledgeBase',
  summary: 'Get a knowledge base',
  permission: 'knowledge_bases:read',
  params: baseParams,
  answers: {
    200: { description: 'The knowledge base.', schema: knowledgeBaseAnswer, example: knowledgeBaseExample, headers: ['ETag', 'Age'] },
  },
});

export const updateKnowledgeBase = defineRoute({
  method: 'PATCH',
  path: '/api/v1/knowledge-bases/:kb_id',
  operationId: 'updateKnowledgeBase',
  summary: 'Change the fields given',
  description:
    'Absent fields keep their value, `null` brings back the default. The language holds for documents to come and for searches; those that are there stay as they are.',
  permission: 'knowledge_bases:write',
  params: baseParams,
  query: writeQuery,
  ifMatch: true,
  body: knowledgeBaseUpdate.meta({ id: 'KnowledgeBaseUpdate' }),
  bodyExamples: { 'another name, and no description': { name: 'Manuals', description: null } },
  answers: {
    200: { description: 'The knowledge base as it is now.', schema: knowledgeBaseAnswer, example: knowledgeBaseExample, headers: ['ETag'] },
  },
  errors: ['conflict'],
});

export const deleteKnowledgeBase = defineRoute({
  method: 'DELETE',
  path: '/api/v1/knowledge-bases/:kb_id',
  operationId: 'deleteKnowledgeBase',
  summary: 'Delete a knowledge base with everything in it',
  description:
    'For good, whatever the deletion policy of the resource says. Nothing of it is found from the answer on. While an agent uses it the answer is 409, unless forced.',
  permission: 'knowledge_bases:write',
  params: baseParams,
  query: deletionQuery,
  ifMatch: true,
  answers: { 200: deleted('The knowledge base was deleted') },
  errors: ['conflict'],
});
