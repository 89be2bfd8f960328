import type { FastifyInstance } from 'fastify';

import type { ApiDependencies } from '../dependencies.ts';
import { JobStarter } from '../../knowledge/jobs/job-starter.ts';
import { parseFilter } from '../../knowledge/search-filter.ts';
import type { EqualityFilter } from '../../knowledge/vector-stores/vector-store.ts';
import { ValidationError, notFound } from '../http/api-error.ts';
import { requireObject, sendEtag, writeModeOf } from '../http/conditions.ts';
import { requestState } from '../http/request-state.ts';
import { addRoute } from '../http/route.ts';
import type { KindContext } from '../kinds/context.ts';
import type { FindUsers } from '../references/users.ts';
import { listPage } from '../state/list-page.ts';
import { stateOf } from '../state/resource-state.ts';
import { issues } from '../validation/issue.ts';
import { BaseCollections } from './base-collections.ts';
import { registerBulkUpload } from './bulk/bulk-routes.ts';
import { BulkService } from './bulk/bulk-service.ts';
import { knowledgeBaseToRest } from './fields.ts';
import { createKnowledgeBase, deleteKnowledgeBase, getKnowledgeBase, listKnowledgeBases, updateKnowledgeBase } from './descriptions.ts';
import { registerDocuments } from './document-routes.ts';
import { DocumentService } from './document-service.ts';
import { KnowledgeBaseService } from './knowledge-base-service.ts';
import { SNIPPET_LENGTH } from './schema.ts';
import { searchKnowledgeBase } from './search-descriptions.ts';

export function registerKnowledgeBases(
  app: FastifyInstance,
  context: KindContext,
  { store, knowledge, logger, clock, registry }: Pick<ApiDependencies, 'store' | 'knowledge' | 'logger' | 'clock' | 'registry'>,
  users: readonly FindUsers[],
): void {
  const { collections } = store.knowledge;
  const starter = new JobStarter({ jobs: knowledge.jobs, logger });
  const bases = new BaseCollections({ views: context.views, collections, profiles: knowledge.profiles });
  const service = new KnowledgeBaseService({ context, collections, rerankProfiles: knowledge.rerankProfiles, starter, users });
  registerDocuments(app, {
    documents: new DocumentService({ bases, store: store.knowledge, files: knowledge.files, starter }),
    pageTokens: context.pageTokens,
  });
  app.addHook('onClose', () => starter.close());
  // It closes before the starter, which its last documents need.
  registerBulkUpload(app, new BulkService({ bases, store: store.knowledge, files: knowledge.files, starter, clock, logger, registry }));

  addRoute(app, createKnowledgeBase, async ({ query, body, caller, reply }) => {
    const base = await service.create(caller, body, { dryRun: query.dry_run });
    sendEtag(reply, base.metadata.resourceVersion);
    return reply.code(201).send(knowledgeBaseToRest(base, undefined));
  });

  addRoute(app, listKnowledgeBases, async ({ query, caller: { org }, timed }) => {
    const objects = await context.views.knowledgeBases.list(org);
    const { items, next_page_token } = await listPage(context.pageTokens, { list: `knowledge-bases/${org}`, objects, query, stateOf });
    const counts = await timed('db', () => service.documentCounts(org, items));
    return { data: items.map((base) => knowledgeBaseToRest(base, counts.get(base.metadata.name))), next_page_token };
  });

  addRoute(app, getKnowledgeBase, async ({ params, caller: { org }, reply, timed }) => {
    const base = requireObject(reply, await context.views.knowledgeBases.get(org, params.kb_id), 'Knowledge base');
    const counts = await timed('db', () => service.documentCounts(org, [base]));
    return knowledgeBaseToRest(base, counts.get(base.metadata.name));
  });

  addRoute(app, updateKnowledgeBase, async ({ params, query, body, caller: { org }, request, reply, timed }) => {
    const base = requireObject(reply, await service.update(org, params.kb_id, body, writeModeOf(query, request)), 'Knowledge base');
    const counts = await timed('db', () => service.documentCounts(org, [base]));
    return knowledgeBaseToRest(base, counts.get(base.metadata.name));
  });

  addRoute(app, deleteKnowledgeBase, async ({ params, query, caller, request }) => {
    if (!(await service.delete(caller, params.kb_id, writeModeOf(query, request)))) throw notFound('Knowledge base');
    return { data: {}, message: query.dry_run ? 'The knowledge base would be deleted' : 'The knowledge base was deleted' };
  });

  addRoute(app, searchKnowledgeBase, async ({ body, caller: { org }, request, timed }) => {
    const { query, knowledge_base_id: name, top_k: topK } = body;
    const filter = body.filter === undefined || body.filter === null ? undefined : readFilter(body.filter);
    const { signal } = requestState(request);
    const hits = await timed('search', () =>
      knowledge.search.search({
        org,
        knowledgeBase: name,
        query,
        topK,
        snippetLengths: [SNIPPET_LENGTH],
        signal,
        ...(filter && { filter }),
      }),
    );
    // A knowledge base without a collection may not exist: its resource decides.
    if (hits === undefined) await timed('db', () => bases.find(org, name));
    return {
      query,
      results: (hits ?? []).map((hit) => ({
        chunk_id: hit.chunkId,
        document_id: hit.documentId,
        filename: hit.filename,
        content: hit.content,
        snippet: hit.snippet ?? hit.content,
        score: hit.score,
        chunk_index: hit.chunkIndex,
        metadata: hit.metadata,
      })),
    };
  });
}

/** Reads the `filter` of a search. @throws ValidationError with every part of it that can't be applied */
function readFilter(filter: Readonly<Record<string, unknown>>): EqualityFilter {
  const parsed = parseFilter(filter);
  if (parsed.ok) return parsed.filter;
  throw new ValidationError(parsed.problems.map(({ path, message }) => issues.value(['body', 'filter', ...path], message)));
}
