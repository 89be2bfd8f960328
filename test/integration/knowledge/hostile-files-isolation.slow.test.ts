/** A process that has read other files, honest and hostile, in random orders, reads a file as a new process does. */
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { mulberry } from '../../../platform/mulberry.ts';
import { QUICK_HOSTILE_FILES } from '../../support/documents/hostile-files.ts';
import { HONEST_FILES, type HonestFile } from '../../support/documents/honest-files.ts';
import { outcomeOf, parserPool } from '../../support/documents/read.ts';

const hostile = QUICK_HOSTILE_FILES.filter(([what]) => what !== '20,000 nested quotes');
const corpus: readonly HonestFile[] = [
  ...HONEST_FILES,
  ...hostile.map(([what, extension, content], at): HonestFile => ({ name: `${at}: ${what}`, extension, content })),
];
const seed = Number(process.env['PARLEY_TEST_SEED'] ?? Date.now() % 1e6);

const inNew = parserPool({ size: 2, recycle: { documents: 1 } });
const registry = new Registry();
const inUsed = parserPool({ size: 1, registry });
const expected = new Map<HonestFile, string>();

beforeAll(async () => {
  await Promise.all(corpus.map(async (file) => expected.set(file, await outcomeOf(inNew, file))));
});
afterAll(() => Promise.all([inNew.close(), inUsed.close()]));

function shuffled(random: () => number, files: readonly HonestFile[]): readonly HonestFile[] {
  return files
    .map((file) => ({ file, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ file }) => file);
}

/** Counts the processes that have ended. */
async function ended(): Promise<number> {
  const { values } = (await registry.getSingleMetric('parley_parser_processes_ended_total')?.get()) ?? { values: [] };
  return values.reduce((sum, { value }) => sum + value, 0);
}

describe(`files in used processes (PARLEY_TEST_SEED=${seed})`, () => {
  it('says of honest files what they say', () => {
    for (const file of HONEST_FILES) expect(JSON.parse(expected.get(file) ?? '{}'), file.name).toHaveProperty('blocks');
  });

  it('reads honest files the same after any other, and in the same processes', async () => {
    const random = mulberry(seed);
    const endedBefore = await ended();
    for (let round = 0; round < 5; round += 1)
      for (const file of shuffled(random, HONEST_FILES)) expect(await outcomeOf(inUsed, file), file.name).toBe(expected.get(file));
    // No file is suspected of having left anything.
    expect(await ended()).toBeLessThanOrEqual(endedBefore + Math.ceil((5 * HONEST_FILES.length) / 50));
  });

  it('reads A, then B, then A of the same kind, for every B', async () => {
    const random = mulberry(seed + 1);
    for (const other of shuffled(random, HONEST_FILES))
      for (const file of shuffled(
        random,
        HONEST_FILES.filter(({ extension }) => extension === other.extension),
      ).slice(0, 4))
        for (const next of [file, other, file])
          expect(await outcomeOf(inUsed, next), `${file.name} with ${other.name}`).toBe(expected.get(next));
  });

  it('reads all of the corpus the same, hostile files between honest ones', async () => {
    for (const file of shuffled(mulberry(seed + 2), corpus)) expect(await outcomeOf(inUsed, file), file.name).toBe(expected.get(file));
  });

  it('keeps the files of two tenants apart that are read at the same time', async () => {
    const pool = parserPool({ size: 2 });
    try {
      const files = shuffled(mulberry(seed + 3), corpus);
      await Promise.all(files.map(async (file) => expect(await outcomeOf(pool, file), file.name).toBe(expected.get(file))));
    } finally {
      await pool.close();
    }
  });
});
