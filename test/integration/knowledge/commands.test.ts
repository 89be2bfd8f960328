import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { repositoryRoot } from '../../../local-stack/repository.ts';
import { collectionRef } from '../../../knowledge/search/create-search.ts';
import { testFolder } from '../../support/folders.ts';
import { run } from '../../support/run.ts';
import { knowledgeHarness, type KnowledgeHarness } from './harness.ts';

const parley = (kb: KnowledgeHarness, ...args: readonly string[]) =>
  run(join(repositoryRoot(), 'bin/parley'), ['kb', ...args], { env: kb.env });

it('reindex rebuilds lost vectors', async () => {
  const kb = await knowledgeHarness();
  const short = await kb.ended(await kb.add('short.txt', 'A gate.'));
  const long = await kb.ended(
    await kb.add('long.md', `# Gates\n\n${'The northern gate is opened with a code of four digits. '.repeat(12)}`),
  );
  const ref = collectionRef(kb.collection);
  await kb.knowledge.vectors.deleteCollection(ref);
  expect(await kb.search('northern gate')).toEqual([]);

  const done = await parley(kb, 'reindex', 'acme', 'manuals');
  expect([done.code, done.stderr]).toEqual([0, expect.stringContaining('done')]);
  expect((await kb.search('northern gate'))[0]?.documentId).toBe(long.id);
  expect(await kb.knowledge.vectors.count(ref)).toBe(short.chunkCount + long.chunkCount);
});

it('export writes each document with its file and chunks', async () => {
  const kb = await knowledgeHarness();
  const folder = testFolder();
  const text = '# Opening hours\n\nFrom nine to six.\n';
  const good = await kb.ended(await kb.add('hours.md', text, { metadata: { topic: 'hours' } }));
  const bad = await kb.ended(await kb.add('empty.txt', ''));
  const done = await parley(kb, 'export', 'acme', 'manuals', '--output-dir', folder);
  expect([done.code, done.stderr]).toEqual([0, expect.stringContaining('2 documents')]);
  const read = (...path: string[]) => readFile(join(folder, ...path), 'utf8');
  expect((await readdir(folder)).toSorted()).toEqual([good.id, bad.id].toSorted());
  expect(await read(good.id, 'file.md')).toBe(text);
  expect(JSON.parse(await read(good.id, 'document.json'))).toMatchObject({
    filename: 'hours.md',
    metadata: { topic: 'hours' },
    status: 'completed',
  });
  expect(JSON.parse((await read(good.id, 'chunks.ndjson')).split('\n')[0] ?? '')).toMatchObject({
    ordinal: 0,
    headingPath: ['Opening hours'],
  });
  expect(JSON.parse(await read(bad.id, 'document.json'))).toMatchObject({ status: 'failed', errorCode: 'empty_document' });
});

it('both name a knowledge base that is not there, and what to look at', async () => {
  const kb = await knowledgeHarness({ worker: false });
  for (const args of [
    ['reindex', 'acme', 'nothing'],
    ['export', 'acme', 'nothing', '--output-dir', '/nowhere'],
  ]) {
    const refused = await parley(kb, ...args);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/no knowledge base "nothing"[\s\S]*kubectl get knowledgebases/),
    ]);
  }
});
