import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { ensureSpool } from './spool.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-spool-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

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

it.skipIf(process.getuid?.() === 0)('is refused where it is somebody else’s', async () => {
  await expect(ensureSpool('/')).rejects.toThrow('belongs to another user');
});
