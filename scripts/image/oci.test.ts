import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { testFolder } from '../../test/support/folders.ts';
import { run } from '../../test/support/run.ts';
import { writableFolders } from './meta.ts';
import { writeTar } from './oci.ts';

async function layer(): Promise<string> {
  const folder = testFolder();
  for (const path of ['etc', 'tmp', 'var/lib/parley']) await mkdir(join(folder, 'layer', path), { recursive: true });
  await writeFile(join(folder, 'layer/etc/passwd'), 'root\n');
  // The builder's umask may have made it writable for all.
  await chmod(join(folder, 'layer/etc'), 0o777);
  return folder;
}

it('gives everything to root, and to the user of the image what it writes to', async () => {
  const folder = await layer();
  const [first, second] = [join(folder, 'a.tar'), join(folder, 'b.tar')];
  const options = { folder: join(folder, 'layer'), epoch: 1_700_000_000, writable: writableFolders };
  await writeTar({ ...options, file: first });
  const { stdout } = await run('tar', ['--list', '--verbose', '--numeric-owner', '--file', first]);
  const found = Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/))
      .map(([mode, owner, , , , name = '']) => [name, `${mode} ${owner}`]),
  );
  expect(found).toEqual({
    './': 'drwxr-xr-x 0/0',
    './etc/': 'drwxr-xr-x 0/0',
    './etc/passwd': '-rw-r--r-- 0/0',
    './tmp/': 'drwxrwxrwt 0/0',
    './var/': 'drwxr-xr-x 0/0',
    './var/lib/': 'drwxr-xr-x 0/0',
    './var/lib/parley/': 'drwxr-x--- 65532/65532',
  });
  await writeTar({ ...options, file: second });
  expect((await readFile(first)).equals(await readFile(second))).toBe(true);
});
