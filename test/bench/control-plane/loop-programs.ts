/** Builds the two programs of (d) as they would be shipped: a static Go binary and an esbuild bundle. */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { build } from 'esbuild';

import { startChild, type Child } from '../harness/child.ts';

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
    throw new Error(
      missing
        ? 'there is no Go: install Go 1.24 or newer to build test/bench/go-baseline'
        : `test/bench/go-baseline does not build: ${String(error)}`,
      {
        cause: error,
      },
    );
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

/** Starts a program, which prints `ready` once its caches are full. */
export function startLoop(program: LoopProgram, options: LoopOptions): Child {
  const [file, ...args] = program.command(options);
  return startChild({ file, args, logFile: `${buildDir}${program.condition}.log` });
}
