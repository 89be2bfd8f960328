import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';

import type { GoSource } from './binary-spec.ts';
import type { BinaryProgress, Fetching } from './progress.ts';

/** The oldest Go that compiles the pinned sources; Kubernetes and Temporal state it in their go.mod. */
const OLDEST_GO = { major: 1, minor: 25 };

interface GoBuildOptions extends Fetching {
  /** Folder with the `go.mod` that pins the sources. */
  readonly moduleDir: string;
  /** Folder that receives the executable. */
  readonly outDir: string;
  /** Name of the finished executable. */
  readonly name: string;
  readonly source: GoSource;
  readonly env: NodeJS.ProcessEnv;
}

/** Returns the installed Go, or says what is wrong with it. */
export async function goVersion(env: NodeJS.ProcessEnv): Promise<{ readonly version: string } | { readonly problem: string }> {
  let text = '';
  try {
    await go(['env', 'GOVERSION'], { env: goEnvironment(env), onStdout: (line) => (text += line) });
  } catch {
    return { problem: 'Go is not on PATH' };
  }
  const version = text.trim().replace(/^go/, '');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST_GO.major || (major === OLDEST_GO.major && minor >= OLDEST_GO.minor)) return { version };
  return { problem: `Go ${version} is too old to build it: ${OLDEST_GO.major}.${OLDEST_GO.minor} or newer is needed` };
}

/**
 * Compiles one program with `go build` and reports progress.
 *
 * The modules are downloaded first, then Go prints a package's name (`-v`) when it begins to compile it; packages
 * already in the build cache are never printed. `go list` says beforehand which are stale, so the two give a
 * fraction. The sources are exactly those of go.sum: `-mod=readonly` refuses anything else.
 *
 * @throws Error with the last lines of the compiler when it fails or Go is missing.
 */
export async function goBuild({ moduleDir, outDir, name, source, env, onProgress, signal }: GoBuildOptions): Promise<void> {
  const run = { moduleDir, env: goEnvironment(env), signal };
  const variables = Object.entries(source.variables ?? {}).map(([variable, value]) => ` -X ${variable}=${value}`);
  await mkdir(outDir, { recursive: true });
  const startedAt = performance.now();

  let modules = 0;
  const listing = setInterval(() => {
    const note = modules > 0 ? `${modules} modules downloaded` : 'reading the sources';
    onProgress?.({ phase: 'listing', elapsedMs: performance.now() - startedAt, note });
  }, 1000);
  const stale = new Set<string>();
  try {
    await go(['list', '-deps', '-f', '{{if .Stale}}{{.ImportPath}}{{end}}', source.package], {
      ...run,
      onStdout: (line) => line && stale.add(line),
      onStderr: (line) => (modules += Number(line.startsWith('go: downloading '))),
    });
  } finally {
    clearInterval(listing);
  }

  const builtFrom = performance.now();
  let done = 0;
  const report = (): void => onProgress?.(buildProgress({ done, total: stale.size, elapsedMs: performance.now() - builtFrom }));
  const ticker = setInterval(report, 1000);
  try {
    await go(['build', '-v', '-ldflags', `-s -w${variables.join('')}`, '-o', `${outDir}/${name}`, source.package], {
      ...run,
      onStderr: (line) => (done += Number(isPackageLine(line))),
    });
  } finally {
    clearInterval(ticker);
  }
  report();
}

/** Tells whether a line of `go build -v` names a package. */
export function isPackageLine(line: string): boolean {
  return /^[\w.~-]+(\/[\w.~+-]+)*$/.test(line);
}

/**
 * Computes the fraction of packages begun. The last step, linking, is silent and takes as long as some dozens of packages: 4 % are held
 * back for it, so that the line doesn't stand at 100 %.
 */
export function buildProgress(state: { readonly done: number; readonly total: number; readonly elapsedMs: number }): BinaryProgress {
  const { done, elapsedMs } = state;
  const packages = Math.max(state.total, done);
  const total = Math.ceil(packages * 1.04);
  // The early rate is misleading: the smallest packages come first.
  const known = done >= 20 && elapsedMs >= 3000;
  return { phase: 'building', done, total, elapsedMs, remainingMs: known ? (elapsedMs / done) * (total - done) : undefined };
}

function goEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // GOTOOLCHAIN=local keeps Go from downloading a compiler other than the one that was checked.
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

interface GoCommand {
  readonly moduleDir?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  readonly onStdout?: (line: string) => void;
  readonly onStderr?: (line: string) => void;
}

function go(args: readonly string[], { moduleDir, env, signal, onStdout, onStderr }: GoCommand): Promise<void> {
  return new Promise((resolve, reject) => {
    const tail: string[] = [];
    const child = spawn('go', args, { env, stdio: ['ignore', 'pipe', 'pipe'], cwd: moduleDir, signal });
    createInterface({ input: child.stdout }).on('line', (line) => onStdout?.(line));
    createInterface({ input: child.stderr }).on('line', (line) => {
      tail.push(line);
      if (tail.length > 20) tail.shift();
      onStderr?.(line);
    });
    child.on('error', (cause) => reject(signal?.aborted ? signal.reason : new Error('Go can not be started', { cause })));
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`go ${args[0]} ${args.at(-1)} failed with exit code ${code}:\n${tail.join('\n')}`));
    });
  });
}
