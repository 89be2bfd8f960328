/** One `parley dev` stack, started as a user starts it, for all end-to-end suites. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { TestProject } from 'vitest/node';

import { run } from '../support/run.ts';
import { parley, readStackEnv, type TestStackEnv } from '../support/stack.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder in which the stack runs, and its `.parley/dev.env`. */
    stack: { readonly folder: string; readonly env: TestStackEnv };
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = process.env['PARLEY_E2E_STACK'];
  if (folder !== undefined) {
    project.provide('stack', { folder, env: await readStackEnv(folder) });
    return async () => {};
  }
  const fresh = await mkdtemp(join(tmpdir(), 'parley-e2e-'));
  await startStack(fresh);
  project.provide('stack', { folder: fresh, env: await readStackEnv(fresh) });
  return async () => {
    await run(parley, ['dev', 'stop'], { cwd: fresh });
    await rm(fresh, { recursive: true, force: true });
  };
}

/** In the foreground, so that Ctrl-C, which goes to all processes of a terminal, ends it with the tests. */
function startStack(cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const stack = spawn(parley, ['dev'], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [stack.stdout, stack.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('Parley is up')) resolve();
      });
    }
    stack.on('exit', (code) => reject(new Error(`parley dev ended with ${code}:\n${output}`)));
  });
}
