/** A dependency with a licence that is not on the list must fail the build. */
import { readFile } from 'node:fs/promises';

import { describe, expect, it } from 'vitest';

import { IMAGE_LICENCES, isListed, OLDER_LICENCES } from './licence-list.ts';
import type { Lockfile } from './runtime-packages.ts';

const read = (path: string): Promise<string> => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
const lockfile = JSON.parse(await read('package-lock.json')) as Lockfile;
const packages = Object.entries(lockfile.packages)
  .filter(([folder]) => folder !== '')
  .map(([folder, entry]) => {
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
    return { name, licence: entry.license ?? OLDER_LICENCES[`${name}@${entry.version}`] ?? 'none' };
  });

describe('every dependency', () => {
  it('has a licence of the list in scripts/image/licence-list.ts', () => {
    expect(packages.length).toBeGreaterThan(500);
    expect(packages.filter(({ name, licence }) => !isListed(name, licence)).map(({ name, licence }) => `${name}: ${licence}`)).toEqual([]);
  });

  it.each([
    ['some', 'GPL-3.0-only', false],
    ['some', 'MIT OR GPL-3.0-only', true],
    ['some', 'MIT AND GPL-3.0-only', false],
    ['some', '(MIT OR GPL-3.0-only)', true],
    ['some', 'none', false],
    ['some', 'SEE LICENSE IN LICENSE.md', false],
    ['some', 'LGPL-3.0-or-later', false],
    ['memium', 'LGPL-3.0-or-later', true],
    ['some', 'LicenseRef-LiveKit-Model', false],
    ['@livekit/local-inference', 'Apache-2.0 AND LicenseRef-LiveKit-Model', true],
  ])('%s with %s: %s', (name, licence, allowed) => {
    expect(isListed(name, licence)).toBe(allowed);
  });
});

it('NOTICE names each package whose licence asks for more than its text, and the licence', async () => {
  const notice = await read('NOTICE');
  for (const name of ['@livekit/local-inference', '@livekit/av', 'sharp', 'memium', 'utilium', 'caniuse-lite', 'Node.js'])
    expect(notice).toContain(name);
  for (const licence of IMAGE_LICENCES.split(' AND ').slice(1)) expect(notice).toContain(licence);
});
