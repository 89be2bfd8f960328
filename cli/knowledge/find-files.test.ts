import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { testFolder } from '../../test/support/folders.ts';
import { findFiles } from './find-files.ts';

async function aFolder(): Promise<string> {
  const folder = testFolder();
  await mkdir(join(folder, 'b/.git'), { recursive: true });
  await mkdir(join(folder, 'empty'));
  for (const file of ['a.md', '.hidden.md', 'b/c.md', 'b/.git/d.md']) await writeFile(join(folder, file), file);
  await symlink(folder, join(folder, 'b/up'));
  return folder;
}

const found = (paths: readonly string[], stdinName?: string) =>
  findFiles({
    paths,
    stdinName,
    stdin: (async function* () {
      yield Buffer.from('text');
    })(),
  });

it('takes folders with all below them, each file once, without hidden ones and without following links upwards', async () => {
  const folder = await aFolder();
  const uploads = await found([folder, join(folder, 'a.md'), `${folder}/b/../a.md`]);
  expect(uploads.map(({ file }) => file.slice(folder.length + 1))).toEqual(['a.md', 'b/c.md', 'b/up', 'empty']);
  expect(uploads.map(({ filename }) => filename)).toEqual(['a.md', 'c.md', 'up', 'empty']);
  expect(await (await uploads[1]?.open())?.text()).toBe('b/c.md');
});

it('says of each one that cannot be read why, when it is opened', async () => {
  const folder = await aFolder();
  const [empty, missing, , link] = await found([join(folder, 'empty'), join(folder, 'missing.md'), join(folder, 'b')]);
  await expect(link?.open()).rejects.toThrow('it is a link to a folder');
  await expect(empty?.open()).rejects.toThrow('a folder without files');
  await expect(missing?.open()).rejects.toThrow(/cannot be read: there is no such file or folder/);
});

it('reads standard input, which needs a name', async () => {
  const [upload] = await found(['-'], 'notes.md');
  expect(upload).toMatchObject({ file: 'notes.md', filename: 'notes.md' });
  expect(await (await upload?.open())?.text()).toBe('text');
  await expect(found(['-'])).rejects.toMatchObject({ cure: expect.stringContaining('--name notes.md') });
});
