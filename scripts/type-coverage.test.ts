import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Lists the files of a project of tsc, from the root of the repository. */
function filesOf(project: string): readonly string[] {
  const args = ['-p', project, '--showConfig'];
  const { files } = JSON.parse(execFileSync('node_modules/.bin/tsc', args, { cwd: root, encoding: 'utf8' })) as { files: string[] };
  return files.map((file) => join(project, file));
}

it('npm run types checks every TypeScript file of the repository', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { types: string } };
  const projects = [...scripts.types.matchAll(/tsc -p (\S+)/g)].map(([, project = '']) => project);
  const checked = new Set(projects.flatMap(filesOf));
  const sources = execFileSync('git', ['ls-files', '--cached', '--', '*.ts', '*.mts', '*.cts', '*.tsx'], { cwd: root, encoding: 'utf8' });
  expect(
    sources
      .trim()
      .split('\n')
      .filter((file) => !checked.has(file)),
  ).toEqual([]);
});
