import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { sourceFiles } from './changed.ts';

const root = join(import.meta.dirname, '..');

const all = sourceFiles().map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
const sources = all.filter(({ file }) => !/^test\/|\.test\.ts$|\/testdata\//.test(file));

it('exports no type or class under a name that another module exports too', () => {
  const files = new Map<string, string[]>();
  for (const { file, text } of all)
    for (const [, name = ''] of text.matchAll(/^export (?:declare )?(?:abstract )?(?:class|interface|type) (\w+)/gm))
      files.set(name, [...(files.get(name) ?? []), file]);
  const twice = [...files].filter(([, of]) => of.length > 1).map(([name, of]) => `${name}: ${of.join(', ')}`);
  expect(twice).toEqual([]);
});

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
