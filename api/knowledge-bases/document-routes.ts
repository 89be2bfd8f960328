import { Readable } from 'node:stream';

import type { FastifyInstance } from 'fastify';

import type { DocumentRecord } from '../../store/index.ts';
import { addRoute } from '../http/route.ts';
import type { PageTokens } from '../pagination/page-token.ts';
import { documentStatusToRest, documentToRest } from './document-codec.ts';
import {
  deleteDocument,
  getDocument,
  getDocumentChunks,
  getDocumentStatus,
  listDocuments,
  submitFile,
  submitWebsite,
} from './document-descriptions.ts';
import type { DocumentService } from './document-service.ts';

export function registerDocuments(
  app: FastifyInstance,
  { documents, pageTokens }: { readonly documents: DocumentService; readonly pageTokens: PageTokens },
): void {
  addRoute(app, submitFile, async ({ params, caller, request, reply, timed }) => {
    const document = await timed('upload', () => documents.submitFile(caller, params.kb_id, request));
    return reply.code(202).send(acknowledge(document));
  });

  addRoute(app, submitWebsite, async ({ params, body, caller, reply, timed }) => {
    const document = await timed('db', () => documents.submitWebsite(caller, params.kb_id, body));
    return reply.code(202).send(acknowledge(document));
  });

  addRoute(app, listDocuments, async ({ params: { kb_id: id }, query, caller: { org }, timed }) => {
    const list = `documents/${org}/${id}`;
    const [createdAt, documentId] = query.page_token === undefined ? [] : pageTokens.read(list, query.page_token);
    const after = createdAt === undefined || documentId === undefined ? undefined : { createdAt: new Date(createdAt), id: documentId };
    const { items, next } = await timed('db', () => documents.list(org, id, { pageSize: query.page_size, after }));
    return {
      data: items.map((document) => documentToRest(document, id)),
      next_page_token: next === undefined ? null : pageTokens.write(list, [next.createdAt.toISOString(), next.id]),
    };
  });

  addRoute(app, getDocument, async ({ params, caller: { org }, timed }) => {
    const document = await timed('db', () => documents.get(org, params.kb_id, params.document_id));
    return documentToRest(document, params.kb_id);
  });

  addRoute(app, getDocumentStatus, async ({ params, caller: { org }, timed }) =>
    documentStatusToRest(await timed('db', () => documents.get(org, params.kb_id, params.document_id))),
  );

  addRoute(app, getDocumentChunks, async ({ params, caller: { org }, reply, timed }) => {
    const { document, chunks } = await timed('db', () => documents.chunks(org, params.kb_id, params.document_id));
    return reply.type('application/json; charset=utf-8').send(chunkStream(document, chunks));
  });

  addRoute(app, deleteDocument, async ({ params, caller: { org }, timed }) => {
    await timed('db', () => documents.delete(org, params.kb_id, params.document_id));
    return { data: {}, message: 'The document was deleted' };
  });
}

function acknowledge({ id, status }: DocumentRecord) {
  return { document_id: id, status, message: 'The document was accepted and is being ingested' };
}

/** Streams a document's chunks as JSON, written as they are read: 20 MB of text are never whole in memory. */
function chunkStream({ id, filename, status, chunkCount }: DocumentRecord, chunks: AsyncIterable<string>): Readable {
  const head = { document_id: id, filename, chunk_count: status === 'completed' ? chunkCount : 0, chunks: [] };
  return Readable.from(
    (async function* () {
      yield JSON.stringify(head).slice(0, -2);
      let separator = '';
      for await (const chunk of chunks) {
        yield separator + JSON.stringify(chunk);
        separator = ',';
      }
      yield ']}';
    })(),
    { objectMode: false },
  );
}
