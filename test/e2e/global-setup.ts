/** Starts one `parley dev` stack, as a user starts it, for all end-to-end suites. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { TestProject } from 'vitest/node';

import { run } from '../support/run.ts';
import { parley, readStackEnv, startDevStack, type TestStackEnv } from '../support/stack.ts';

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
  await startDevStack(fresh);
  project.provide('stack', { folder: fresh, env: await readStackEnv(fresh) });
  return async () => {
    await run(parley, ['dev', 'stop'], { cwd: fresh });
    await rm(fresh, { recursive: true, force: true });
  };
}
