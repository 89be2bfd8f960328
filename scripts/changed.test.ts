import { expect, it } from 'vitest';

import { importersOf, relatedTests } from './changed.ts';

const imports = [
  { importer: 'b.ts', imported: 'a.ts' },
  { importer: 'c.test.ts', imported: 'b.ts' },
  { importer: 'a.ts', imported: 'c.test.ts' },
  { importer: 'd.ts', imported: 'e.ts' },
];

it('finds what imports a file, at any distance, also around a cycle', () => {
  expect([...importersOf(['a.ts'], imports)]).toEqual([
    ['a.ts', 0],
    ['b.ts', 1],
    ['c.test.ts', 2],
  ]);
});

it('chooses the tests of a source file, those that name the folder of another file, and no slow suite', () => {
  expect(relatedTests(['scripts/imports.ts']).chosen).toEqual(
    expect.arrayContaining(['scripts/imports.test.ts', 'scripts/changed.test.ts']),
  );
  expect(relatedTests(['examples/argocd/health.lua']).chosen).toContain('test/integration/charts/health.test.ts');
  const { chosen, left, leftToAll } = relatedTests(['platform/clock.ts']);
  expect(chosen.filter((file) => file.startsWith('test/integration/'))).toHaveLength(6);
  expect(chosen.filter((file) => file.includes('.slow.'))).toEqual([]);
  expect(left).toBeGreaterThan(0);
  expect(leftToAll).toBeGreaterThan(0);
});

it.each([
  ['voice/job', 'call-job.ts', 'test/integration/voice/conversation.test.ts'],
  ['knowledge/parsing', 'child/parse.ts', 'knowledge/parsing/parser-pool.test.ts'],
  ['charts/parley', 'templates/deployments.yaml', 'test/integration/charts/render.test.ts'],
  ['charts/parley', 'values.yaml', 'test/integration/charts/render.test.ts'],
  ['store', 'migrations/0001_schema.sql', 'test/integration/store/migrate.test.ts'],
])('chooses tests of what no test imports: %s/%s', (folder, changed, test) => {
  expect(relatedTests([`${folder}/${changed}`]).chosen).toContain(test);
});

it('prefers the suites of the folder that has changed', () => {
  const { chosen } = relatedTests(['webhooks/attempt/retry-policy.ts']);
  expect(chosen.filter((file) => file.startsWith('test/integration/webhooks/')).length).toBeGreaterThanOrEqual(3);
});
