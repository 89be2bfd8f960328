import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { fileProblem } from './file-error.ts';

it('says why a file can not be read in words', async () => {
  const failing = (path: string) => readFile(path).catch(fileProblem);
  expect(await failing(join(tmpdir(), 'nowhere', 'at-all'))).toBe('there is no such file or folder');
  expect(await failing(tmpdir())).toBe('it is a folder');
  expect(fileProblem(new Error('it is damaged'))).toBe('it is damaged');
});
