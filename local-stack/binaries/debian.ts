/** Gets programs from Debian's own packages: any account can unpack them without installing them. */
import { execFile } from 'node:child_process';
import { access, chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { BinarySpec } from './binary-spec.ts';
import type { Fetching } from './progress.ts';

const run = promisify(execFile);

/** Tells whether this machine has the tools to fetch and unpack such packages. */
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
 * Fetches the package, and what this machine lacks of what it depends on, with `apt-get`, which checks them against the signed
 * lists of the archive, and unpacks them into `folder`. The version is the one that the system's release has now: the system's own
 * lists may be older, and name packages that the archive has no more.
 */
export async function obtainFromDebian({ spec, folder, env, onProgress, signal }: DebianSource): Promise<void> {
  const { debian } = spec;
  if (debian === undefined) throw new Error(`there is no Debian package of ${spec.name}`);
  const common = { cwd: folder, env, signal };
  const apt = join(folder, 'apt');
  const [lists, archives] = [join(apt, 'lists'), join(apt, 'archives')];
  for (const place of [lists, archives]) await mkdir(join(place, 'partial'), { recursive: true });
  // With folders of its own, apt-get needs neither the system's lock nor an account that may take it.
  const settings = [`Dir::State::lists=${lists}`, `Dir::Cache::archives=${archives}`, 'Debug::NoLocking=true'];
  const aptGet = (...args: readonly string[]) =>
    run('apt-get', ['-qq', ...settings.flatMap((setting) => ['-o', setting]), ...args], { ...common, timeout: 600_000 });
  onProgress?.({ phase: 'downloading', note: 'with apt-get' });
  await aptGet('update');
  await aptGet('install', '--yes', '--no-install-recommends', '--download-only', debian.package);
  onProgress?.({ phase: 'unpacking' });
  for (const file of (await readdir(archives)).filter((name) => name.endsWith('.deb')))
    await run('dpkg-deb', ['-x', join(archives, file), join(folder, 'root')], { ...common, timeout: 300_000 });
  await rm(apt, { recursive: true });
  await access(join(folder, 'root', debian.program));
  // The libraries that came along lie next to the program, some in folders of their own, where the system does not look.
  const script = [
    '#!/bin/sh',
    'root=$(dirname "$(readlink -f "$0")")/root',
    'for folder in "$root"/usr/lib/*-linux-* "$root"/usr/lib/*-linux-*/*/; do LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"; done',
    'export LD_LIBRARY_PATH',
    `exec "$root/${debian.program}" "$@"`,
    '',
  ].join('\n');
  await writeFile(join(folder, spec.executable), script);
  await chmod(join(folder, spec.executable), 0o755);
}
