import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { processAlive } from '../processes.ts';

/** Names a cache entry, and the executable that it must hold. */
export interface CacheEntry {
  readonly name: string;
  readonly version: string;
  /** Path of the executable inside the entry's folder. */
  readonly executable: string;
}

/** Returns `$XDG_CACHE_HOME/parley`, or `~/.cache/parley`. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const base = env['XDG_CACHE_HOME'];
  // The XDG specification says to ignore relative paths.
  return join(base?.startsWith('/') ? base : join(env['HOME'] ?? homedir(), '.cache'), 'parley');
}

/** Returns the folder of one program at one version; an existing folder is complete. */
export function cachedFolder(cache: string, spec: CacheEntry): string {
  return join(cache, spec.name, spec.version);
}

/** Returns the cached executable, if it is there. */
export function cachedExecutable(cache: string, spec: CacheEntry): string | undefined {
  const path = join(cachedFolder(cache, spec), spec.executable);
  return existsSync(path) ? path : undefined;
}

/**
 * Lets `fill` write a new cache entry into an empty folder, then puts it in place with one rename: a reader sees
 * either nothing or all of it. One process fills an entry at a time; a second one waits and finds it there.
 */
export async function fillCacheEntry(options: {
  readonly cache: string;
  readonly spec: CacheEntry;
  readonly fill: (folder: string) => Promise<void>;
  readonly onWait?: (pid: number) => void;
  readonly signal?: AbortSignal | undefined;
}): Promise<string> {
  const { cache, spec } = options;
  const parent = join(cache, spec.name);
  await mkdir(parent, { recursive: true });
  const release = await lock(join(parent, `${spec.version}.lock`), options);
  try {
    const there = cachedExecutable(cache, spec);
    if (there !== undefined) return there;
    const folder = join(parent, `.${spec.version}-${process.pid}-${randomBytes(3).toString('hex')}`);
    try {
      await mkdir(folder);
      await options.fill(folder);
      if (!existsSync(join(folder, spec.executable)))
        throw new Error(`${spec.name} ${spec.version}: the source holds no ${spec.executable}`);
      const target = cachedFolder(cache, spec);
      await rm(target, { recursive: true, force: true });
      await rename(folder, target);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    return join(cachedFolder(cache, spec), spec.executable);
  } finally {
    await release();
  }
}

/** A lock file untouched for longer than this is stale, whatever process now has its number. */
const STALE_AFTER_MS = 60_000;

async function lock(
  path: string,
  options: { readonly onWait?: (pid: number) => void; readonly signal?: AbortSignal | undefined },
): Promise<() => Promise<void>> {
  for (let reported = false; ;) {
    options.signal?.throwIfAborted();
    try {
      const handle = await open(path, 'wx');
      await handle.writeFile(`${process.pid}\n`);
      await handle.close();
      const touch = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), STALE_AFTER_MS / 4);
      touch.unref();
      return async () => {
        clearInterval(touch);
        await rm(path, { force: true });
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const pid = Number.parseInt(await readFile(path, 'utf8').catch(() => ''), 10);
    const age = Date.now() - (await stat(path).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs;
    if (age > STALE_AFTER_MS || (Number.isInteger(pid) && !processAlive(pid))) {
      await rm(path, { force: true });
      continue;
    }
    if (!reported && Number.isInteger(pid)) options.onWait?.(pid);
    reported = true;
    await delay(250);
  }
}
