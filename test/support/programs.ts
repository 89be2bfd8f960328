/** Finds the programs that tests need, or fetches them into the cache, once. Without one a test fails with what to install. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { BinarySpec } from '../../local-stack/binaries/binary-spec.ts';
import { describeProgress } from '../../local-stack/binaries/progress.ts';
import { findPythonWithVenv, pythonWith, type PythonEnvironment } from '../../local-stack/binaries/python-environment.ts';
import { resolveBinary } from '../../local-stack/binaries/resolve.ts';
import { type BinaryName, binarySpec } from '../../local-stack/programs.ts';
import { repositoryRoot } from '../../local-stack/repository.ts';
import { UserError } from '../../platform/user-error.ts';

/** @returns the path of the program */
export function testBinary(name: BinaryName): Promise<string> {
  return resolved(binarySpec(name));
}

/** @returns the path of the Go program whose module is that folder of `test/`, built once for each content of the folder */
export async function testGoProgram(folder: 'collector' | 'gitops-status'): Promise<string> {
  const modules = join(repositoryRoot(), 'test');
  const content = createHash('sha256');
  for (const file of (await readdir(join(modules, folder))).toSorted())
    content.update(`${file}\n`).update(await readFile(join(modules, folder, file)));
  const name = `parley-test-${folder}`;
  const go = { module: folder, package: '.', seconds: 60 };
  return resolved({ name, version: content.digest('hex').slice(0, 16), executable: name, go }, modules);
}

/** @returns the interpreter of a virtual environment with these packages */
export async function testPython(environment: PythonEnvironment): Promise<string> {
  const python = await findPythonWithVenv();
  if (python === undefined)
    throw new Error('Python 3.10 or newer with the modules venv and ensurepip is not on PATH: run apt-get install python3-venv');
  return pythonWith(python, environment);
}

async function resolved(spec: BinarySpec, modules?: string): Promise<string> {
  const onProgress = (progress: Parameters<typeof describeProgress>[0]): void =>
    void process.stderr.write(`${spec.name}: ${describeProgress(progress)}\n`);
  try {
    return (await resolveBinary({ spec, env: process.env, onProgress, ...(modules !== undefined && { modules }) })).path;
  } catch (error) {
    // A test's report has the message alone.
    throw error instanceof UserError ? new Error(`${error.message}\n  → ${error.cure}`, { cause: error }) : error;
  }
}
