import { describe, expect, it } from 'vitest';

import { folderCycles, forbiddenImports, importsOf, readLayers } from './imports.ts';

const page = `
| folder | may import |
|---|---|
| \`platform/\` | nothing |
| \`kube/\` | \`platform/\` |
| \`calls/\` | \`kube/\` |
| \`voice/\` | \`calls/\`, \`kube/\` |
`;
const layers = readLayers(page);
const one = (importer: string, imported: string) => ({ importer, imported });

it('reads static, dynamic and type imports and entries of processes, each from the root', () => {
  const source = `import a from '../b/a.ts';\nexport * from './c.ts';\ntype D = import('../../d.ts').D;\nawait import('./e.ts');\nimport p from 'p';
    fork(new URL('g/main.ts', import.meta.url));`;
  expect(importsOf('x/y/f.ts', source).map(({ imported }) => imported)).toEqual([
    'x/b/a.ts',
    'x/y/c.ts',
    'd.ts',
    'x/y/e.ts',
    'x/y/g/main.ts',
  ]);
});

it('refuses a table that names a folder without a row', () => {
  expect(() => readLayers(`${page}| \`api/\` | \`store/\` |`)).toThrow('the row of api/ names store/');
});

it.each([
  ['down', 'kube/a.ts', 'platform/b.ts', true],
  ['up', 'platform/a.ts', 'kube/b.ts', false],
  ['past what a row names', 'calls/a.ts', 'platform/b.ts', false],
  ['from deep inside a folder', 'voice/job/a.ts', 'calls/mcp-client/b.ts', true],
  ['to a folder without a row', 'kube/a.ts', 'cli/b.ts', false],
  ['within a folder', 'kube/a.ts', 'kube/watch/b.ts', true],
])('judges an import %s', (_, importer, imported, allowed) => {
  expect(forbiddenImports([one(importer, imported)], layers)).toHaveLength(allowed ? 0 : 1);
});

describe('cycles', () => {
  it('are found between folders at any depth, over more than two of them', () => {
    const cycle = [one('a/x/1.ts', 'a/y/1.ts'), one('a/y/deep/2.ts', 'a/z/1.ts'), one('a/z/1.ts', 'a/x/2.ts'), one('b/1.ts', 'a/x/1.ts')];
    expect(folderCycles(cycle)).toEqual([
      'a/x/ ⇄ y/: a/x/1.ts imports a/y/1.ts',
      'a/y/ ⇄ z/: a/y/deep/2.ts imports a/z/1.ts',
      'a/z/ ⇄ x/: a/z/1.ts imports a/x/2.ts',
    ]);
  });

  it('are none between a folder and the one that it lies in', () => {
    expect(folderCycles([one('a/index.ts', 'a/x/1.ts'), one('a/x/1.ts', 'a/types.ts')])).toEqual([]);
  });
});
