/** Tests what a search may answer while documents come, go and take each other's place. */
import { expect, it } from 'vitest';

import type { DocumentRecord } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { knowledgeHarness, startWorker, type KnowledgeHarness } from './harness.ts';

/** Makes chunks that all have the same rare word. */
const chapters = (word: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `# Chapter ${index}\n\nThe ${word} is described here, with ${index} other things.`).join(
    '\n\n',
  );

const inStore = (kb: KnowledgeHarness, documentId: string): Promise<number> =>
  kb.knowledge.vectors.count({ org: 'acme', collectionId: kb.collection.id, space: { model: 'bm25', dimension: 0 } }, documentId);

/**
 * Searches 1,000 times and more, and deletes the document in the middle. Each search records whether it began after that; the last 200 do.
 */
async function searchWhileRemoving(kb: KnowledgeHarness, gone: string, remove: () => Promise<unknown>) {
  const seen: { readonly after: boolean; readonly hits: number; readonly ofGone: number }[] = [];
  let removed = false;
  let removing: Promise<void> | undefined;
  let [begun, begunAfter] = [0, 0];
  const lane = async (): Promise<void> => {
    while (begun < 1_000 || begunAfter < 200) {
      begun += 1;
      if (begun === 200) removing = remove().then(() => void (removed = true));
      const after = removed;
      if (after) begunAfter += 1;
      const hits = await kb.search('zeppelin');
      seen.push({ after, hits: hits.length, ofGone: hits.filter(({ documentId }) => documentId === gone).length });
    }
  };
  await Promise.all(Array.from({ length: 40 }, lane));
  await removing;
  return seen;
}

it.each([
  ['while its vectors go', true],
  ['while its vectors stay, without a sweep', false],
])('a deleted document is in none of a thousand searches, %s', async (_when, cleared) => {
  const kb = await knowledgeHarness({ worker: false });
  const worker = await startWorker(kb.env);
  // The document stands before the others while it is there; they are enough for every search to answer.
  const gone = await kb.add('gone.md', chapters('zeppelin zeppelin', 60));
  const others = await Promise.all(['one.md', 'two.md'].map((name) => kb.add(name, chapters('zeppelin', 20))));
  for (const id of [gone, ...others]) expect(await kb.ended(id)).toMatchObject({ status: 'completed' });
  if (!cleared) await worker.stop();

  const seen = await searchWhileRemoving(kb, gone, () =>
    cleared ? kb.remove(gone) : kb.store.knowledge.documents.tombstone({ org: 'acme', id: gone, collectionId: kb.collection.id }),
  );
  expect(seen.length).toBeGreaterThanOrEqual(1_000);
  expect(seen.some(({ after, ofGone }) => !after && ofGone > 0)).toBe(true);
  const after = seen.filter((search) => search.after);
  expect(after.filter(({ ofGone }) => ofGone > 0)).toEqual([]);
  // The chunks behind it move up, and nothing is missing for its sake.
  expect(seen.filter(({ hits }) => hits < 5)).toEqual([]);
  if (cleared) await eventually(async () => expect(await inStore(kb, gone)).toBe(0));
  else expect(await inStore(kb, gone)).toBe(60);
  expect(await kb.store.knowledge.documents.get({ org: 'acme', id: gone })).toBeUndefined();
});

it('the first search after `completed` finds it, whatever else is being completed', async () => {
  const kb = await knowledgeHarness();
  const words = Array.from({ length: 30 }, (_, index) => `marker${index.toString(36)}x`);
  const ids = await Promise.all(words.map((word) => kb.add(`${word}.txt`, `What is to be known of ${word} stands here.`)));
  const open = new Map(ids.map((id, index) => [id, words[index] ?? '']));
  const missed: string[] = [];
  const statuses = new Set<DocumentRecord['status']>();
  await eventually(async () => {
    const { items } = await kb.store.knowledge.documents.list({ org: 'acme', collectionId: kb.collection.id, pageSize: 100 });
    const ended = items.filter(({ id, status }) => open.has(id) && status !== 'processing');
    await Promise.all(
      ended.map(async ({ id, status }) => {
        const hits = await kb.search(open.get(id) ?? '', { topK: 1 });
        if (hits[0]?.documentId !== id) missed.push(id);
        statuses.add(status);
        open.delete(id);
      }),
    );
    if (open.size > 0) throw new Error(`${open.size} documents are at work still`);
  }, 5);
  expect([...statuses]).toEqual(['completed']);
  expect(missed).toEqual([]);
});

it('the replacement of a source leaves no moment without an answer, and no way back to the old one', async () => {
  const kb = await knowledgeHarness();
  const { knowledge } = kb.store;
  const collectionId = kb.collection.id;
  const refresh = async (revision: number): Promise<string> => {
    const text = chapters(`zeppelin of revision ${revision}`, 5 + revision);
    const state = { source: 'faq', sourceRevision: `r${revision}`, content: text };
    const { id } = await knowledge.documents.create({ org: 'acme', collectionId, kind: 'text', filename: 'faq.md', ...state });
    await kb.knowledge.jobs.ingest({ org: 'acme', knowledgeBase: 'manuals', collectionId, documentId: id, small: true });
    return id;
  };
  const ids = [await refresh(0)];
  await kb.ended(ids[0] ?? '');

  let over = false;
  const answers: number[][] = [];
  const lane = async (): Promise<void> => {
    const own: number[] = [];
    answers.push(own);
    while (!over) {
      const [first] = await kb.search('zeppelin', { topK: 3 });
      own.push(first === undefined ? -1 : Number(/revision (\d+)/.exec(first.content)?.[1]));
    }
  };
  const lanes = Array.from({ length: 4 }, lane);
  try {
    for (let revision = 1; revision <= 5; revision += 1) {
      const id = await refresh(revision);
      ids.push(id);
      expect(await kb.ended(id)).toMatchObject({ status: 'completed' });
    }
  } finally {
    over = true;
  }
  await Promise.all(lanes);
  for (const own of answers) {
    expect(own).not.toContain(-1);
    expect(own).toEqual(own.toSorted((a, b) => a - b));
  }
  expect(Math.max(...answers.flat())).toBeGreaterThanOrEqual(4);
  // The document was replaced and cleared away five times.
  await eventually(async () => {
    expect(await knowledge.documents.existing({ org: 'acme', ids })).toEqual(new Set(ids.slice(-1)));
    expect(await inStore(kb, ids.at(-1) ?? '')).toBe(10);
  });
  expect((await kb.search('zeppelin', { topK: 20 })).map(({ documentId }) => documentId)).toEqual(Array(10).fill(ids.at(-1)));
});
