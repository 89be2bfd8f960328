import { expect, it } from 'vitest';

import { archiveName, baseName, isNoFile, pathFault } from './archive-names.ts';

const named = (fileNameRaw: Buffer, generalPurposeBitFlag = 0) => archiveName({ fileNameRaw, generalPurposeBitFlag, extraFields: [] });

it('reads names in UTF-8 with and without the flag, and old ones in code page 437', () => {
  expect(named(Buffer.from('হাতল.md'))).toBe('হাতল.md');
  expect(named(Buffer.from('হাতল.md'), 0x800)).toBe('হাতল.md');
  expect(named(Buffer.from([0x81, 0x2e, 0x6d, 0x64]))).toBe('ü.md');
  expect(named(Buffer.from('docs\\a.md'))).toBe('docs/a.md');
});

it('sees what climbs out of an archive', () => {
  for (const name of ['/a.md', 'C:/a.md', '../a.md', 'a/../../b.md', '..', 'a/..']) expect(pathFault(name), name).toMatch(/archive/);
  for (const name of ['a.md', 'a/b.md', '..a/b.md', 'a..b.md', '...']) expect(pathFault(name), name).toBeUndefined();
});

it('leaves out folders and what macOS adds', () => {
  expect(['docs/', '__MACOSX/._a.md', 'a.md', 'docs/__MACOSX.md'].map(isNoFile)).toEqual([true, true, false, false]);
  expect(['a.md', 'docs/b/a.md'].map(baseName)).toEqual(['a.md', 'a.md']);
});
