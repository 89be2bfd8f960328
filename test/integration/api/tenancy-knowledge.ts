/** Requests the routes of knowledge bases, for the model of two organisations. */
import { anId, aName, atMost, list, pick, same, type Generator, type Situation } from './tenancy-model.ts';

const all = '/api/v1/knowledge-bases';

const baseId = (situation: Situation): string => anId(situation, [...situation.own.bases.keys()], [...situation.foreign.bases.keys()]);

/** Picks a document, mostly under the knowledge base that it is in. */
function aDocument(situation: Situation): { readonly path: string; readonly id: string; readonly isThere: boolean } {
  const { own, foreign, random } = situation;
  const id = anId(situation, [...own.documents.keys()], [...foreign.documents.keys()]);
  const home = own.documents.get(id) ?? foreign.documents.get(id);
  const base = home !== undefined && random() < 0.8 ? home : baseId(situation);
  return { path: `${all}/${base}/documents/${id}`, id, isThere: own.documents.get(id) === base };
}

const ofDocument =
  (suffix: string): Generator =>
  (situation) => {
    const { path, id, isThere } = aDocument(situation);
    return {
      request: { path: path + suffix },
      expected: { status: isThere ? 200 : 404, learn: ({ body }) => same(body.document_id, id, `the document at ${path}`) },
    };
  };

export const knowledgeGenerators: Readonly<Record<string, Generator>> = {
  [`POST ${all}`]: (situation) => {
    const { own, random } = situation;
    const name = aName(situation);
    const kind = own.bases.size >= atMost ? 'broken' : (pick(random, ['made', 'made', 'broken', 'taken'] as const) ?? 'made');
    const taken = pick(random, [...own.bases.values()]);
    const sent = kind === 'broken' ? 5 : kind === 'taken' ? (taken ?? name) : name;
    return {
      request: { path: all, body: { name: sent } },
      expected: {
        status: kind === 'broken' ? 422 : kind === 'taken' && taken !== undefined ? 409 : 201,
        learn: ({ body }) => void own.bases.set(body.id as string, sent as string),
      },
    };
  },
  [`GET ${all}`]: list(
    all,
    ({ bases }) => [...bases.keys()],
    (item) => item['id'],
  ),
  [`GET ${all}/:kb_id`]: (situation) => {
    const { own } = situation;
    const id = baseId(situation);
    const name = own.bases.get(id);
    const documents = [...own.documents.values()].filter((base) => base === id).length;
    return {
      request: { path: `${all}/${id}` },
      expected: {
        status: name === undefined ? 404 : 200,
        learn: ({ body }) => same([body.name, body.total_documents], [name, documents], `the knowledge base ${id}`),
      },
    };
  },
  [`PATCH ${all}/:kb_id`]: (situation) => {
    const { own, random } = situation;
    const id = baseId(situation);
    const name = aName(situation);
    const kind = pick(random, ['changed', 'broken', 'dryRun', 'outdated'] as const) ?? 'changed';
    const sound = kind === 'outdated' ? 412 : 200;
    return {
      request: {
        path: `${all}/${id}`,
        body: { name: kind === 'broken' ? null : name },
        ...(kind === 'dryRun' && { query: 'dry_run=true' }),
        ...(kind === 'outdated' && { headers: { 'if-match': '"1"' } }),
      },
      expected: {
        status: kind === 'broken' ? 422 : own.bases.has(id) ? sound : 404,
        learn: ({ body }) => {
          same(body.name, name, `the new name of ${id}`);
          if (kind === 'changed') own.bases.set(id, name);
        },
      },
    };
  },
  [`DELETE ${all}/:kb_id`]: (situation) => {
    const { own, random } = situation;
    const id = baseId(situation);
    // A knowledge base that is there is seldom deleted, so that there are some.
    const dryRun = random() < 0.9;
    return {
      request: { path: `${all}/${id}`, ...(dryRun && { query: 'dry_run=true' }) },
      expected: {
        status: own.bases.has(id) ? 200 : 404,
        learn: () => {
          if (dryRun) return;
          own.bases.delete(id);
          const inIt = [...own.documents].filter(([, base]) => base === id).map(([document]) => document);
          for (const document of inIt) own.documents.delete(document);
          own.gone.push(id, ...inIt);
        },
      },
    };
  },
  // Other suites send forms and lines: the body here is neither, whatever the address.
  [`POST ${all}/:kb_id/documents/file`]: (situation) => ({
    request: { path: `${all}/${baseId(situation)}/documents/file`, body: {} },
    expected: { status: 415 },
  }),
  [`POST ${all}/:kb_id/documents/bulk`]: (situation) => ({
    request: { path: `${all}/${baseId(situation)}/documents/bulk`, body: {} },
    expected: { status: 415 },
  }),
  [`POST ${all}/:kb_id/documents/website`]: (situation) => {
    const { own, random } = situation;
    const id = baseId(situation);
    const broken = own.documents.size >= atMost || random() < 0.2;
    return {
      request: {
        path: `${all}/${id}/documents/website`,
        body: { page_urls: broken ? [] : [`https://example.com/${own.marker}`] },
      },
      expected: {
        status: broken ? 422 : own.bases.has(id) ? 202 : 404,
        learn: ({ body }) => void own.documents.set(body.document_id as string, id),
      },
    };
  },
  [`GET ${all}/:kb_id/documents`]: (situation) => {
    const { own } = situation;
    const id = baseId(situation);
    const inIt = [...own.documents].filter(([, base]) => base === id).map(([document]) => document);
    return {
      request: { path: `${all}/${id}/documents`, query: 'page_size=100' },
      expected: {
        status: own.bases.has(id) ? 200 : 404,
        learn: ({ body }) =>
          same(
            body.data.map((item: { document_id: string }) => item.document_id),
            inIt,
            `the documents of ${id}`,
          ),
      },
    };
  },
  [`GET ${all}/:kb_id/documents/:document_id`]: ofDocument(''),
  [`GET ${all}/:kb_id/documents/:document_id/status`]: ofDocument('/status'),
  [`GET ${all}/:kb_id/documents/:document_id/chunks`]: ofDocument('/chunks'),
  [`DELETE ${all}/:kb_id/documents/:document_id`]: (situation) => {
    const { own, random } = situation;
    const theirs = random() < 0.7;
    const { path, id, isThere } = aDocument(theirs ? { ...situation, own: situation.foreign, foreign: own } : situation);
    if (theirs && own.documents.has(id)) return { request: { path: `${all}/-/documents/${id}` }, expected: { status: 404 } };
    return {
      request: { path },
      expected: { status: isThere && !theirs ? 200 : 404, learn: () => void (own.documents.delete(id) && own.gone.push(id)) },
    };
  },
  'POST /api/v1/vector/search': (situation) => {
    const id = baseId(situation);
    return {
      request: { path: '/api/v1/vector/search', body: { query: 'anything', knowledge_base_id: decodeURIComponent(id) } },
      expected: { status: situation.own.bases.has(id) ? 200 : 404, learn: ({ body }) => same(body.results, [], `what is found in ${id}`) },
    };
  },
};
