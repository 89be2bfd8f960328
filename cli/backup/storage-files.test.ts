import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { beforeEach, expect, it } from 'vitest';

import { testFolder } from '../../test/support/folders.ts';
import { listedFiles, prefixesOf, putFiles, saveFiles, withStorage } from './storage-files.ts';

let scratch: string;
beforeEach(async () => {
  scratch = testFolder();
  await mkdir(join(scratch, 'home', 'org'), { recursive: true });
  for (let number = 10; number < 40; number += 1) await writeFile(join(scratch, 'home', 'org', `${number}.txt`), `file ${number}`);
});

const at = (folder: string): string => pathToFileURL(join(scratch, folder)).href;

/** Aborts when `after` files are done. */
function watched(after = Number.POSITIVE_INFINITY) {
  const controller = new AbortController();
  const shown: string[] = [];
  const show = (done: number, total: number, more: string): void => {
    shown.push(`${done} of ${total} ${more}`);
    if (done >= after) controller.abort();
  };
  return { prefixes: [''], shown, signal: controller.signal, progress: { show, note: () => undefined, line: () => undefined } };
}

it('saves and restores all files, and shows how far it is', async () => {
  const saving = watched();
  const { count } = await withStorage(at('home'), (storage) => saveFiles(storage, scratch, saving));
  expect(count).toBe(30);
  expect([saving.shown.length, saving.shown.at(-1)]).toEqual([30, '30 of 30 files']);
  const files = await listedFiles(scratch);
  const restoring = watched();
  await withStorage(at('other'), (storage) => putFiles(storage, scratch, { files, ...restoring }));
  expect(await readdir(join(scratch, 'other', 'org'))).toEqual(await readdir(join(scratch, 'home', 'org')));
  expect(restoring.shown.at(-1)).toBe('30 of 30 files');
});

it('saves the files of one organisation alone, recordings included', async () => {
  for (const path of ['organic', 'recordings/org', 'recordings/organic']) {
    await mkdir(join(scratch, 'home', path), { recursive: true });
    await writeFile(join(scratch, 'home', path, 'one.ogg'), path);
  }
  const { count } = await withStorage(at('home'), (storage) => saveFiles(storage, scratch, { ...watched(), prefixes: prefixesOf('org') }));
  expect(count).toBe(31);
  expect((await readdir(join(scratch, 'files'))).toSorted()).toEqual(['org', 'recordings']);
  expect(await readdir(join(scratch, 'files', 'recordings'))).toEqual(['org']);
});

it('begins no other file after an abort, and has ended when it says so', async () => {
  const saving = watched(5);
  await expect(withStorage(at('home'), (storage) => saveFiles(storage, scratch, saving))).rejects.toThrow('abort');
  const saved = await readdir(join(scratch, 'files', 'org'));
  expect(saved.length).toBeLessThan(10);
  await rm(join(scratch, 'files'), { recursive: true });
  await new Promise(setImmediate);
  expect(await readdir(scratch)).toEqual(['home']);
});
