import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { checkIds } from './checks.ts';
import { checkClocks } from './clocks.ts';

it('every check has its section among the cures, and no section is of a check that there is not', () => {
  const page = readFileSync(new URL('../../docs/operations/troubleshooting.md', import.meta.url), 'utf8');
  const sections = [...page.matchAll(/^### ([a-z-]+)\n(.+)/gm)].map(([, id = '']) => id);
  expect(sections.toSorted()).toEqual(checkIds.toSorted());
});

const reading = (of: string, at: number, step = 1) => ({ of, at, asked: 1_000_000, answered: 1_000_100, step });

it('clocks differ only by what the time of the question and the fineness of the answer leave no doubt of', () => {
  expect(checkClocks([])).toMatchObject({ outcome: 'warn' });
  expect(checkClocks([reading('Postgres', 1_000_050), reading('the API server', 999_500, 1_000)])).toMatchObject({
    outcome: 'ok',
    detail: 'Postgres has the same time, the API server has the same time',
  });
  expect(checkClocks([reading('Postgres', 1_003_100)])).toMatchObject({ outcome: 'warn', detail: 'Postgres is 3.0 s ahead' });
  expect(checkClocks([reading('Postgres', 1_000_050), reading('the API server', 0, 1_000)])).toMatchObject({
    outcome: 'fail',
    detail: expect.stringContaining('the API server is 17 minutes behind') as string,
    cure: expect.stringContaining('NTP') as string,
  });
});
