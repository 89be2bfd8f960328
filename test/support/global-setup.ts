import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { TestProject } from 'vitest/node';

import { readSharedStack } from './shared-stack.ts';
import { installManifests, TestStack, type TestStackAddresses } from './test-stack.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a test file asks for the servers; they start when the first one does. */
    readonly parleyTestServers: string;
  }
}

/**
 * Offers the servers to the test files, which run in processes of their own, over a small HTTP server: asking is what
 * starts them. `PARLEY_TEST_STACK` names the file of a stack that `scripts/test-stack.ts` keeps running instead.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = readSharedStack(process.env);
  if (shared !== undefined) await installManifests(shared.controlPlane);
  const stack = new TestStack();
  const answers: Readonly<Record<string, () => Promise<unknown>>> = {
    '/control-plane': async () => shared?.controlPlane ?? stack.controlPlane(),
    '/database': async () => shared?.databaseUrl ?? stack.databaseUrl(),
    // A stack that an older checkout keeps has none.
    '/media-server': async () => (shared as Partial<TestStackAddresses> | undefined)?.mediaServer ?? stack.mediaServer(),
    '/temporal': async () => shared?.temporalAddress ?? stack.temporalAddress(),
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ''];
    if (answer === undefined) {
      response.writeHead(404).end();
      return;
    }
    answer().then(
      (value) => response.end(JSON.stringify(value)),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project.provide('parleyTestServers', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await stack.stop();
  };
}
