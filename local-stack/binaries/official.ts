import { randomBytes } from 'node:crypto';
import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { BinarySpec } from './catalogue.ts';
import type { OfficialDownload } from './checksums.ts';
import { download } from './download.ts';
import type { BinaryProgress } from './progress.ts';
import { unpackTar } from './unpack.ts';

interface Fetching {
  readonly onProgress?: (progress: BinaryProgress) => void;
  readonly signal?: AbortSignal;
}

/** Release archives that several programs come out of, fetched once for all of them. */
export class ReleaseArchives {
  readonly #folder: string;
  readonly #files = new Map<string, Promise<string>>();

  constructor(cache: string) {
    this.#folder = join(cache, `.releases-${process.pid}-${randomBytes(3).toString('hex')}`);
  }

  /** The path of the checked archive. */
  get(release: OfficialDownload, options: Fetching): Promise<string> {
    const known = this.#files.get(release.url);
    if (known !== undefined) return known;
    const file = join(this.#folder, `${this.#files.size}.tar.gz`);
    const fetched = mkdir(this.#folder, { recursive: true })
      .then(() => download({ source: release.url, file, checksum: release.checksum, ...options }))
      .then(() => file);
    this.#files.set(release.url, fetched);
    return fetched;
  }

  /** Removes the archives. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#files.values());
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Takes the program out of a release archive of the project itself, which was checked against the pinned sum. */
export async function obtainOfficial(
  options: {
    readonly spec: BinarySpec;
    readonly release: OfficialDownload;
    readonly archives: ReleaseArchives;
    readonly folder: string;
  } & Fetching,
): Promise<void> {
  const { spec, release, folder, onProgress, signal } = options;
  const archive = await options.archives.get(release, {
    ...(onProgress === undefined ? {} : { onProgress }),
    ...(signal === undefined ? {} : { signal }),
  });
  onProgress?.({ phase: 'unpacking' });
  await unpackTar(archive, folder, [release.member]);
  const target = join(folder, spec.executable);
  const [top] = release.member.split('/');
  if (top !== undefined && top !== release.member) {
    // A folder of the archive may have the very name of the program.
    await rename(join(folder, release.member), `${target}.new`);
    await rm(join(folder, top), { recursive: true });
    await rename(`${target}.new`, target);
  }
  await chmod(target, 0o755);
}
