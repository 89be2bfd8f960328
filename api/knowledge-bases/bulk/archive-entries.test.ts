import { Readable } from 'node:stream';

import { expect, it } from 'vitest';

import { makeZip, type ZipEntry } from '../../../test/support/documents/make-zip.ts';
import { openArchiveEntries } from './archive-entries.ts';
import { StoredFileReader } from './stored-file-reader.ts';

async function opened(entries: readonly ZipEntry[]): Promise<readonly (string | null)[]> {
  const zip = makeZip(entries);
  const files = {
    read: async (_key: string, { range = { start: 0, end: zip.length - 1 } } = {}) =>
      Readable.from([zip.subarray(range.start, range.end + 1)]),
  };
  const reader = new StoredFileReader({ files, key: 'zip', bytes: zip.length, signal: new AbortController().signal });
  const names: (string | null)[] = [];
  for await (const { name } of await openArchiveEntries(reader, zip.length)) names.push(name);
  return names;
}

it('gives the files of an archive, without the locks of open documents', async () => {
  expect(
    await opened([
      { name: 'a.md', content: 'a' },
      { name: '~$b.docx', content: 'b' },
      { name: 'c/d.md', content: 'd' },
    ]),
  ).toEqual(['a.md', 'c/d.md']);
});

it('names the file that unpacks to too much, if it is one', async () => {
  const small = { name: 'a.md', content: 'a' };
  await expect(opened([small, { name: 'logs/big.txt', content: 'b', declared: 90_000_000 }])).rejects.toThrow(
    'unpacked, the archive has more than 200 times its size, most of it in "logs/big.txt": leave that file out',
  );
  const parts = [1, 2, 3].map((at) => ({ name: `${at}.txt`, content: 'b', declared: 8_000_000 }));
  await expect(opened(parts)).rejects.toThrow('unpacked, the archive has more than 200 times its size: make several archives');
});
