import { expect, it } from 'vitest';

import { systemClock, type Clock } from '../../platform/clock.ts';
import type { OfflineBase } from './offline.ts';
import { reindex } from './reindex.ts';

/** A worker that goes through three documents, one with each look at it, then ends as `outcome` says. */
function working(outcome: 'done' | 'failed' | 'endless', { left = { id: 'col_1' } }: { readonly left?: object | undefined } = {}) {
  const ended = Promise.withResolvers<void>();
  let documents = 0;
  const jobs = {
    reindex: () => Promise.resolve(),
    reindexed: () => ended.promise,
    reindexProgress: () => {
      documents += 1;
      if (documents === 3 && outcome === 'done') ended.resolve();
      if (documents === 1 && outcome === 'failed') ended.reject(new Error('it failed'));
      return Promise.resolve(Math.min(documents, 3));
    },
  };
  const collections = { overview: () => Promise.resolve({ documents: { total: 3 } }), byName: () => Promise.resolve(left) };
  const store = { knowledge: { collections } };
  return {
    store,
    knowledge: { jobs },
    collection: { org: 'acme', name: 'manuals', id: 'col_1', chunkCount: 12 },
  } as unknown as OfflineBase;
}

/** Waits take no time. */
const clock: Clock = { ...systemClock, after: (_ms, callback) => systemClock.after(0, callback) };

function watching() {
  const controller = new AbortController();
  const said: string[] = [];
  const progress = {
    show: (done: number, total: number) => said.push(`${done} of ${total}`),
    line: (text: string) => said.push(text),
    note: (text: string) => said.push(text),
  };
  return { said, controller, options: { progress, clock, signal: controller.signal } };
}

it('shows the documents that are done until all are', async () => {
  const { said, options } = watching();
  await reindex(working('done'), { ...options, detach: false });
  expect(said).toEqual(['12 chunks of acme/manuals are being indexed', '1 of 3', '2 of 3', 'done']);
});

it('fails as the work does', async () => {
  await expect(reindex(working('failed'), { ...watching().options, detach: false })).rejects.toThrow('it failed');
});

it('says that the knowledge base was deleted meanwhile', async () => {
  const { said, options } = watching();
  const deleted = reindex(working('done', { left: {} }), { ...options, detach: false });
  await expect(deleted).rejects.toThrow('the knowledge base acme/manuals was deleted while it was indexed');
  expect(said).not.toContain('done');
});

it('leaves the work to the worker after Ctrl-C, and says how to watch it again', async () => {
  const { options, controller } = watching();
  const watched = reindex(working('endless'), { ...options, detach: false });
  controller.abort();
  await expect(watched).rejects.toMatchObject({ exitCode: 130, cure: expect.stringContaining('parley kb reindex acme manuals') });
});

it('only starts it when it is detached', async () => {
  const { said, options } = watching();
  await reindex(working('endless'), { ...options, detach: true });
  expect(said).toHaveLength(1);
});
