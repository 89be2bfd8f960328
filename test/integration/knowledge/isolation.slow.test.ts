/** Organisations notice nothing of each other. */
import { afterAll, describe, expect, it } from 'vitest';

import { SMALL_FILE_BYTES } from '../../../knowledge/jobs/names.ts';
import type { Collection } from '../../../store/index.ts';
import { startMilvusLite, type MilvusLite } from '../../support/milvus-lite.ts';
import { knowledgeHarness, type KnowledgeHarness } from './harness.ts';

it('a small file is done, and others search, while twenty big ones of another organisation queue', async () => {
  const kb = await knowledgeHarness();
  const { documents } = kb.store.knowledge;
  const greedy = await kb.another({ org: 'globex', name: 'archive' });
  const known = await kb.add('known.txt', 'The lighthouse keeper has the spare key.');
  await kb.ended(known);

  const big = Array.from(
    { length: 2_400 },
    (_, index) => `Paragraph ${index}. ${'It has some words more to fill the line. '.repeat(6)}`,
  ).join('\n\n');
  expect(big.length).toBeGreaterThan(SMALL_FILE_BYTES);
  const queue = await Promise.all(Array.from({ length: 20 }, (_, index) => kb.add(`big-${index}.txt`, big, { to: greedy })));
  const small = await kb.add('small.txt', `The ferry leaves at nine. ${'It is a short way over the water. '.repeat(290)}`);

  let over = false;
  const keepers: (string | undefined)[] = [];
  const searching = (async () => {
    while (!over) keepers.push((await kb.search('lighthouse keeper'))[0]?.documentId);
  })();
  const ended = await kb.ended(small).finally(() => (over = true));
  const done = await documents.list({ org: 'globex', collectionId: greedy.id, pageSize: 100 });
  await searching;

  expect(ended).toMatchObject({ status: 'completed' });
  expect(done.items.filter(({ status }) => status === 'completed').length).toBeLessThan(10);
  expect(done.items.filter(({ status }) => status === 'failed')).toEqual([]);
  expect(new Set(keepers)).toEqual(new Set([known]));
  expect((await kb.search('ferry'))[0]?.documentId).toBe(small);
  // The test does not wait for the rest of them.
  for (const id of queue) await documents.tombstone({ org: 'globex', id, collectionId: greedy.id });
});

let milvus: Promise<MilvusLite> | undefined;
afterAll(async () => (await milvus)?.stop());

describe.each(['pgvector', 'milvus'])('in %s', (store) => {
  const open = async (): Promise<KnowledgeHarness> => {
    if (store === 'pgvector') return knowledgeHarness();
    milvus ??= startMilvusLite();
    const { host, port } = await milvus;
    return knowledgeHarness({ env: { VECTOR_STORE_URL: `milvus://${host}:${port}` } });
  };

  it('two organisations have documents of the same id, name and words, and see their own', async () => {
    const kb = await open();
    const mine = kb.collection;
    // Both have the very same name: a name is looked up within an organisation.
    const theirs = await kb.another({ org: 'globex', name: mine.name });
    const sibling = await kb.another({ name: 'other' });
    const text = 'The safe is behind the painting. The combination is written on the calendar.';
    const id = await kb.add('secret.txt', text, { metadata: { owner: 'acme' } });
    await kb.ended(id);
    // No upload chooses its id; a store that trusted in that would show it here.
    const copy = { org: 'globex', id, collectionId: theirs.id, kind: 'text', filename: 'secret.txt', content: `${text} Theirs.` } as const;
    await kb.store.knowledge.documents.create({ ...copy, metadata: { owner: 'globex' } });
    await kb.knowledge.jobs.ingest({ org: 'globex', knowledgeBase: 'manuals', collectionId: theirs.id, documentId: id, small: true });
    expect(await kb.ended(id, theirs)).toMatchObject({ status: 'completed', chunkCount: 1 });

    const owners = async (base: Collection, filter?: Readonly<Record<string, string>>) =>
      (await kb.search('combination of the safe', { in: base, topK: 100, ...(filter && { filter }) })).map(({ metadata, content }) => [
        metadata['owner'],
        content.endsWith('Theirs.'),
      ]);
    expect(await owners(mine)).toEqual([['acme', false]]);
    expect(await owners(theirs)).toEqual([['globex', true]]);
    expect(await owners(sibling)).toEqual([]);
    expect(await owners(mine, { owner: 'globex' })).toEqual([]);
    expect(await owners(theirs, { owner: 'acme' })).toEqual([]);
    // The other's knowledge base is found neither by its name, nor by its id.
    for (const knowledgeBase of [theirs.id, mine.id, 'archive'])
      expect(await kb.knowledge.search.search({ org: 'acme', knowledgeBase, query: 'safe', topK: 5 })).toBeUndefined();
    expect(await kb.store.knowledge.documents.get({ org: 'initech', id })).toBeUndefined();

    await kb.remove(id);
    expect(await owners(mine)).toEqual([]);
    expect(await owners(theirs)).toEqual([['globex', true]]);
    const space = { model: 'bm25', dimension: 0 };
    await expect.poll(() => kb.knowledge.vectors.count({ org: 'acme', collectionId: mine.id, space })).toBe(0);
    expect(await owners(theirs)).toEqual([['globex', true]]);
    await expect.poll(() => kb.files(id)).toEqual([]);
  });

  it('whatever a filter is made of, it finds the documents that have just that', async () => {
    const kb = await open();
    const theirs = await kb.another({ org: 'globex', name: 'theirs' });
    const hostile = [
      { team: `x' OR '1'='1` },
      { team: `x" or org == "globex` },
      { team: '") || true || ("' },
      { team: `') or 1=1; DROP TABLE parley.chunks; --` },
      { team: '\\"' },
      { team: '%' },
      { team: '$1' },
      { team: '{"$ne": null}' },
      { team: 'true' },
      { team: '1' },
      { team: 'a\nb\tc\rd' },
      { team: 'ভাষা 🚲 e\u0301' },
      { team: 'ভাষা 🚲 \u00e9' },
      { team: 'x'.repeat(512) },
      Object.fromEntries([['__proto__', 'x']]),
      { constructor: 'x' },
      { toString: 'x' },
      { org: 'globex' },
      { collection_id: theirs.id },
      { 'a.b': 'x' },
      { $eq: 'x' },
      { '0': 'x' },
    ] satisfies readonly Readonly<Record<string, string>>[];
    const text = 'A heron stands in the water.';
    const owned = new Map<string, Readonly<Record<string, string>>>();
    await Promise.all(hostile.map(async (metadata, index) => owned.set(await kb.add(`mine-${index}.txt`, text, { metadata }), metadata)));
    const foreign = await Promise.all(
      hostile.slice(0, 8).map((metadata, index) => kb.add(`theirs-${index}.txt`, text, { metadata, to: theirs })),
    );
    for (const id of owned.keys()) expect(await kb.ended(id)).toMatchObject({ status: 'completed' });
    for (const id of foreign) expect(await kb.ended(id, theirs)).toMatchObject({ status: 'completed' });
    expect(await kb.search('heron', { topK: 100 })).toHaveLength(hostile.length);

    const wrong: unknown[] = [];
    for (const [id, filter] of owned) {
      const found = (await kb.search('heron', { topK: 100, filter })).map(({ documentId }) => documentId);
      if (found.length !== 1 || found[0] !== id) wrong.push({ filter, found: found.map((other) => owned.get(other)) });
    }
    expect(wrong).toEqual([]);
    for (const filter of [{ team: 'x' }, { missing: '' }, { team: "x'" }, { team: 'a\\nb\\tc\\rd' }])
      expect(await kb.search('heron', { filter })).toEqual([]);
  });
});
