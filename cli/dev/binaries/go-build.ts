import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';

/** One program to compile from a pinned Go module under `tools/`. */
export interface GoTarget {
  /** Name of the finished executable. */
  readonly name: string;
  /** Import path of its `main` package. */
  readonly package: string;
  /** Linker flags, e.g. `-s -w -X k8s.io/…gitVersion=v1.34.4`. */
  readonly ldflags: string;
}

export interface GoBuildOptions {
  /** Folder with the `go.mod` that pins the sources. */
  readonly moduleDir: string;
  /** Folder that receives the executable. */
  readonly outDir: string;
  readonly target: GoTarget;
  readonly env?: NodeJS.ProcessEnv;
  /** Milliseconds since any fixed point. */
  readonly now?: () => number;
  readonly onProgress?: (progress: GoBuildProgress) => void;
}

export interface GoBuildProgress {
  /** Packages compiled so far, of those that were not in Go's build cache. */
  readonly done: number;
  readonly total: number;
  readonly elapsedMs: number;
  /** A rough guess from the rate so far; undefined until there is a rate. */
  readonly remainingMs?: number;
}

/**
 * Compiles one target with `go build` and reports progress by package.
 *
 * Go prints a package's name (`-v`) when it begins to compile it; packages already in the build cache
 * are never printed. `go list` tells beforehand which are stale, so the two give a fraction.
 *
 * @throws GoBuildError with the last lines of the compiler when it fails or Go is missing.
 */
export async function goBuild(options: GoBuildOptions): Promise<void> {
  const { moduleDir, outDir, target, onProgress } = options;
  const now = options.now ?? (() => performance.now());
  const env = { ...process.env, ...options.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod -trimpath', GOWORK: 'off' };
  await mkdir(outDir, { recursive: true });

  const stale = new Set<string>();
  await go(['list', '-deps', '-f', '{{if and .Stale (not .Standard)}}{{.ImportPath}}{{else if .Stale}}{{.ImportPath}}{{end}}', target.package], {
    moduleDir,
    env,
    onStdout: (line) => line && stale.add(line),
  });

  const startedAt = now();
  let done = 0;
  const report = (): void => {
    const elapsedMs = now() - startedAt;
    const total = Math.max(stale.size, done);
    onProgress?.({ done, total, elapsedMs, ...(done >= 20 ? { remainingMs: (elapsedMs / done) * (total - done) } : {}) });
  };
  const ticker = setInterval(report, 1000);
  try {
    await go(['build', '-v', '-ldflags', target.ldflags, '-o', `${outDir}/${target.name}`, target.package], {
      moduleDir,
      env,
      onStderr: (line) => {
        if (/^[\w.-]+(\/\S+)*$/.test(line)) done += 1;
      },
    });
  } finally {
    clearInterval(ticker);
  }
  report();
}

/** `go` ended badly or could not be started; `output` holds its last lines. */
export class GoBuildError extends Error {
  readonly output: readonly string[];
  constructor(message: string, output: readonly string[], options?: ErrorOptions) {
    super(message, options);
    this.name = 'GoBuildError';
    this.output = output;
  }
}

interface GoRun {
  readonly moduleDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly onStdout?: (line: string) => void;
  readonly onStderr?: (line: string) => void;
}

function go(args: readonly string[], run: GoRun): Promise<void> {
  return new Promise((resolve, reject) => {
    const tail: string[] = [];
    const child = spawn('go', args, { cwd: run.moduleDir, env: run.env, stdio: ['ignore', 'pipe', 'pipe'] });
    createInterface({ input: child.stdout }).on('line', (line) => run.onStdout?.(line));
    createInterface({ input: child.stderr }).on('line', (line) => {
      tail.push(line);
      if (tail.length > 20) tail.shift();
      run.onStderr?.(line);
    });
    child.on('error', (cause) => {
      reject(new GoBuildError('the Go toolchain (>= 1.24) is not on PATH: install it, or set PARLEY_BINARY_MIRROR', [], { cause }));
    });
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new GoBuildError(`go ${args[0]} ${args.at(-1)} failed with exit code ${code}:\n${tail.join('\n')}`, tail));
    });
  });
}
