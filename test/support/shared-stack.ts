import { readFileSync } from 'node:fs';

import type { TestStackAddresses } from './test-stack.ts';

/** Reads the addresses of the stack that `PARLEY_TEST_STACK` names; undefined when it names none. */
export function readSharedStack(env: NodeJS.ProcessEnv): TestStackAddresses | undefined {
  const file = env['PARLEY_TEST_STACK'];
  if (file === undefined || file === '') return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestStackAddresses;
  } catch (error) {
    throw new Error(`PARLEY_TEST_STACK names ${file}, which can't be read: start it with \`node scripts/test-stack.ts ${file}\``, {
      cause: error,
    });
  }
}
