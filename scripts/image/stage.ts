/**
 * Lays out what the image and the archive have of Parley itself: the bundle, the packages next to it, Node.js. Debian's part of the
 * image comes from debian.ts or, with Docker, from the base image.
 */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { BUNDLE_CONTENTS, type BundleContents } from './bundle-contents.ts';
import { type RuntimePlatform, isShipped, leftOut, type Lockfile, runtimePackages } from './runtime-packages.ts';

/** Folder of Parley in the image. */
export const APP_FOLDER = 'opt/parley';

export interface Staged {
  /** Folders below `out`, one a layer: the one that changes least comes first. */
  readonly layers: { readonly node: string; readonly packages: string; readonly app: string };
  readonly contents: BundleContents;
  /** Folders of the packages that are shipped, as in the lockfile. */
  readonly packages: readonly string[];
  readonly lockfile: Lockfile;
}

/**
 * @param options.root the checkout, with node_modules
 * @param options.out an empty folder
 */
export async function stage(options: { readonly root: string; readonly out: string; readonly platform: RuntimePlatform }): Promise<Staged> {
  const { root, out, platform } = options;
  const layers = { node: join(out, 'node'), packages: join(out, 'packages'), app: join(out, 'app') };
  await stageNode(root, layers.node);
  const bundle = join(layers.app, APP_FOLDER, 'dist');
  await promisify(execFile)(process.execPath, ['scripts/build.ts', bundle], { cwd: root });
  const contents = JSON.parse(await readFile(join(bundle, BUNDLE_CONTENTS), 'utf8')) as BundleContents;
  await removeUnread(bundle);
  await stageCommand(root, layers.app);

  // Reads npm's own record of what is installed: the layout of package-lock.json may be another one where both will do.
  const lockfile = JSON.parse(await readFile(join(root, 'node_modules/.package-lock.json'), 'utf8')) as Lockfile;
  const packages = runtimePackages({ lockfile, roots: contents.external, platform });
  for (const folder of packages) await copyPackage({ root, to: join(layers.packages, APP_FOLDER), folder, platform });
  await writeEmptyModules(join(layers.packages, APP_FOLDER, 'node_modules'));
  return { layers, contents, packages, lockfile };
}

/** Takes the very Node.js that the tests ran with: the lockfile names its version and its checksum. */
async function stageNode(root: string, layer: string): Promise<void> {
  const { program, licence } = await findNode(root);
  const to = join(layer, 'usr/local/bin/node');
  await mkdir(dirname(to), { recursive: true });
  await cp(program, to, { dereference: true });
  await chmod(to, 0o755);
  const texts = join(layer, 'usr/share/doc/nodejs');
  await mkdir(texts, { recursive: true });
  await cp(licence, join(texts, 'LICENSE'));
}

/** @returns the Node.js of the checkout, and its licence, which names the parts that are linked into it */
export async function findNode(root: string): Promise<{ readonly program: string; readonly licence: string }> {
  const folder = join(root, 'node_modules/node');
  const platforms = await readdir(join(folder, 'node_modules')).catch(() => []);
  const platform = platforms.find((name) => /^node-(bin-)?(linux|darwin)-/.test(name));
  if (platform === undefined) throw new Error(`${folder} has no Node.js for this platform: run npm ci`);
  return { program: join(folder, 'bin/node'), licence: join(folder, 'node_modules', platform, 'LICENSE') };
}

/** Puts `parley` on PATH, for `kubectl exec` and hooks: no shell is needed to run it. */
async function stageCommand(root: string, layer: string): Promise<void> {
  const command = join(layer, 'usr/local/bin/parley');
  await mkdir(dirname(command), { recursive: true });
  await writeFile(command, `#!/usr/local/bin/node\nimport '/${APP_FOLDER}/dist/parley.mjs';\n`, { mode: 0o755 });
  const plugin = `#!/usr/local/bin/node\nprocess.argv.splice(2, 0, 'kubectl');\nawait import('/${APP_FOLDER}/dist/parley.mjs');\n`;
  await writeFile(join(layer, 'usr/local/bin/kubectl-parley'), plugin, { mode: 0o755 });
  for (const name of ['LICENSE', 'NOTICE']) await cp(join(root, name), join(layer, APP_FOLDER, name));
}

/** Removes what only a build reads. */
async function removeUnread(bundle: string): Promise<void> {
  for (const file of await readdir(bundle, { recursive: true })) if (file.endsWith('.map')) await rm(join(bundle, file));
  await rm(join(bundle, BUNDLE_CONTENTS));
}

async function copyPackage(options: {
  readonly root: string;
  readonly to: string;
  readonly folder: string;
  readonly platform: RuntimePlatform;
}): Promise<void> {
  const { root, to, folder, platform } = options;
  const from = join(root, folder);
  await cp(from, join(to, folder), {
    recursive: true,
    dereference: true,
    filter: (source) => {
      const file = source.slice(from.length + 1);
      // Packages inside the package are entries of the lockfile themselves.
      if (file === 'node_modules' || file.startsWith('node_modules/')) return false;
      return file === '' || isShipped({ folder, file, platform });
    },
  });
}

async function writeEmptyModules(nodeModules: string): Promise<void> {
  for (const [name, { reason, emptyModule }] of Object.entries(leftOut)) {
    if (!emptyModule) continue;
    await mkdir(join(nodeModules, name), { recursive: true });
    await writeFile(join(nodeModules, name, 'package.json'), JSON.stringify({ name, version: '0.0.0-left-out', main: 'index.js' }));
    await writeFile(join(nodeModules, name, 'index.js'), `// Left out: ${reason}.\n`);
  }
}
