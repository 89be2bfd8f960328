/** Builds the archive of one platform: parley with the Node.js and the packages that run it, and what `parley dev` installs from. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { ARCHIVE_LICENCES } from '../image/licence-list.ts';
import { licenceTexts } from '../image/licences.ts';
import type { RuntimePlatform } from '../image/runtime-packages.ts';
import { sbomOf } from '../image/sbom.ts';
import { APP_FOLDER, type Staged } from '../image/stage.ts';
import { filesBelow, writeTarGz } from './tar-gz.ts';

/** Folders of the repository that commands of the archive read: `parley dev` has the same layout there as in a checkout. */
const FOLDERS = ['bin', 'crds/generated', 'examples', 'local-stack/modules', 'local-stack/rbac'];

export interface Archive {
  readonly name: string;
  readonly platform: RuntimePlatform;
  readonly sha256: string;
}

/** Returns the name of a platform's archive without `.tar.gz`, which is the name of the folder in it, too. */
export const archiveName = (version: string, { os, cpu }: RuntimePlatform): string => `parley-${version}-${os}-${cpu}`;

export interface ArchiveOptions {
  readonly root: string;
  readonly out: string;
  readonly version: string;
  readonly platform: RuntimePlatform;
  readonly staged: Staged;
  /** Time of every file, in seconds since 1970. */
  readonly epoch: number;
}

/** Writes the archive into `out`. It has no links, which krew refuses. */
export async function buildArchive(options: ArchiveOptions): Promise<Archive> {
  const { root, out, version, platform, staged, epoch } = options;
  const folder = archiveName(version, platform);
  const { node, packages, app } = staged.layers;
  const files = new Map([
    ...(await filesBelow(join(packages, APP_FOLDER))),
    ...(await filesBelow(join(app, APP_FOLDER))),
    ['node_modules/node/bin/node', join(node, 'usr/local/bin/node')],
    ['node_modules/node/LICENSE', join(node, 'usr/share/doc/nodejs/LICENSE')],
  ]);
  for (const name of FOLDERS) for (const [path, file] of await filesBelow(join(root, name))) files.set(`${name}/${path}`, file);
  const made = new Map([
    ['third-party-licences.txt', await licenceTexts({ root, folders: staged.contents.bundled })],
    ['sbom.cdx.json', `${JSON.stringify(billOfMaterials(options), null, 2)}\n`],
  ]);

  const name = `${folder}.tar.gz`;
  await writeTarGz({ to: join(out, name), folder, files, made, epoch });
  return { name, platform, sha256: await sha256Of(join(out, name)) };
}

/** Reads which archives of this version a folder has. */
export async function findArchives(folder: string, version: string): Promise<readonly Archive[]> {
  const found: Archive[] = [];
  for (const os of ['darwin', 'linux'] as const) {
    for (const cpu of ['arm64', 'x64'] as const) {
      const name = `${archiveName(version, { os, cpu })}.tar.gz`;
      if ((await stat(join(folder, name)).catch(() => undefined)) === undefined) continue;
      found.push({ name, platform: { os, cpu }, sha256: await sha256Of(join(folder, name)) });
    }
  }
  return found;
}

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

function billOfMaterials({ version, staged, epoch }: ArchiveOptions): object {
  return sbomOf({
    version,
    type: 'application',
    licences: ARCHIVE_LICENCES,
    lockfile: staged.lockfile,
    bundled: staged.contents.bundled,
    shipped: staged.packages,
    nodeVersion: process.versions.node,
    debian: [],
    debianSuite: '',
    debianArchitecture: '',
    epoch,
  });
}
