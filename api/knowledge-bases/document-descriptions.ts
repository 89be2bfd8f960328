import { deleted, listOf } from '../codec/answers.ts';
import { pageQuery } from '../pagination/keyset.ts';
import { acknowledgement, chunksAnswer, documentAnswer, documentStatusAnswer } from './answers.ts';
import { baseParams, defineRoute } from './descriptions.ts';
import { acknowledgementExample, chunksExample, documentExample, documentStatusExample } from './examples.ts';
import { fileForm, websiteSubmission } from './schema.ts';

const documentParams = { ...baseParams, document_id: 'The `document_id` of the acknowledgement.' };

const accepted = {
  description: 'The document is taken on. Its status says when it can be found, or why it can not.',
  schema: acknowledgement,
  example: acknowledgementExample,
  identifies: { document_id: 'document_id' },
};

export const submitFile = defineRoute({
  method: 'POST',
  path: '/api/v1/knowledge-bases/:kb_id/documents/file',
  operationId: 'submitFile',
  summary: 'Put a file into a knowledge base',
  description:
    'Each request makes another document, also of a file that is there already. The parts of the form may come in any order. An upload may take as long as it keeps coming: 16 KiB a second at least, and never half a minute without a byte.',
  permission: 'knowledge_bases:write',
  params: baseParams,
  form: fileForm,
  bodyExamples: { 'with what searches can filter by': { file: 'manual.pdf', metadata: '{"product": "XK-7420", "year": 2026}' } },
  answers: { 202: accepted },
  errors: ['conflict'],
});

export const submitWebsite = defineRoute({
  method: 'POST',
  path: '/api/v1/knowledge-bases/:kb_id/documents/website',
  operationId: 'submitWebsite',
  summary: 'Put web pages into a knowledge base, as one document',
  description:
    'Each page may have 5 MB and 20 s; `robots.txt` is obeyed. Where some pages can not be read the document is completed without them and says so; where none can, it fails.',
  permission: 'knowledge_bases:write',
  params: baseParams,
  body: websiteSubmission.meta({ id: 'WebsiteSubmission' }),
  bodyExamples: { 'two pages': { page_urls: ['https://www.example.com/faq', 'https://www.example.com/terms.pdf'] } },
  answers: { 202: accepted },
  errors: ['conflict'],
});

export const listDocuments = defineRoute({
  method: 'GET',
  path: '/api/v1/knowledge-bases/:kb_id/documents',
  operationId: 'listDocuments',
  mcp: {},
  summary: 'List the documents of a knowledge base, in the order of their submission',
  permission: 'knowledge_bases:read',
  params: baseParams,
  query: pageQuery,
  answers: {
    200: {
      description: 'A page of documents.',
      schema: listOf(documentAnswer, 'DocumentList'),
      example: { data: [documentExample], next_page_token: null },
      headers: ['Age'],
    },
  },
});

export const getDocument = defineRoute({
  method: 'GET',
  path: '/api/v1/knowledge-bases/:kb_id/documents/:document_id',
  operationId: 'getDocument',
  summary: 'Get a document',
  permission: 'knowledge_bases:read',
  params: documentParams,
  answers: { 200: { description: 'The document.', schema: documentAnswer, example: documentExample, headers: ['Age'] } },
});

export const getDocumentStatus = defineRoute({
  method: 'GET',
  path: '/api/v1/knowledge-bases/:kb_id/documents/:document_id/status',
  operationId: 'getDocumentStatus',
  summary: 'Get how far the ingestion of a document is',
  description: 'To be asked until `status` is `completed` or `failed`. From `completed` on the document is found.',
  permission: 'knowledge_bases:read',
  params: documentParams,
  answers: { 200: { description: 'The status.', schema: documentStatusAnswer, example: documentStatusExample, headers: ['Age'] } },
});

export const getDocumentChunks = defineRoute({
  method: 'GET',
  path: '/api/v1/knowledge-bases/:kb_id/documents/:document_id/chunks',
  operationId: 'getDocumentChunks',
  summary: 'Get the pieces of a document that can be found',
  description: 'All of them in one answer, which may have some 20 MB and comes as it is read. None before the document is completed.',
  permission: 'knowledge_bases:read',
  params: documentParams,
  answers: {
    200: { description: 'The chunks, in the order of the document.', schema: chunksAnswer, example: chunksExample, headers: ['Age'] },
  },
});

export const deleteDocument = defineRoute({
  method: 'DELETE',
  path: '/api/v1/knowledge-bases/:kb_id/documents/:document_id',
  operationId: 'deleteDocument',
  summary: 'Delete a document',
  description:
    'Nothing of it is found from the answer on. A document that comes from a source of the KnowledgeBase resource is taken out there: here that answers 409.',
  permission: 'knowledge_bases:write',
  params: documentParams,
  answers: { 200: deleted('The document was deleted') },
  errors: ['conflict'],
});
