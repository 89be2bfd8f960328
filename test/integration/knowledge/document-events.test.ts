/** Each document that came to its end has one event, written in the transaction that ended it. */
import { beforeAll, describe, expect, it } from 'vitest';

import { documentCompleted, documentFailed } from '../../../knowledge/ingestion/complete-document.ts';
import type { EndedDocument, NewEvent, Store } from '../../../store/index.ts';
import { migratedDatabase, openPatientStore } from '../../support/postgres.ts';
import { completeDocument } from '../../support/complete-document.ts';

const org = 'acme';
const now = Date.parse('2026-02-01T12:00:00Z');
const failure = { code: 'corrupt_file', message: 'the file ends in the middle' };

let store: Store;
const after = '00000000-0000-0000-0000-000000000000';
beforeAll(async () => {
  const { url } = await migratedDatabase();
  store = openPatientStore(url);
  return () => store.close();
});

let made = 0;
async function collection(workspace?: string) {
  made += 1;
  return store.knowledge.collections.ensure({
    org,
    name: `kb-${made}`,
    uid: `uid-${made}`,
    profile: 'default',
    model: 'bm25',
    dimension: 0,
    language: 'en',
    maxTokens: 400,
    overlapTokens: 50,
    workspace,
  });
}

async function parsedDocument(collectionId: string, source?: { readonly name: string; readonly revision: string }) {
  const { id } = await store.knowledge.documents.create({
    org,
    collectionId,
    kind: 'file',
    filename: 'a.txt',
    ...(source && { source: source.name, sourceRevision: source.revision }),
  });
  const place = { headingPath: [], page: null, sheet: null, url: null, firstRow: null, lastRow: null };
  await store.knowledge.ingestion.addChunks({ org, id }, [{ ordinal: 0, text: 'text', indexedText: 'text', tokens: 1, ...place }]);
  await store.knowledge.ingestion.parsed({ org, id }, { warnings: [], chunkCount: 1, termTotal: 1, terms: { terms: [7], chunks: [1] } });
  return { org, id };
}

const completed = (ended: EndedDocument): NewEvent => documentCompleted(ended, now);
const failed = (ended: EndedDocument): NewEvent => documentFailed(ended, failure, now);

const seen = new Set<string>();

/** Returns the events that were written since the last look. Their ids are of the time that the test says. */
async function news() {
  const events = await store.webhooks.events({ org, after, limit: 100 });
  const fresh = events.filter(({ id }) => !seen.has(id));
  for (const { id } of fresh) seen.add(id);
  return fresh.map(({ name, workspace, agent, body }) => ({
    name,
    workspace,
    agent,
    body: JSON.parse(body?.toString() ?? 'null') as unknown,
  }));
}

describe('a document', () => {
  it('that can be found has an event, with its workspace', async () => {
    const { id: collectionId, name } = await collection('north');
    const ref = await parsedDocument(collectionId);
    await completeDocument(store.knowledge, ref, completed);
    expect(await news()).toEqual([
      {
        name: 'KnowledgeBase.DocumentCompleted',
        workspace: 'north',
        agent: undefined,
        body: {
          organizationId: org,
          traceId: expect.stringMatching(/^evt_[0-9a-f-]{36}$/),
          eventName: 'KnowledgeBase.DocumentCompleted',
          timestamp: now / 1000,
          payload: { knowledge_base_id: name, document_id: ref.id, status: 'completed', chunk_count: 1 },
        },
      },
    ]);
    // A second end is none.
    expect(await completeDocument(store.knowledge, ref, completed)).toBeUndefined();
    expect(await store.knowledge.ingestion.fail(ref, failure, failed)).toBe(false);
    expect(await news()).toEqual([]);
  });

  it('that can’t be ingested has an event, with the reason', async () => {
    const { id: collectionId, name } = await collection();
    const ref = await parsedDocument(collectionId);
    await store.knowledge.ingestion.fail(ref, failure, failed);
    expect(await news()).toMatchObject([
      {
        name: 'KnowledgeBase.DocumentFailed',
        workspace: undefined,
        body: { payload: { knowledge_base_id: name, document_id: ref.id, status: 'failed', error: failure } },
      },
    ]);
  });

  it('is at no end when its event can’t be written, and there is no event when it can’t be ended', async () => {
    const { id: collectionId } = await collection();
    const ref = await parsedDocument(collectionId);
    const tooLarge = (ended: EndedDocument): NewEvent => ({ ...completed(ended), body: Buffer.alloc(2_000_000) });
    await expect(completeDocument(store.knowledge, ref, tooLarge)).rejects.toMatchObject({ kind: 'invalid' });
    expect((await store.knowledge.documents.get(ref))?.status).toBe('processing');
    expect(await news()).toEqual([]);
    await completeDocument(store.knowledge, ref, completed);
    expect(await news()).toHaveLength(1);
  });

  it('that was replaced or deleted before it ended never ended', async () => {
    const { id: collectionId } = await collection();
    const source = (revision: string) => ({ name: 'handbook', revision });
    const older = await parsedDocument(collectionId, source('1'));
    const newer = await parsedDocument(collectionId, source('2'));
    expect(await completeDocument(store.knowledge, newer, completed)).toEqual([older.id]);
    expect(await completeDocument(store.knowledge, older, completed)).toBeUndefined();
    expect(await store.knowledge.ingestion.fail(older, failure, failed)).toBe(false);
    const deleted = await parsedDocument(collectionId);
    await store.knowledge.documents.tombstone({ org, id: deleted.id, collectionId });
    expect(await completeDocument(store.knowledge, deleted, completed)).toBeUndefined();
    expect(await news()).toMatchObject([{ body: { payload: { document_id: newer.id } } }]);
  });

  it('is of the workspace that its knowledge base has now', async () => {
    const kb = await collection('north');
    const ref = await parsedDocument(kb.id);
    const spec = { ...kb, workspace: 'south' };
    await store.knowledge.collections.ensure(spec);
    await completeDocument(store.knowledge, ref, completed);
    expect(await news()).toMatchObject([{ workspace: 'south' }]);
    expect(await store.knowledge.collections.byName({ org, name: kb.name })).toMatchObject({ workspace: 'south' });
  });
});
