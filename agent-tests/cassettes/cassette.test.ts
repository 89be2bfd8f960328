import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { Cassette, readCassette, writeCassette } from './cassette.ts';

const recorded = (text: string): Cassette =>
  new Cassette({ recordedAt: 0, recordings: [{ request: { provider: 'openai', model: 'm' }, answer: { text } }] });

it('replaces a recording whole, and leaves it as it was where that fails', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-cassette-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'cassettes', 'hours.desk.yaml');
  await writeCassette(file, recorded('nine'), 'one');
  await writeCassette(file, recorded('ten'), 'two');
  expect((await readCassette(file))?.recordings).toMatchObject([{ answer: { text: 'ten' } }]);
  expect(await readdir(join(folder, 'cassettes'))).toEqual(['hours.desk.yaml']);
  await mkdir(`${file}.new`);
  await expect(writeCassette(file, recorded('eleven'), 'three')).rejects.toThrow('EISDIR');
  expect(await readFile(file, 'utf8')).toContain('ten');
});
