import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import { startFaultProxy, type FaultProxy } from '../../test/support/fault-proxy/fault-proxy.ts';
import { testFolder } from '../../test/support/folders.ts';
import { lazyTransport } from './lazy-transport.ts';

const logger = createLogger({ role: 'voice', level: 'silent' });

let server: FaultProxy;
let folder: string;
beforeEach(async () => {
  server = await startFaultProxy(() => ({ body: { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'acme', name: 'speech' } } }));
  folder = testFolder();
});
afterEach(() => server.stop());

it('a kubeconfig that could not be read once is read again, and nothing is to be closed until then', async () => {
  const file = join(folder, 'kubeconfig');
  const transport = lazyTransport({ KUBECONFIG: file }, logger);
  const read = () => transport.request({ method: 'GET', path: '/api/v1/namespaces/acme/secrets/speech' });
  await expect(read()).rejects.toThrow(/KUBECONFIG/);
  await expect(transport.close()).resolves.toBeUndefined();
  writeFileSync(file, server.kubeConfig.exportConfig());
  expect(await read()).toMatchObject({ metadata: { name: 'speech' } });
  await transport.close();
});
