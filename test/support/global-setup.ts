import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { TestProject } from 'vitest/node';

import { OwnControlPlanes } from './own-control-planes.ts';
import { readSharedStack } from './shared-stack.ts';
import { installManifests, TestStack, type TestStackAddresses } from './test-stack.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address at which a test file asks for the servers; they start when the first one does. */
    readonly parleyTestServers: string;
  }
}

/**
 * Offers the servers to the test files, which run in processes of their own, over a small HTTP server: a request is what starts them.
 * `PARLEY_TEST_STACK` names the file of a stack that `scripts/test-stack.ts` keeps running instead.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = readSharedStack(process.env);
  if (shared !== undefined) await installManifests(shared.controlPlane);
  const stack = new TestStack();
  const own = new OwnControlPlanes();
  const answers: Readonly<Record<string, (query: URLSearchParams) => Promise<unknown>>> = {
    '/control-plane': async () => shared?.controlPlane ?? stack.controlPlane(),
    '/own-control-plane/take': () => own.take(),
    '/own-control-plane/give-back': async (query) => own.giveBack(query.get('server') ?? ''),
    '/database': async () => shared?.databaseUrl ?? stack.databaseUrl(),
    // A stack that an older checkout keeps has no media server.
    '/media-server': async () => (shared as Partial<TestStackAddresses> | undefined)?.mediaServer ?? stack.mediaServer(),
    '/temporal': async () => shared?.temporalAddress ?? stack.temporalAddress(),
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const answer = answers[pathname];
    if (answer === undefined) {
      response.writeHead(404).end();
      return;
    }
    answer(searchParams).then(
      (value) => response.end(JSON.stringify(value ?? null)),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project.provide('parleyTestServers', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await Promise.all([stack.stop(), own.stop()]);
  };
}
