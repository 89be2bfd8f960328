/** npm checks what it downloads against the lockfile, if the lockfile says what that has to be. */
import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

/**
 * Optional packages of platforms other than the one that the lockfile was made on, at versions that the registry in use does not serve:
 * `scripts/complete-lockfile.ts` adds them without a digest. What the registry serves must not stand here.
 */
const unserved: Readonly<Record<string, string>> = {
  '@napi-rs/canvas-':
    'android-arm64 darwin-arm64 darwin-x64 linux-arm-gnueabihf linux-arm64-musl linux-riscv64-gnu linux-x64-musl win32-arm64-msvc win32-x64-msvc',
  '@oxc-parser/binding-':
    'android-arm-eabi android-arm64 darwin-arm64 darwin-x64 freebsd-x64 linux-arm-gnueabihf linux-arm-musleabihf linux-ppc64-gnu linux-riscv64-gnu linux-riscv64-musl linux-s390x-gnu openharmony-arm64 win32-arm64-msvc win32-ia32-msvc win32-x64-msvc',
  '@oxfmt/binding-':
    'android-arm-eabi android-arm64 darwin-arm64 darwin-x64 freebsd-x64 linux-arm-gnueabihf linux-arm-musleabihf linux-arm64-musl linux-ppc64-gnu linux-riscv64-gnu linux-riscv64-musl linux-s390x-gnu linux-x64-musl openharmony-arm64 win32-arm64-msvc win32-ia32-msvc win32-x64-msvc',
  '@oxlint-tsgolint/': 'darwin-arm64 darwin-x64 win32-arm64 win32-x64',
  '@oxlint/binding-':
    'android-arm-eabi android-arm64 darwin-arm64 darwin-x64 freebsd-x64 linux-arm-gnueabihf linux-arm-musleabihf linux-arm64-musl linux-ppc64-gnu linux-riscv64-gnu linux-riscv64-musl linux-s390x-gnu linux-x64-musl openharmony-arm64 win32-arm64-msvc win32-ia32-msvc win32-x64-msvc',
  '@swc/core-':
    'darwin-arm64 darwin-x64 linux-arm-gnueabihf linux-ppc64-gnu linux-s390x-gnu win32-arm64-msvc win32-ia32-msvc win32-x64-msvc',
};

interface Entry {
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly integrity?: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  readonly packages: Readonly<Record<string, Entry>>;
};
const unchecked = Object.entries(packages).filter(
  ([path, { link, integrity }]) => path !== '' && link !== true && !integrity?.startsWith('sha512-'),
);

it('names the digest of every package but those that the registry does not serve', () => {
  const known = Object.entries(unserved).flatMap(([family, platforms]) =>
    platforms.split(' ').map((platform) => `node_modules/${family}${platform}`),
  );
  expect(unchecked.map(([path]) => path).toSorted()).toEqual(known.toSorted());
});

it('lacks none of a package that is needed', () => {
  expect(unchecked.filter(([, { optional, os, cpu }]) => optional !== true || (os ?? cpu) === undefined)).toEqual([]);
});
