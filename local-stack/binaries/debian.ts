/** Programs out of Debian's own packages, unpacked without installing them, by any account. */
import { execFile } from 'node:child_process';
import { access, chmod, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { BinarySpec } from './binary-spec.ts';
import type { Fetching } from './progress.ts';

const run = promisify(execFile);

/** Whether this machine has what fetches and unpacks such packages. */
export async function hasDebianTools(env: NodeJS.ProcessEnv): Promise<boolean> {
  const answers = await Promise.allSettled(['apt-get', 'dpkg-deb'].map((tool) => run(tool, ['--version'], { env, timeout: 10_000 })));
  return answers.every(({ status }) => status === 'fulfilled');
}

interface DebianSource extends Fetching {
  readonly spec: BinarySpec;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Fetches the packages with `apt-get download`, which checks them against the signed lists of the archive, and unpacks them
 * into `folder`. The version is the one that the system's release has.
 */
export async function obtainFromDebian({ spec, folder, env, onProgress, signal }: DebianSource): Promise<void> {
  const { debian } = spec;
  if (debian === undefined) throw new Error(`there is no Debian package of ${spec.name}`);
  const common = { cwd: folder, env, signal };
  onProgress?.({ phase: 'downloading', note: 'with apt-get' });
  await run('apt-get', ['download', '-qq', ...debian.packages], { ...common, timeout: 300_000 });
  onProgress?.({ phase: 'unpacking' });
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.deb'))) {
    await run('dpkg-deb', ['-x', join(folder, file), join(folder, 'root')], { ...common, timeout: 60_000 });
    await rm(join(folder, file));
  }
  await access(join(folder, 'root', debian.program));
  // The libraries that came along lie next to it, where the system does not look.
  const script = [
    '#!/bin/sh',
    'root=$(dirname "$(readlink -f "$0")")/root',
    'for folder in "$root"/usr/lib/*-linux-*; do LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"; done',
    'export LD_LIBRARY_PATH',
    `exec "$root/${debian.program}" "$@"`,
    '',
  ].join('\n');
  await writeFile(join(folder, spec.executable), script);
  await chmod(join(folder, spec.executable), 0o755);
}
