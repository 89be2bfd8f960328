/** Builds Debian's part of an image without a container engine: packages of fixed versions, unpacked and never installed. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface DebianPackage {
  readonly version: string;
  /** SHA-256 of the .deb, in lower-case hex. */
  readonly sha256: string;
  /** Says why it is in the image. */
  readonly reason: string;
}

/** The content of `scripts/image/debian-packages.json`. */
export interface DebianPackages {
  readonly suite: string;
  readonly architecture: string;
  readonly packages: Readonly<Record<string, DebianPackage>>;
}

export interface UnpackedPackage {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
  /** True if the archive had another version than the one that is pinned. */
  readonly moved: boolean;
}

/**
 * Fetches the pinned packages with apt, which checks the archive's signature, and unpacks them into `layer`.
 *
 * The archive of a release drops a version when a security update replaces it. Then the newer one is taken and reported as `moved`,
 * unless `locked`.
 *
 * @throws Error when a package can't be had, or is another file than the pinned one of that version
 */
export async function unpackDebian(options: {
  readonly pinned: DebianPackages;
  readonly layer: string;
  /** Folder that keeps the .deb files for the next build. */
  readonly cache: string;
  readonly locked?: boolean;
}): Promise<readonly UnpackedPackage[]> {
  const { pinned, layer, cache, locked = false } = options;
  await mkdir(layer, { recursive: true });
  await mkdir(cache, { recursive: true });
  const unpacked: UnpackedPackage[] = [];
  for (const [name, { version, sha256 }] of Object.entries(pinned.packages)) {
    const known = join(cache, `${name}_${sha256}.deb`);
    let file = known;
    let moved = false;
    if ((await sumOf(known)) !== sha256) {
      try {
        file = await download({ what: `${name}=${version}`, cache });
      } catch (error) {
        if (locked)
          throw new Error(`Debian's archive has no ${name} ${version} any more: run node scripts/image/update-packages.ts`, {
            cause: error,
          });
        file = await download({ what: name, cache });
        moved = true;
      }
      const sum = await sumOf(file);
      if (!moved && sum !== sha256) throw new Error(`${name} ${version} has the SHA-256 ${sum}, and ${sha256} is pinned`);
      if (!moved) {
        await writeFile(known, await readFile(file));
        await rm(file);
        file = known;
      }
    }
    await run('dpkg-deb', ['-x', file, layer]);
    const found = moved ? (await run('dpkg-deb', ['-f', file, 'Version'])).stdout.trim() : version;
    unpacked.push({ name, version: found, sha256: (await sumOf(file)) ?? sha256, moved });
  }
  return unpacked;
}

/** Downloads one package into a folder of its own and returns its path. */
async function download({ what, cache }: { readonly what: string; readonly cache: string }): Promise<string> {
  const folder = join(cache, what.replaceAll(/[^a-z0-9.+-]/gi, '_'));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await run('apt-get', ['download', '-qq', what], { cwd: folder, timeout: 300_000 });
  const [file] = await readdir(folder);
  if (file === undefined) throw new Error(`apt-get download ${what} brought nothing`);
  return join(folder, file);
}

async function sumOf(file: string): Promise<string | undefined> {
  try {
    return createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
  } catch {
    return undefined;
  }
}

/** No program here reads these files of the packages; licences stay. */
const unread = [
  'usr/share/man',
  'usr/share/info',
  'usr/share/lintian',
  'usr/share/bash-completion',
  'usr/share/locale',
  'usr/sbin',
  'usr/bin/tini-static',
  // Only getconf of libc-bin is used.
  ...['catchsegv', 'iconv', 'ldd', 'locale', 'localedef', 'pldd', 'tzselect', 'zdump'].map((name) => `usr/bin/${name}`),
  'usr/lib/locale',
  'sbin',
];

/** Takes away what isn't needed, and adds what the packages' scripts would have made: accounts and the list of certificates. */
export async function finishDebian(layer: string): Promise<void> {
  for (const path of unread) await rm(join(layer, path), { recursive: true, force: true });
  const documents = join(layer, 'usr/share/doc');
  for (const file of await readdir(documents, { recursive: true, withFileTypes: true })) {
    if (file.isFile() && file.name !== 'copyright') await rm(join(file.parentPath, file.name));
  }
  await mkdir(join(layer, 'etc/ssl/certs'), { recursive: true });
  const mozilla = join(layer, 'usr/share/ca-certificates/mozilla');
  const certificates = (await readdir(mozilla)).filter((name) => name.endsWith('.crt')).sort();
  const list = await Promise.all(certificates.map((name) => readFile(join(mozilla, name), 'utf8')));
  await writeFile(join(layer, 'etc/ssl/certs/ca-certificates.crt'), list.join(''));
  await writeFile(join(layer, 'etc/passwd'), 'root:x:0:0:root:/:/nonexistent\nparley:x:65532:65532:Parley:/tmp:/nonexistent\n');
  await writeFile(join(layer, 'etc/group'), 'root:x:0:\nparley:x:65532:\n');
  await writeFile(join(layer, 'etc/nsswitch.conf'), 'hosts: files dns\n');
  for (const folder of ['tmp', 'var/lib/parley', 'proc', 'sys', 'dev', 'run']) await mkdir(join(layer, folder), { recursive: true });
}
