import { readFile } from 'node:fs/promises';

import { Client, Connection } from '@temporalio/client';
import { describe, expect, it, onTestFinished } from 'vitest';

import { clearDocument } from '../../../knowledge/ingestion/clear-document.ts';
import { indexDocument } from '../../../knowledge/ingestion/index-document.ts';
import { collectionRef } from '../../../knowledge/search/create-search.ts';
import { eventually } from '../../support/eventually.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { knowledgeHarness, startWorker } from './harness.ts';

const example = (name: string) => readFile(new URL(`../../../examples/documents/${name}`, import.meta.url));

describe('a document', () => {
  it('is found with its place as soon as it is completed, and not a moment longer than it is there', async () => {
    const kb = await knowledgeHarness();
    const ids = await Promise.all([
      kb.add('bicycle-care.pdf', await example('bicycle-care.pdf'), { metadata: { topic: 'care' } }),
      kb.add('price-list.xlsx', await example('price-list.xlsx')),
      kb.add('bangla-faq.txt', await example('bangla-faq.txt')),
    ]);
    const ended = await Promise.all(ids.map((id) => kb.ended(id)));
    expect(ended.map(({ status, message }) => [status, message])).toEqual([
      ['completed', expect.stringMatching(/chunks? can be found/)],
      ['completed', expect.any(String)],
      ['completed', expect.any(String)],
    ]);

    const [chain] = await kb.search('when does a chain have to be replaced');
    expect(chain).toMatchObject({ filename: 'bicycle-care.pdf', metadata: { page: 2, topic: 'care' } });
    expect(chain?.metadata['heading_path']).toContain('When to replace it');
    expect(chain?.score).toBeGreaterThan(0);
    expect(chain?.score).toBeLessThanOrEqual(1);
    const [lamp] = await kb.search('HB-5150');
    expect(lamp).toMatchObject({
      filename: 'price-list.xlsx',
      metadata: { sheet: 'Parts' },
      content: expect.stringContaining('Dynamo hub lamp'),
    });
    const [free] = await kb.search('দুই সপ্তাহ পর্যন্ত কোনো ভাড়া ছাড়াই সাইকেল রাখা হয়');
    expect(free).toMatchObject({ filename: 'bangla-faq.txt' });
    expect((await kb.search('chain', { filter: { topic: 'prices' } })).map(({ filename }) => filename)).toEqual([]);
    expect((await kb.search('chain', { filter: { topic: 'care' } }))[0]?.filename).toBe('bicycle-care.pdf');

    // People find the work in Temporal by what it is about.
    const connection = await Connection.connect({ address: kb.env['TEMPORAL_ADDRESS'] ?? '' });
    onTestFinished(() => connection.close());
    const { workflow } = new Client({ connection });
    const query = `ParleyOrganization = 'acme' AND ParleyKnowledgeBase = 'manuals' AND ParleyDocument = '${ids[0]}'`;
    await eventually(async () => {
      const found: string[] = [];
      for await (const { workflowId } of workflow.list({ query })) found.push(workflowId);
      expect(found).toEqual([`ingest/${ids[0]}`]);
    });

    const [care] = ids;
    await kb.remove(care);
    expect((await kb.search('when does a chain have to be replaced')).filter(({ documentId }) => documentId === care)).toEqual([]);
    await eventually(async () => {
      expect(await kb.files(care)).toEqual([]);
      expect(
        await kb.knowledge.vectors.count({ org: 'acme', collectionId: kb.collection.id, space: { model: 'bm25', dimension: 0 } }, care),
      ).toBe(0);
      expect(await kb.store.knowledge.documents.existing({ org: 'acme', ids: [care] })).toEqual(new Set());
    });
  });

  it.each([
    ['empty.txt', '', 'empty_document'],
    ['blank.md', ' \n\n\t', 'empty_document'],
    ['renamed.pdf', 'this is no PDF', 'unsupported_content'],
    ['cut.docx', 'PK\u0003\u0004 and nothing behind it', 'corrupt_file'],
  ])('that is no good (%s) ends as failed, with its code and a cure', async (filename, content, code) => {
    const kb = await knowledgeHarness();
    const document = await kb.ended(await kb.add(filename, content));
    expect(document).toMatchObject({ status: 'failed', errorCode: code, chunkCount: 0 });
    expect(document.message.length).toBeGreaterThan(20);
    expect(await kb.search('anything')).toEqual([]);
  });

  it('is completed although its workflow could not be started when it came', async () => {
    const address = await temporalAddress();
    const kb = await knowledgeHarness({ env: { TEMPORAL_ADDRESS: '127.0.0.1:9' }, worker: false });
    const id = await kb.add('note.txt', 'The gate code is 4711.');
    expect(await kb.store.knowledge.documents.get({ org: 'acme', id })).toMatchObject({ status: 'processing', stage: 'queued' });
    await startWorker({ ...kb.env, TEMPORAL_ADDRESS: address });
    expect(await kb.ended(id)).toMatchObject({ status: 'completed', chunkCount: 1 });
    expect(await kb.search('gate code')).toHaveLength(1);
  });

  it.each(['document', 'knowledge base'])('leaves no vectors when its %s is cleared away just before they are written', async (what) => {
    const kb = await knowledgeHarness();
    const { org, id: collectionId, uid } = kb.collection;
    const { knowledge, vectors } = kb.knowledge;
    const document = await kb.ended(await kb.add('note.txt', 'The gate code is 4711.'));
    const upsert: typeof vectors.upsert = async (...args) => {
      if (what === 'document') await knowledge.documents.tombstone({ org, id: document.id, collectionId });
      else await knowledge.collections.tombstone({ org, uid });
      await clearDocument({ collection: kb.collection, documentId: document.id }, kb.knowledge);
      if (what !== 'document') {
        await vectors.deleteCollection(collectionRef(kb.collection));
        await knowledge.collections.remove({ org, id: collectionId });
      }
      await vectors.upsert(...args);
    };
    const step = { document, collection: kb.collection, signal: new AbortController().signal, report: async () => {} };
    await indexDocument({ ...step, from: 0 }, { ...kb.knowledge, vectors: { ...vectors, upsert } });
    expect(await vectors.count(collectionRef(kb.collection))).toBe(0);
    if (what !== 'document') expect(await kb.sql('SELECT FROM parley.vector_collections')).toEqual([]);
  });
});
