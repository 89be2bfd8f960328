/** Decides which of the installed packages an image or an archive needs next to the bundle: pure, from the lockfile. */

/** An entry of package-lock.json, as far as it matters here. */
export interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** A platform as Node and npm call it. */
export interface RuntimePlatform {
  readonly os: 'linux' | 'darwin';
  readonly cpu: 'x64' | 'arm64';
}

/**
 * Packages that something in the bundle names but that nothing in it uses, each with its reason. A module that requires one of them at
 * load gets an empty module; one that may only use it finds it missing, as without the optional dependency.
 */
export const leftOut: Readonly<Record<string, { readonly reason: string; readonly emptyModule: boolean }>> = {
  webpack: { reason: 'bundles workflows while Parley is built; the finished bundle is shipped', emptyModule: true },
  'swc-loader': { reason: 'the same', emptyModule: false },
  'source-map-loader': { reason: 'the same', emptyModule: false },
  '@swc/core': { reason: 'the same', emptyModule: false },
  memfs: { reason: 'the same', emptyModule: true },
  unionfs: { reason: 'the same', emptyModule: true },
  esbuild: { reason: 'bundles the call page when Parley runs from its sources', emptyModule: false },
  sharp: { reason: 'LiveKit Agents scales pictures with it for models that see; calls have none', emptyModule: true },
  ...Object.fromEntries(
    ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win32-x64'].map((platform) => [
      `@livekit/av-${platform}`,
      { reason: 'LiveKit Agents plays compressed files with this ffmpeg, and calls have none; it is under the LGPL', emptyModule: false },
    ]),
  ),
  typescript: { reason: 'a peer for those who compile', emptyModule: false },
  '@typescript/native-preview': { reason: 'the same', emptyModule: false },
};

/**
 * Returns the folders (`node_modules/…`) of `roots` and all that they depend on, on a platform.
 *
 * @throws Error when a dependency that isn't optional is missing from the lockfile
 */
export function runtimePackages(options: {
  readonly lockfile: Lockfile;
  readonly roots: readonly string[];
  readonly platform: RuntimePlatform;
}): readonly string[] {
  const { packages } = options.lockfile;
  const found = new Set<string>();
  const visit = (folder: string): void => {
    const entry = packages[folder];
    if (entry === undefined || found.has(folder) || !fits(entry, options.platform)) return;
    found.add(folder);
    const wanted = { ...entry.peerDependencies, ...entry.optionalDependencies, ...entry.dependencies };
    for (const name of Object.keys(wanted)) {
      if (name in leftOut || name.startsWith('@types/')) continue;
      const at = resolveFolder(packages, folder, name);
      if (at !== undefined) {
        visit(at);
        continue;
      }
      const optional = name in (entry.optionalDependencies ?? {}) || entry.peerDependenciesMeta?.[name]?.optional === true;
      if (!optional) throw new Error(`${folder} needs ${name}, which package-lock.json doesn't have: run npm install`);
    }
  };
  // A root that isn't locked is an optional one of a bundled package, such as pg-native.
  for (const name of options.roots) if (!(name in leftOut)) visit(`node_modules/${name}`);
  return [...found].sort();
}

/** Searches as Node does: the folder of the package itself, then each one above. */
function resolveFolder(packages: Lockfile['packages'], from: string, name: string): string | undefined {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('/node_modules/')))) {
    const candidate = `${base}/node_modules/${name}`;
    if (candidate in packages) return candidate;
    if (!base.includes('/node_modules/')) break;
  }
  return `node_modules/${name}` in packages ? `node_modules/${name}` : undefined;
}

function fits({ os, cpu, libc }: LockedPackage, platform: RuntimePlatform): boolean {
  return (os?.includes(platform.os) ?? true) && (cpu?.includes(platform.cpu) ?? true) && (libc?.includes('glibc') ?? true);
}

const rubbish = [
  /\.(map|d\.ts|d\.cts|d\.mts|ts|mts|cts|tsx|md|markdown|flow|coffee|html|yml|yaml|gyp|gypi|c|cc|cpp|h|rs|toml|lock)$/i,
  /(^|\/)(test|tests|__tests__|spec|example|examples|docs?|bench|benchmarks?|\.github|man|coverage|fixtures)\//i,
  /(^|\/)\.[^/]+$/,
  /(^|\/)tsconfig[^/]*\.json$/,
];
/** Schemas that are read at run time, and files that have to go along by their licences. */
const needed = [/\.proto$/, /(^|\/)(LICEN[CS]E|NOTICE|COPYING)[^/]*$/i];

/** Tells whether a file of a package is shipped; `file` is relative to the package. */
export function isShipped(options: { readonly folder: string; readonly file: string; readonly platform: RuntimePlatform }): boolean {
  const { folder, file } = options;
  if (needed.some((pattern) => pattern.test(file))) return true;
  if (folder === 'node_modules/@temporalio/core-bridge') {
    // Other files are of four other platforms, at 30 MB each, and Rust sources.
    const { os, cpu } = options.platform;
    const target = `${cpu === 'x64' ? 'x86_64' : 'aarch64'}-${os === 'linux' ? 'unknown-linux-gnu' : 'apple-darwin'}`;
    if (file.startsWith('releases/')) return `${file}/`.startsWith(`releases/${target}/`);
    if (/^(sdk-core|src|scripts)\//.test(file)) return false;
  }
  return !rubbish.some((pattern) => pattern.test(file));
}
