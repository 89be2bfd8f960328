/** Small documents that are read side by side are written together, and end each by itself. */
import { mulberry } from '../../../platform/mulberry.ts';
import { expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { expectCountedOnce } from './counted-once.ts';
import { knowledgeHarness } from './harness.ts';

it('fail or are completed each by itself', async () => {
  const kb = await knowledgeHarness();
  const names = Array.from({ length: 40 }, (_, index) => `marker${index.toString(36)}x`);
  const good = names.map((name) => kb.add(`${name}.txt`, `What is to be known of ${name} stands here.`));
  const bad = [kb.add('empty.txt', ''), kb.add('renamed.pdf', 'this is no PDF')];
  const ids = await Promise.all(good);
  for (const id of ids) expect(await kb.ended(id)).toMatchObject({ status: 'completed', stage: 'completed', chunkCount: 1 });
  const failed = await Promise.all((await Promise.all(bad)).map((id) => kb.ended(id)));
  expect(failed.map(({ errorCode }) => errorCode)).toEqual(['empty_document', 'unsupported_content']);
  for (const [index, name] of names.entries()) expect((await kb.search(name))[0]?.documentId).toBe(ids[index]);
  await kb.sql(`DELETE FROM parley.documents WHERE status = 'failed'`);
  await expectCountedOnce(kb, ids);
});

it('go on in stages where they turn out to have very many chunks', async () => {
  const kb = await knowledgeHarness();
  const sections = Array.from({ length: 400 }, (_, index) => `# Section ${index}\n\nItem PX-${100_000 + index} is described here.`);
  const id = await kb.add('sections.md', sections.join('\n\n'));
  expect(await kb.ended(id)).toMatchObject({ status: 'completed', chunkCount: 400 });
  expect((await kb.search('PX-100399'))[0]?.documentId).toBe(id);
  await expectCountedOnce(kb, [id]);
});

it.each([1, 2])('leave nothing behind when they are deleted at any moment (%i)', async (seed) => {
  const random = mulberry(seed);
  const kb = await knowledgeHarness();
  const kept: string[] = [];
  const gone: string[] = [];
  const { documents } = kb.store.knowledge;
  const completed = async (): Promise<number> => {
    const { items } = await documents.list({ org: 'acme', collectionId: kb.collection.id, pageSize: 100 });
    return items.filter(({ id, status }) => kept.includes(id) && status === 'completed').length;
  };
  await Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      const after = random() < 0.5 ? undefined : Math.floor(random() * 10);
      const id = await kb.add(`file-${index}.txt`, `Zeppelin ${index} is described here.`);
      (after === undefined ? kept : gone).push(id);
      if (after === undefined) return;
      // The document is removed once so many of those that stay have been read.
      await eventually(async () => expect(await completed()).toBeGreaterThanOrEqual(after), 20);
      await kb.remove(id);
    }),
  );
  for (const id of kept) expect(await kb.ended(id)).toMatchObject({ status: 'completed' });
  await eventually(async () => {
    expect(await kb.store.knowledge.documents.existing({ org: 'acme', ids: gone })).toEqual(new Set());
    await expectCountedOnce(kb, kept);
  });
  expect((await kb.search('zeppelin', { topK: 30 })).map(({ documentId }) => documentId).toSorted()).toEqual(kept.toSorted());
  const space = { model: 'bm25', dimension: 0 };
  expect(await kb.knowledge.vectors.count({ org: 'acme', collectionId: kb.collection.id, space })).toBe(kept.length);
});
