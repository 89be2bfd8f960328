import { describe, expect, it } from 'vitest';

import { isShipped, leftOut, type Lockfile, runtimePackages } from './runtime-packages.ts';

const platform = { os: 'linux', cpu: 'x64' } as const;
const lockfile: Lockfile = {
  packages: {
    'node_modules/a': {
      version: '1.0.0',
      dependencies: { b: '1', webpack: '5', '@types/x': '1' },
      optionalDependencies: { 'a-mac': '1', gone: '1' },
    },
    'node_modules/a/node_modules/b': { version: '1.5.0', dependencies: { c: '1' } },
    'node_modules/b': { version: '2.0.0' },
    'node_modules/c': { version: '1.0.0', peerDependencies: { d: '1', e: '1' }, peerDependenciesMeta: { e: { optional: true } } },
    'node_modules/d': { version: '1.0.0' },
    'node_modules/a-mac': { version: '1.0.0', os: ['darwin'] },
    'node_modules/musl': { version: '1.0.0', os: ['linux'], libc: ['musl'] },
    'node_modules/webpack': { version: '5.0.0' },
    'node_modules/tool': { version: '1.0.0', dev: true },
  },
};

describe('the packages next to the bundle', () => {
  it('are those that the roots lead to, each from where Node would find it', () => {
    expect(runtimePackages({ lockfile, roots: ['a', 'musl', 'pg-native'], platform })).toEqual([
      'node_modules/a',
      'node_modules/a/node_modules/b',
      'node_modules/c',
      'node_modules/d',
    ]);
  });

  it('are complete, or it is said what is missing', () => {
    const broken = { packages: { 'node_modules/a': { version: '1.0.0', dependencies: { lost: '1' } } } };
    expect(() => runtimePackages({ lockfile: broken, roots: ['a'], platform })).toThrow(/node_modules\/a needs lost/);
  });

  it('are never what only a build needs', () => {
    for (const name of Object.keys(leftOut)) {
      const packages = {
        [`node_modules/${name}`]: { version: '1.0.0' },
        'node_modules/a': { version: '1.0.0', dependencies: { [name]: '1' } },
      };
      expect(runtimePackages({ lockfile: { packages }, roots: ['a', name], platform })).toEqual(['node_modules/a']);
    }
  });
});

describe('the files of a package', () => {
  const core = 'node_modules/@temporalio/core-bridge';
  it.each([
    ['node_modules/a', 'lib/index.js', true],
    ['node_modules/a', 'lib/index.js.map', false],
    ['node_modules/a', 'lib/index.d.ts', false],
    ['node_modules/a', 'README.md', false],
    ['node_modules/a', 'LICENSE.md', true],
    ['node_modules/a', 'test/a.js', false],
    ['node_modules/a', 'lib/testing.js', true],
    ['node_modules/a', 'service.proto', true],
    ['node_modules/a', 'package.json', true],
    [core, 'releases/x86_64-unknown-linux-gnu/index.node', true],
    [core, 'releases/x86_64-unknown-linux-gnu', true],
    [core, 'releases/aarch64-apple-darwin/index.node', false],
    [core, 'sdk-core/Cargo.toml', false],
  ])('%s %s: %s', (folder, file, shipped) => {
    expect(isShipped({ folder, file, platform })).toBe(shipped);
  });
});
