/** Keeps programs in Python in the cache, each in a virtual environment of its own, at pinned versions. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { cacheFolder, cachedExecutable, fillCacheEntry } from './cache.ts';

const run = promisify(execFile);

export interface PythonEnvironment {
  /** Name of the folder in the cache. */
  readonly name: string;
  /** Arguments for pip, with pinned versions: other versions are another environment. */
  readonly requirements: readonly string[];
}

/** Finds a Python on this machine that is 3.10 or newer and can make virtual environments. */
export async function findPythonWithVenv(env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  for (const python of ['python3', 'python3.13', 'python3.12', 'python3.11', 'python']) {
    try {
      await run(python, ['-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))'], { env, timeout: 30_000 });
      return python;
    } catch {
      // The loop tries the next name.
    }
  }
  return undefined;
}

/** @returns the interpreter of an environment that has the packages; a first call installs it with pip, from whatever index pip is configured for */
export async function pythonWith(
  python: string,
  { name, requirements }: PythonEnvironment,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const version = createHash('sha256').update(requirements.join('\n')).digest('hex').slice(0, 16);
  const spec = { name, version, executable: 'bin/python' };
  const cache = cacheFolder(env);
  const cached = cachedExecutable(cache, spec);
  if (cached !== undefined) return cached;
  return fillCacheEntry({
    cache,
    spec,
    async fill(folder) {
      await run(python, ['-m', 'venv', folder], { env, timeout: 300_000 });
      await run(join(folder, 'bin/python'), ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...requirements], {
        env,
        timeout: 600_000,
        maxBuffer: 64 * 1024 * 1024,
      });
    },
  });
}
