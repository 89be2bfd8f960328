import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { testFolder } from '../../../test/support/folders.ts';
import { run } from '../../../test/support/run.ts';
import { tar } from './tar.ts';

it('writes what tar reads: empty files, whole blocks, long paths', async () => {
  const folder = testFolder();
  const long = `${'folder-with-a-long-name/'.repeat(6)}${'x'.repeat(90)}.json`;
  const files = [
    { path: 'a/empty.txt', content: '' },
    { path: 'a/block.txt', content: 'b'.repeat(512) },
    { path: 'a/ünïcode.txt', content: 'grüße\n' },
    { path: long, content: 'c'.repeat(1000) },
  ];
  const archive = tar(
    files.map(({ path, content }) => ({ path, content: Buffer.from(content) })),
    1_700_000_000,
  );
  await writeFile(join(folder, 'x.tar'), archive);
  expect(await run('tar', ['-xf', 'x.tar'], { cwd: folder })).toMatchObject({ code: 0, stderr: '' });
  for (const { path, content } of files) expect(await readFile(join(folder, path), 'utf8')).toBe(content);
});

it('refuses a path that has no room', () => {
  expect(() => tar([{ path: 'x'.repeat(101), content: new Uint8Array() }], 0)).toThrow('too long');
});
