import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { testFolder } from '../../test/support/folders.ts';
import { Cassette, readCassette, writeCassette } from './cassette.ts';

const recorded = (text: string): Cassette =>
  new Cassette({ recordedAt: 0, recordings: [{ request: { provider: 'openai', model: 'm' }, answer: { text } }] });

it('replaces a recording whole, and leaves it as it was where that fails', async () => {
  const folder = testFolder();
  const file = join(folder, 'cassettes', 'hours.desk.yaml');
  await writeCassette(file, recorded('nine'), 'one');
  await writeCassette(file, recorded('ten'), 'two');
  expect((await readCassette(file))?.recordings).toMatchObject([{ answer: { text: 'ten' } }]);
  expect(await readdir(join(folder, 'cassettes'))).toEqual(['hours.desk.yaml']);
  await mkdir(`${file}.new`);
  await expect(writeCassette(file, recorded('eleven'), 'three')).rejects.toThrow('EISDIR');
  expect(await readFile(file, 'utf8')).toContain('ten');
});
