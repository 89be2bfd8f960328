import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';

import type { BinaryProgress } from './progress.ts';

/** One program to compile from a pinned Go module under `tools/`. */
export interface GoTarget {
  /** Name of the finished executable. */
  readonly name: string;
  /** Import path of its `main` package. */
  readonly package: string;
  /** Linker flags, e.g. `-s -w -X k8s.io/…gitVersion=v1.34.4`. */
  readonly ldflags: string;
}

/** A Go installation that can build the modules in `tools/`. */
export interface GoToolchain {
  readonly version: string;
}

/** The oldest Go that the pinned sources compile with; Kubernetes and Temporal state it in their go.mod. */
const oldestGo = { major: 1, minor: 25 };

export interface GoBuildOptions {
  /** Folder with the `go.mod` that pins the sources. */
  readonly moduleDir: string;
  /** Folder that receives the executable. */
  readonly outDir: string;
  readonly target: GoTarget;
  readonly toolchain: GoToolchain;
  readonly env: NodeJS.ProcessEnv;
  /** Milliseconds since any fixed point. */
  readonly now?: () => number;
  readonly onProgress?: (progress: BinaryProgress) => void;
  readonly signal?: AbortSignal;
}

/** The installed Go, or what is wrong with it in words. */
export async function goVersion(env: NodeJS.ProcessEnv): Promise<GoToolchain | { readonly problem: string }> {
  let text = '';
  try {
    await go(['env', 'GOVERSION'], { env: goEnvironment(env), onStdout: (line) => (text += line) });
  } catch {
    return { problem: 'Go is not on PATH' };
  }
  const version = text.trim().replace(/^go/, '');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > oldestGo.major || (major === oldestGo.major && minor >= oldestGo.minor)) return { version };
  return { problem: `Go ${version} is too old to build it: ${oldestGo.major}.${oldestGo.minor} or newer is needed` };
}

/**
 * Compiles one target with `go build` and reports progress.
 *
 * The modules are downloaded first, then Go prints a package's name (`-v`) when it begins to compile it; packages
 * already in the build cache are never printed. `go list` tells beforehand which are stale, so the two give a
 * fraction. The sources are exactly those of go.sum: `-mod=readonly` refuses anything else.
 *
 * @throws GoBuildError with the last lines of the compiler when it fails or Go is missing.
 */
export async function goBuild(options: GoBuildOptions): Promise<void> {
  const { moduleDir, outDir, target, onProgress } = options;
  const now = options.now ?? (() => performance.now());
  const run = { moduleDir, env: goEnvironment(options.env), ...(options.signal === undefined ? {} : { signal: options.signal }) };
  await mkdir(outDir, { recursive: true });
  const startedAt = now();

  const modules = { done: 0 };
  const listing = setInterval(() => {
    const note = modules.done > 0 ? `${modules.done} modules downloaded` : 'reading the sources';
    onProgress?.({ phase: 'listing', elapsedMs: now() - startedAt, note });
  }, 1000);
  const stale = new Set<string>();
  try {
    await go(['list', '-deps', '-f', '{{if .Stale}}{{.ImportPath}}{{end}}', target.package], {
      ...run,
      onStdout: (line) => line && stale.add(line),
      onStderr: (line) => (modules.done += Number(line.startsWith('go: downloading '))),
    });
  } finally {
    clearInterval(listing);
  }

  const builtFrom = now();
  let done = 0;
  const report = (): void => onProgress?.(buildProgress({ done, total: stale.size, elapsedMs: now() - builtFrom }));
  const ticker = setInterval(report, 1000);
  try {
    await go(['build', '-v', '-ldflags', target.ldflags, '-o', `${outDir}/${target.name}`, target.package], {
      ...run,
      onStderr: (line) => (done += Number(isPackageLine(line))),
    });
  } finally {
    clearInterval(ticker);
  }
  report();
}

/** Whether a line of `go build -v` names a package, rather than telling something else. */
export function isPackageLine(line: string): boolean {
  return /^[\w.~-]+(\/[\w.~+-]+)*$/.test(line);
}

/**
 * Packages begun against packages to do. The last step, linking, is silent and takes as long as some dozens of
 * packages: 4 % are held back for it, so that the line doesn't stand at 100 %.
 */
export function buildProgress(state: { readonly done: number; readonly total: number; readonly elapsedMs: number }): BinaryProgress {
  const { done, elapsedMs } = state;
  const packages = Math.max(state.total, done);
  const total = Math.ceil(packages * 1.04);
  // Early on the rate says nothing: the smallest packages come first.
  const known = done >= 20 && elapsedMs >= 3000;
  return { phase: 'building', done, total, elapsedMs, ...(known ? { remainingMs: (elapsedMs / done) * (total - done) } : {}) };
}

function goEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // GOTOOLCHAIN=local: never another compiler than the one that was checked, and no surprise download of one.
  // -buildvcs=false: the version is that of the module, not of the folder around it.
  return {
    ...env,
    CGO_ENABLED: '0',
    GOFLAGS: '-mod=readonly -trimpath -buildvcs=false',
    GOWORK: 'off',
    GOTOOLCHAIN: 'local',
    GO111MODULE: 'on',
    GOOS: '',
    GOARCH: '',
  };
}

/** `go` ended badly or could not be started; `output` holds its last lines. */
export class GoBuildError extends Error {
  override readonly name = 'GoBuildError';
  readonly output: readonly string[];
  constructor(message: string, output: readonly string[], options?: ErrorOptions) {
    super(message, options);
    this.output = output;
  }
}

interface GoRun {
  readonly moduleDir?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
  readonly onStdout?: (line: string) => void;
  readonly onStderr?: (line: string) => void;
}

function go(args: readonly string[], run: GoRun): Promise<void> {
  return new Promise((resolve, reject) => {
    const tail: string[] = [];
    const child = spawn('go', args, {
      env: run.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(run.moduleDir === undefined ? {} : { cwd: run.moduleDir }),
      ...(run.signal === undefined ? {} : { signal: run.signal }),
    });
    createInterface({ input: child.stdout }).on('line', (line) => run.onStdout?.(line));
    createInterface({ input: child.stderr }).on('line', (line) => {
      tail.push(line);
      if (tail.length > 20) tail.shift();
      run.onStderr?.(line);
    });
    child.on('error', (cause) =>
      reject(run.signal?.aborted ? run.signal.reason : new GoBuildError('Go can not be started', [], { cause })),
    );
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new GoBuildError(`go ${args[0]} ${args.at(-1)} failed with exit code ${code}:\n${tail.join('\n')}`, tail));
    });
  });
}
