/** Makes an OCI image of folders, by GNU tar and umoci: the same bytes for the same files, wherever and whenever they are built. */
import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Layer {
  readonly name: string;
  readonly folder: string;
  /** Empty folders in it that are not root's alone. */
  readonly writable?: readonly WritableFolder[];
}

export interface WritableFolder {
  /** Path without a slash at either end. */
  readonly path: string;
  /** Mode as chmod takes it: `1777`. */
  readonly mode: string;
  /** Number of the user and of the group. */
  readonly owner: number;
}

export interface BuiltLayer {
  readonly name: string;
  /** Bytes of the files, as tar has them, and of what is sent over the network. */
  readonly unpacked: number;
  readonly compressed: number;
  readonly digest: string;
}

export interface BuiltImage {
  /** Digest of the manifest, by which it is pulled. */
  readonly digest: string;
  readonly layers: readonly BuiltLayer[];
}

export interface ImageMeta {
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly architecture: 'amd64' | 'arm64';
}

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

/**
 * Writes an OCI layout into `layout` and its archive next to it (`<layout>.tar`).
 *
 * @param options.umoci path of the program
 * @param options.epoch seconds since 1970 that all files and the image itself bear (SOURCE_DATE_EPOCH)
 */
export async function writeImage(options: {
  readonly umoci: string;
  readonly layout: string;
  readonly tag: string;
  readonly layers: readonly Layer[];
  readonly meta: ImageMeta;
  readonly epoch: number;
}): Promise<BuiltImage> {
  const { umoci, layout, tag, layers, meta, epoch } = options;
  const image = `${layout}:${tag}`;
  const created = new Date(epoch * 1000).toISOString().replace('.000Z', 'Z');
  await rm(layout, { recursive: true, force: true });
  await run(umoci, ['init', '--layout', layout]);
  await run(umoci, ['new', '--image', image]);
  const sizes: number[] = [];
  for (const { name, folder, writable } of layers) {
    const file = `${layout}.${name}.tar`;
    sizes.push(await writeTar({ folder, file, epoch, writable }));
    await run(umoci, ['raw', 'add-layer', '--image', image, `--history.created=${created}`, `--history.created_by=${name}`, file]);
    await rm(file);
  }
  const list = (flag: string, values: readonly string[]): string[] => values.map((value) => `--${flag}=${value}`);
  const pairs = (record: Readonly<Record<string, string>>): string[] => Object.entries(record).map(([name, value]) => `${name}=${value}`);
  await run(umoci, [
    'config',
    `--image=${image}`,
    `--created=${created}`,
    `--history.created=${created}`,
    '--history.created_by=configuration',
    `--architecture=${meta.architecture}`,
    '--os=linux',
    `--config.user=${meta.user}`,
    '--config.workingdir=/',
    ...list('config.entrypoint', meta.entrypoint),
    ...list('config.env', pairs(meta.environment)),
    ...list('config.label', pairs(meta.labels)),
    ...list('manifest.annotation', pairs(meta.labels)),
  ]);
  await run(umoci, ['gc', '--layout', layout]);
  const { manifests } = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8')) as { manifests: readonly Descriptor[] };
  const digest = manifests[0]?.digest;
  if (digest === undefined) throw new Error(`umoci has left no image in ${layout}`);
  const manifest = JSON.parse(await readFile(join(layout, 'blobs/sha256', digest.slice('sha256:'.length)), 'utf8')) as {
    layers: readonly Descriptor[];
  };
  await writeTar({ folder: layout, file: `${layout}.tar`, epoch });
  return {
    digest,
    layers: layers.map(({ name }, index) => ({
      name,
      unpacked: sizes[index] ?? 0,
      compressed: manifest.layers[index]?.size ?? 0,
      digest: manifest.layers[index]?.digest ?? '',
    })),
  };
}

/**
 * Makes everything root's, and only root may write to it, but for the `writable` folders. The files' own owners and modes depend on who
 * builds.
 *
 * @returns bytes of the archive
 */
export async function writeTar(options: {
  readonly folder: string;
  readonly file: string;
  readonly epoch: number;
  readonly writable?: readonly WritableFolder[] | undefined;
}): Promise<number> {
  const { folder, file, epoch, writable = [] } = options;
  const always = [
    `--file=${file}`,
    `--directory=${folder}`,
    `--mtime=@${epoch}`,
    '--numeric-owner',
    '--format=posix',
    '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime',
  ];
  const excluded = writable.map(({ path }) => `--exclude=./${path}`);
  await run('tar', ['--create', ...always, '--sort=name', '--owner=0', '--group=0', '--mode=u+rwX,go+rX,go-w', ...excluded, '.']);
  for (const { path, mode, owner } of writable)
    await run('tar', ['--append', ...always, `--owner=${owner}`, `--group=${owner}`, `--mode=${mode}`, '--no-recursion', `./${path}`]);
  const { stdout } = await run('stat', ['--format=%s', file]);
  return Number(stdout);
}
