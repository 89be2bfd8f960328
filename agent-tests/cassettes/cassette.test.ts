import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { testFolder } from '../../test/support/folders.ts';
import { Cassette, readCassette, writeCassette } from './cassette.ts';

const recorded = (text: string): Cassette =>
  new Cassette({ recordedAt: 0, recordings: [{ request: { provider: 'openai', model: 'm' }, answer: { stream: [text] } }] });

it('replaces a recording whole, and leaves it as it was where that fails', async () => {
  const folder = testFolder();
  const file = join(folder, 'cassettes', 'hours.desk.yaml');
  await writeCassette(file, recorded('nine'), 'one');
  await writeCassette(file, recorded('ten'), 'two');
  expect((await readCassette(file))?.recordings).toMatchObject([{ answer: { stream: ['ten'] } }]);
  expect(await readdir(join(folder, 'cassettes'))).toEqual(['hours.desk.yaml']);
  await mkdir(`${file}.new`);
  await expect(writeCassette(file, recorded('eleven'), 'three')).rejects.toThrow('EISDIR');
  expect(await readFile(file, 'utf8')).toContain('ten');
});

it('refuses at once a recording whose aliases stand for billions of values', async () => {
  const file = join(testFolder(), 'evil.yaml');
  const level = (n: number) => `a${n}: &a${n} [${Array.from({ length: 10 }, () => (n === 0 ? 'x' : `*a${n - 1}`)).join(', ')}]`;
  const levels = Array.from({ length: 9 }, (_, n) => level(n));
  const answer = 'answers: [{request: {provider: openai, model: m, x: *a8}, answer: {stream: [hi]}}]';
  await writeFile(file, ['format: 2', 'recordedAt: 2026-01-01T00:00:00Z', ...levels, answer, ''].join('\n'));
  await expect(readCassette(file)).rejects.toThrow(
    expect.objectContaining({ name: 'CassetteError', message: expect.stringContaining('aliases') }),
  );
});

it.each(['{stream: words}', '{stream: [{delta: words}]}', '{body: {choices: []}}', 'words'])(
  'refuses an answer that is edited to %s',
  async (answer) => {
    const file = join(testFolder(), 'edited.yaml');
    await writeFile(
      file,
      `format: 2\nrecordedAt: 2026-01-01T00:00:00Z\nanswers: [{request: {provider: openai, model: m}, answer: ${answer}}]\n`,
    );
    await expect(readCassette(file)).rejects.toThrow('answers[0] has no readable request or answer');
  },
);

it('reads what a long test repeats in each of its requests', async () => {
  const file = join(testFolder(), 'long.yaml');
  const messages = Array.from({ length: 100 }, (_, n) => ({ role: 'user', content: `message ${n}` }));
  const recordings = messages.map((_, n) => ({
    request: { provider: 'openai', model: 'm', messages: messages.slice(0, n) },
    answer: { stream: ['x'] },
  }));
  await writeCassette(file, new Cassette({ recordedAt: 0, recordings }), 'long');
  expect((await readCassette(file))?.recordings).toEqual(recordings);
});
