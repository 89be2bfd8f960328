import { readFile } from 'node:fs/promises';

import { expect, it } from 'vitest';

import { IMAGE_LICENCES } from './licence-list.ts';
import { type Lockfile, runtimePackages } from './runtime-packages.ts';
import { sbomOf } from './sbom.ts';

const lockfile = JSON.parse(await readFile(new URL('../../node_modules/.package-lock.json', import.meta.url), 'utf8')) as Lockfile;
const shipped = runtimePackages({
  lockfile,
  roots: ['@livekit/agents', '@livekit/rtc-node', '@temporalio/worker'],
  platform: { os: 'linux', cpu: 'x64' },
});
const bundled = ['node_modules/fastify', 'node_modules/pg', 'node_modules/protobufjs'];
const sbom = () =>
  sbomOf({
    version: '0.1.0',
    type: 'container',
    licences: IMAGE_LICENCES,
    lockfile,
    bundled,
    shipped,
    nodeVersion: '24.0.0',
    debian: [{ name: 'libc6', version: '2.36-9+deb12u14', sha256: 'a'.repeat(64), moved: false }],
    debianSuite: 'bookworm',
    debianArchitecture: 'amd64',
    epoch: 0,
  });

it('covers what is bundled, what is shipped, Node.js and Debian', () => {
  const { components } = sbom();
  const purls = components.map(({ purl }) => purl);
  expect(new Set(purls).size).toBe(purls.length);
  for (const folder of [...bundled, ...shipped]) {
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length).replace(/^@/, '%40');
    expect(purls).toContain(`pkg:npm/${name}@${lockfile.packages[folder]?.version}`);
  }
  expect(purls).toContain('pkg:generic/node@24.0.0');
  expect(purls).toContain('pkg:deb/debian/libc6@2.36-9%2Bdeb12u14?arch=amd64&distro=debian-bookworm');
});

it('names a licence for every package of npm', () => {
  const without = sbom().components.filter(({ purl, licenses }) => purl.startsWith('pkg:npm/') && licenses === undefined);
  expect(without.map(({ purl }) => purl)).toEqual([]);
});

it('says that the models of the end of turn have a licence of their own', () => {
  const { components, metadata } = sbom();
  expect(components.find(({ purl }) => purl.startsWith('pkg:npm/%40livekit/local-inference@'))?.licenses).toEqual([
    { expression: 'Apache-2.0 AND LicenseRef-LiveKit-Model' },
  ]);
  expect(metadata.component.licenses[0].expression).toContain('LicenseRef-LiveKit-Model');
});

it('ships nothing that only development needs', () => {
  expect(shipped.filter((folder) => lockfile.packages[folder]?.dev === true)).toEqual([]);
});

it('is the same for the same contents', () => {
  expect(JSON.stringify(sbom())).toBe(JSON.stringify(sbom()));
});
