import { randomBytes } from 'node:crypto';
import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { BinarySpec, OfficialDownload } from './binary-spec.ts';
import { download, unpackTar } from './download.ts';
import type { Fetching } from './progress.ts';

/** Fetches a release archive once for all the programs that it holds. */
export class ReleaseArchives {
  readonly #folder: string;
  readonly #files = new Map<string, Promise<string>>();

  constructor(cache: string) {
    this.#folder = join(cache, `.releases-${process.pid}-${randomBytes(3).toString('hex')}`);
  }

  /** Returns the path of the checked archive. */
  get({ url, checksum }: OfficialDownload, fetching: Fetching): Promise<string> {
    const known = this.#files.get(url);
    if (known !== undefined) return known;
    const file = join(this.#folder, `${this.#files.size}.tar.gz`);
    const fetched = mkdir(this.#folder, { recursive: true })
      .then(() => download({ ...fetching, source: url, file, checksum }))
      .then(() => file);
    this.#files.set(url, fetched);
    return fetched;
  }

  /** Removes the archives. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#files.values());
    await rm(this.#folder, { recursive: true, force: true });
  }
}

interface OfficialSource extends Fetching {
  readonly spec: BinarySpec;
  readonly release: OfficialDownload;
  readonly archives: ReleaseArchives;
  readonly folder: string;
}

/** Takes the program out of a release archive of the project itself, which was checked against the pinned sum. */
export async function obtainOfficial({ spec, release, archives, folder, onProgress, signal }: OfficialSource): Promise<void> {
  const archive = await archives.get(release, { onProgress, signal });
  onProgress?.({ phase: 'unpacking' });
  await unpackTar(archive, folder, [release.member]);
  const target = join(folder, spec.executable);
  const [top] = release.member.split('/');
  if (top !== undefined && top !== release.member) {
    // A folder of the archive may have the same name as the program.
    await rename(join(folder, release.member), `${target}.new`);
    await rm(join(folder, top), { recursive: true });
    await rename(`${target}.new`, target);
  }
  await chmod(target, 0o755);
}
