/** The two programs of (d), built as they would be shipped: a static Go binary and an esbuild bundle. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { build } from 'esbuild';

const buildDir = fileURLToPath(new URL('../.build/', import.meta.url));
const goBaseline = fileURLToPath(new URL('../go-baseline/', import.meta.url));
const statusLoop = fileURLToPath(new URL('status-loop.ts', import.meta.url));

export interface LoopProgram {
  readonly condition: string;
  readonly command: (options: LoopOptions) => readonly [file: string, ...args: string[]];
}

export interface LoopOptions {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly concurrency: number;
}

export async function buildGoLoop(): Promise<LoopProgram> {
  await mkdir(buildDir, { recursive: true });
  const binary = `${buildDir}go-baseline`;
  try {
    await promisify(execFile)('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', binary, '.'], {
      cwd: goBaseline,
      env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
    });
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new Error(missing ? 'there is no Go: install Go 1.24 or newer to build bench/go-baseline' : `bench/go-baseline does not build: ${String(error)}`, {
      cause: error,
    });
  }
  const condition = 'BenchGo';
  return {
    condition,
    command: ({ kubeconfig, namespace, concurrency }) => [
      binary,
      `-config=${kubeconfig}`,
      `-namespace=${namespace}`,
      `-condition=${condition}`,
      `-concurrency=${concurrency}`,
    ],
  };
}

export async function buildNodeLoop(): Promise<LoopProgram> {
  const bundle = `${buildDir}status-loop.mjs`;
  await build({
    entryPoints: [statusLoop],
    outfile: bundle,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
  const condition = 'BenchNode';
  return {
    condition,
    command: ({ kubeconfig, namespace, concurrency }) => [process.execPath, bundle, kubeconfig, namespace, condition, String(concurrency)],
  };
}

/** A program that runs; `ready` resolves when it has said so. */
export interface RunningLoop {
  readonly pid: number;
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

export function startLoop(program: LoopProgram, options: LoopOptions): RunningLoop {
  const [file, ...args] = program.command(options);
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  const exited = once(child, 'exit').then(([code, signal]) => `ended with ${String(code ?? signal)}: ${errors.slice(-3).join(' / ')}`);
  const ready = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'ready') resolve();
    });
    exited.then(
      (how) => reject(new Error(`${file} ${how}`)),
      (error: unknown) => reject(new Error(`${file} can't be started`, { cause: error })),
    );
  });
  // Whoever waits for readiness hears of it; an end after that is the stop below.
  ready.catch(() => undefined);
  return { pid: child.pid ?? 0, ready, stop: () => stopChild(child, exited) };
}

async function stopChild(child: ChildProcess, exited: Promise<string>): Promise<void> {
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exited.catch(() => undefined);
  clearTimeout(late);
}
