import { chmod, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { OfficialDownload } from './checksums.ts';
import type { BinarySpec } from './catalogue.ts';
import { download } from './download.ts';
import type { BinaryProgress } from './progress.ts';
import { unpackTar } from './unpack.ts';

/** Fetches a release archive of the project itself, checks it against the pinned sum and takes the executable out of it. */
export async function obtainOfficial(options: {
  readonly spec: BinarySpec;
  readonly release: OfficialDownload;
  readonly folder: string;
  readonly onProgress?: (progress: BinaryProgress) => void;
  readonly signal?: AbortSignal;
}): Promise<void> {
  const { spec, release, folder, onProgress, signal } = options;
  const archive = join(folder, 'release.tar.gz');
  await download({ source: release.url, file: archive, checksum: release.checksum, ...(onProgress === undefined ? {} : { onProgress }), ...(signal === undefined ? {} : { signal }) });
  onProgress?.({ phase: 'unpacking' });
  await unpackTar(archive, folder, [release.member]);
  await rm(archive);
  const target = join(folder, spec.executable);
  if (release.member !== spec.executable) {
    await rename(join(folder, release.member), target);
    const top = release.member.split('/')[0];
    if (dirname(release.member) !== '.' && top !== undefined) await rm(join(folder, top), { recursive: true, force: true });
  }
  await chmod(target, 0o755);
}
