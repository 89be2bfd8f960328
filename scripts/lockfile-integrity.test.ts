/**
 * npm checks what it downloads against the lockfile, if the lockfile says what that has to be. A registry that lacks packages of other
 * platforms at some version makes npm leave those entries out: choose a version that all platforms have, by `overrides` where it is another package's.
 */
import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

interface Entry {
  readonly link?: boolean;
  readonly integrity?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  readonly packages: Readonly<Record<string, Entry>>;
};
const entries = Object.entries(packages);

it('names the digest of every package', () => {
  const unchecked = entries.filter(([path, { link, integrity }]) => path !== '' && link !== true && !integrity?.startsWith('sha512-'));
  expect(unchecked.map(([path]) => path)).toEqual([]);
});

it('has the optional packages of every platform', () => {
  const missing = entries.flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => packages[`${path}/node_modules/${name}`] === undefined && packages[`node_modules/${name}`] === undefined,
    ),
  );
  expect(missing).toEqual([]);
});
