/**
 * Builds the OCI image without a container engine, from Debian's packages, the lockfile and this checkout:
 *   node scripts/image/main.ts [--out build/image] [--tag dev] [--locked]
 *   node scripts/image/main.ts --stage <folder>     only what the Dockerfile copies
 * Needs apt-get, dpkg-deb and GNU tar, and no privileges.
 */
import { execFile } from 'node:child_process';
import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';

import { type DebianPackages, finishDebian, type UnpackedPackage, unpackDebian } from './debian.ts';
import { IMAGE_LICENCES } from './licence-list.ts';
import { licenceTexts, requireTexts } from './licences.ts';
import { imageMeta, writableFolders } from './meta.ts';
import { writeImage } from './oci.ts';
import type { RuntimePlatform } from './runtime-packages.ts';
import { sbomOf } from './sbom.ts';
import { APP_FOLDER, type Staged, stage } from './stage.ts';
import { megabytes } from '../../platform/megabytes.ts';
import { sourceDateEpoch } from '../source-date-epoch.ts';

const run = promisify(execFile);
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'build/image' },
    tag: { type: 'string', default: 'dev' },
    locked: { type: 'boolean', default: false },
    stage: { type: 'string' },
  },
});
const root = resolve(import.meta.dirname, '../..');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
const platform: RuntimePlatform = { os: 'linux', cpu: process.arch === 'arm64' ? 'arm64' : 'x64' };
const architecture = platform.cpu === 'x64' ? 'amd64' : 'arm64';
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'parley', 'image');

if (values.stage === undefined) await buildImage(resolve(root, values.out));
else await stageForDocker(resolve(values.stage));

async function buildImage(out: string): Promise<void> {
  const pinned = JSON.parse(await readFile(join(root, 'scripts/image/debian-packages.json'), 'utf8')) as DebianPackages;
  if (architecture !== pinned.architecture)
    throw new Error(`the pinned packages are for ${pinned.architecture}: on ${architecture} build with the Dockerfile`);
  const epoch = await sourceDateEpoch(root);
  const work = join(out, 'layers');
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });

  const base = join(work, 'debian');
  const debian = await unpackDebian({ pinned, layer: base, cache, locked: values.locked });
  await finishDebian(base);
  for (const { name, version: found, moved } of debian) {
    if (moved)
      process.stderr.write(
        `the archive has moved on: ${name} ${found} instead of the pinned one; run node scripts/image/update-packages.ts\n`,
      );
  }
  const staged = await stage({ root, out: work, platform });
  await describe(staged, { debian, pinned, epoch });

  await requireTexts({
    layers: [base, ...Object.values(staged.layers)],
    texts: [
      ...['LICENSE', 'NOTICE', 'node_modules/@livekit/local-inference/MODEL_LICENSE'].map((name) => `${APP_FOLDER}/${name}`),
      ...['nodejs/LICENSE', 'parley/third-party-licences.txt', 'parley/sbom.cdx.json'].map((name) => `usr/share/doc/${name}`),
      ...['GPL-3', 'LGPL-2.1'].map((name) => `usr/share/common-licenses/${name}`),
    ],
    debian: debian.map(({ name }) => name),
  });

  const layout = join(out, 'parley');
  const layers = [
    { name: 'debian', folder: base, writable: writableFolders },
    { name: 'node', folder: staged.layers.node },
    { name: 'packages', folder: staged.layers.packages },
    { name: 'parley', folder: staged.layers.app },
  ];
  const built = await writeImage({
    umoci: await umoci(),
    layout,
    tag: values.tag,
    layers,
    meta: imageMeta({ version, architecture }),
    epoch,
  });
  await rm(join(out, 'sbom.cdx.json'), { force: true });
  await writeFile(join(out, 'sbom.cdx.json'), await readFile(join(staged.layers.app, 'usr/share/doc/parley/sbom.cdx.json')));
  await writeFile(join(out, 'image.json'), `${JSON.stringify({ tag: values.tag, ...built }, null, 2)}\n`);

  const mega = (bytes: number): string => megabytes(bytes).padStart(9);
  process.stdout.write('layer      unpacked  compressed\n');
  for (const layer of built.layers) process.stdout.write(`${layer.name.padEnd(9)} ${mega(layer.unpacked)}   ${mega(layer.compressed)}\n`);
  const sum = (key: 'unpacked' | 'compressed'): number => built.layers.reduce((total, layer) => total + layer[key], 0);
  process.stdout.write(`${'all'.padEnd(9)} ${mega(sum('unpacked'))}   ${mega(sum('compressed'))}\n`);
  process.stdout.write(
    `image   ${values.out}/parley.tar (OCI archive, tag ${values.tag})\ndigest  ${built.digest}\nSBOM    ${values.out}/sbom.cdx.json\n`,
  );
}

/** Lays out what the Dockerfile copies over its base image: one tree, in which Debian's packages are those of the base. */
async function stageForDocker(out: string): Promise<void> {
  await mkdir(out, { recursive: true });
  const staged = await stage({ root, out, platform });
  await describe(staged, { debian: [], pinned: { suite: 'bookworm', architecture, packages: {} }, epoch: await sourceDateEpoch(root) });
}

/** Writes the bill of materials and the licences, inside the image as well. */
async function describe(
  staged: Staged,
  from: { readonly debian: readonly UnpackedPackage[]; readonly pinned: DebianPackages; readonly epoch: number },
): Promise<void> {
  const folder = join(staged.layers.app, 'usr/share/doc/parley');
  await mkdir(folder, { recursive: true });
  const { contents, packages, lockfile } = staged;
  const sbom = sbomOf({
    version,
    type: 'container',
    licences: IMAGE_LICENCES,
    lockfile,
    bundled: contents.bundled,
    shipped: packages,
    nodeVersion: process.versions.node,
    debian: from.debian,
    debianSuite: from.pinned.suite,
    debianArchitecture: from.pinned.architecture,
    epoch: from.epoch,
  });
  await writeFile(join(folder, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`);
  await writeFile(join(folder, 'third-party-licences.txt'), await licenceTexts({ root, folders: contents.bundled }));
}

/** Returns the umoci on PATH, else that of Debian's package, unpacked into the cache. */
async function umoci(): Promise<string> {
  try {
    await run('umoci', ['--version']);
    return 'umoci';
  } catch {
    const folder = join(cache, 'umoci');
    const program = join(folder, 'usr/bin/umoci');
    try {
      await access(program);
    } catch {
      await mkdir(folder, { recursive: true });
      await run('apt-get', ['download', '-qq', 'umoci'], { cwd: folder, timeout: 300_000 });
      const file = (await readdir(folder)).find((name) => name.endsWith('.deb'));
      if (file === undefined) throw new Error('umoci is neither on PATH nor in the package archive: install it');
      await run('dpkg-deb', ['-x', file, '.'], { cwd: folder });
    }
    return program;
  }
}
