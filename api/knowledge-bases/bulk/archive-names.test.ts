import { expect, it } from 'vitest';

import { archiveName, baseName, isNoFile, pathFault } from './archive-names.ts';

const named = (fileNameRaw: Buffer, generalPurposeBitFlag = 0) => archiveName({ fileNameRaw, generalPurposeBitFlag, extraFields: [] });

it('reads names in UTF-8 with and without the flag, and old ones in code page 437', () => {
  expect(named(Buffer.from('হাতল.md'))).toBe('হাতল.md');
  expect(named(Buffer.from('হাতল.md'), 0x800)).toBe('হাতল.md');
  expect(named(Buffer.from([0x81, 0x2e, 0x6d, 0x64]))).toBe('ü.md');
  expect(named(Buffer.from('docs\\a.md'))).toBe('docs/a.md');
});

it.each([
  ['Japanese, with a backslash as the second byte of a character', '97bf8be0955c2e6d64', '料金表.md'],
  ['Japanese, with a folder', '8381836a8385815b5c612e6d64', 'メニュー/a.md'],
  ['Chinese', 'bcdbb8f1b1ed2e6d64', '价格表.md'],
  ['German', '477294e1652e6d64', 'Größe.md'],
  ['French', '8a748220832e6d64', 'èté â.md'],
])('reads a name of an old encoding: %s', (_, hex, name) => {
  expect(named(Buffer.from(hex, 'hex'))).toBe(name);
});

it('sees what climbs out of an archive', () => {
  for (const name of ['/a.md', 'C:/a.md', '../a.md', 'a/../../b.md', '..', 'a/..']) expect(pathFault(name), name).toMatch(/archive/);
  for (const name of ['a.md', 'a/b.md', '..a/b.md', 'a..b.md', '...']) expect(pathFault(name), name).toBeUndefined();
});

it('leaves out folders, what macOS adds and what Office keeps beside an open document', () => {
  const names = ['docs/', '__MACOSX/._a.md', 'a.md', 'docs/__MACOSX.md', 'docs/~$lock.docx', '~a.md'];
  expect(names.map(isNoFile)).toEqual([true, true, false, false, true, false]);
  expect(['a.md', 'docs/b/a.md'].map(baseName)).toEqual(['a.md', 'a.md']);
});
