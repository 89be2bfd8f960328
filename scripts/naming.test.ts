import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { sourceFiles } from './changed.ts';

const root = join(import.meta.dirname, '..');

const sources = sourceFiles()
  .filter((file) => !/^test\/|\.test\.ts$|\/testdata\//.test(file))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));

it('ends the name of every class that extends an error in Error', () => {
  const others = sources.flatMap(({ file, text }) =>
    [...text.matchAll(/^(?:export )?(?:abstract )?class (\w+) extends (?:\w+\.)?\w*Error\b/gm)]
      .filter(([, name = '']) => !name.endsWith('Error'))
      .map(([, name]) => `${file}: ${name}`),
  );
  expect(others).toEqual([]);
});

it('writes the names of fixed module constants in upper case', () => {
  const literal = /(?:-?\d[\w.]*|true|false|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`$\\]|\\[^]|\$(?!\{))*`|\/.+\/[a-z]*)/.source;
  const fixed = new RegExp(
    `^(?:export )?const (\\w*[a-z]\\w*)(?:: [\\w ]+)? =\\s+${literal}(?:\\s+[-+*/]+\\s+${literal})*(?: as const)?;`,
    'gm',
  );
  const others = sources.flatMap(({ file, text }) => [...text.matchAll(fixed)].map(([, name]) => `${file}: ${name}`));
  expect(others).toEqual([]);
});
