import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { startApiServerDouble, type ApiServerDouble } from '../../test/support/api-server-double/index.ts';
import { createLogger } from '../../platform/logging.ts';
import { lazyTransport } from './lazy-transport.ts';

const secrets = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };
const logger = createLogger({ role: 'voice', level: 'silent' });

let double: ApiServerDouble;
let folder: string;
beforeEach(async () => {
  double = await startApiServerDouble();
  double.seed(secrets, [{ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'acme', name: 'speech' } }]);
  folder = mkdtempSync(join(tmpdir(), 'parley-transport-'));
});
afterEach(async () => {
  await double.stop();
  rmSync(folder, { recursive: true });
});

it('a kubeconfig that could not be read once is read again, and nothing is to be closed until then', async () => {
  const file = join(folder, 'kubeconfig');
  const transport = lazyTransport({ KUBECONFIG: file }, logger);
  const read = () => transport.request({ method: 'GET', path: '/api/v1/namespaces/acme/secrets/speech' });
  await expect(read()).rejects.toThrow(/KUBECONFIG/);
  await expect(transport.close()).resolves.toBeUndefined();
  writeFileSync(file, double.kubeConfig.exportConfig());
  expect(await read()).toMatchObject({ metadata: { name: 'speech' } });
  await transport.close();
});
