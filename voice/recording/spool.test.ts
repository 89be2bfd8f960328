import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeEach, expect, it } from 'vitest';

import { testFolder } from '../../test/support/folders.ts';
import { ensureSpool } from './spool.ts';

let folder: string;
beforeEach(() => void (folder = testFolder()));

it('is closed to other users', async () => {
  const spool = join(folder, 'spool');
  await ensureSpool(spool);
  await ensureSpool(spool);
  expect((await stat(spool)).mode & 0o777).toBe(0o700);
});

it('is refused where others may put something into it', async () => {
  await chmod(folder, 0o777);
  await expect(ensureSpool(folder)).rejects.toThrow(`chmod go-w ${folder}`);
});

it('is refused where it is somebody else’s', async () => {
  const { uid } = await stat(folder);
  await expect(ensureSpool(folder, uid + 1)).rejects.toThrow('belongs to another user');
});
