/**
 * Keeps the servers of the integration tests running, so that runs of vitest can share them:
 *   node scripts/test-stack.ts /tmp/stack.json &
 *   PARLEY_TEST_STACK=/tmp/stack.json npx vitest run test/integration/…
 */
import { rm, writeFile } from 'node:fs/promises';

import { TestStack, type TestStackAddresses } from '../test/support/test-stack.ts';

const [file] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write('usage: node scripts/test-stack.ts <file for the addresses>\n');
  process.exit(2);
}
const stack = new TestStack();
const stopped = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
});
try {
  const [controlPlane, databaseUrl, temporalAddress, mediaServer] = await Promise.all([
    stack.controlPlane(),
    stack.databaseUrl(),
    stack.temporalAddress(),
    stack.mediaServer(),
  ]);
  await writeFile(file, JSON.stringify({ controlPlane, databaseUrl, temporalAddress, mediaServer } satisfies TestStackAddresses), {
    mode: 0o600,
  });
  process.stdout.write(`the servers are up; their addresses are in ${file}\n`);
  await stopped;
} finally {
  await rm(file, { force: true });
  await stack.stop();
}
