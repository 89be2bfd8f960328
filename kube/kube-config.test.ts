import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished, vi } from 'vitest';

import { loadKubeConfig } from './kube-config.ts';

it('says that there is no kubeconfig, rather than that an API server which nobody named refuses', () => {
  const home = mkdtempSync(join(tmpdir(), 'parley-home-'));
  vi.stubEnv('HOME', home);
  vi.stubEnv('KUBECONFIG', undefined);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(home, { recursive: true });
  });
  expect(() => loadKubeConfig()).toThrow(`there is no kubeconfig: neither KUBECONFIG nor ${home}/.kube/config`);
});
