import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';

import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { createTransport, loadKubeConfig, type KubeRequest } from '../../../kube/index.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFolder } from '../../support/folders.ts';

interface RawKubeConfig {
  readonly clusters: readonly { readonly name: string; readonly cluster: Readonly<Record<string, unknown>> }[];
}

const version: KubeRequest = { method: 'GET', path: '/version' };

describe('TLS to a real API server', () => {
  const folder = suiteFolder();
  let raw: RawKubeConfig;
  let ca: string;
  const stranger = rootCertificates[0] ?? '';

  beforeAll(async () => {
    raw = parse(readFileSync((await controlPlane()).kubeconfig, 'utf8')) as RawKubeConfig;
    ca = Buffer.from(String(raw.clusters[0]?.cluster['certificate-authority-data']), 'base64').toString();
  });

  function kubeconfig(name: string, trust: object): string {
    const path = join(folder, name);
    const clusters = raw.clusters.map((each) => ({ name: each.name, cluster: { server: each.cluster['server'], ...trust } }));
    writeFileSync(path, JSON.stringify({ ...raw, clusters }));
    return path;
  }

  it('trusts the CAs of the kubeconfig, and no others', async () => {
    const data = Buffer.from(stranger).toString('base64');
    const wrong = createTransport({ kubeConfig: loadKubeConfig({ path: kubeconfig('wrong', { 'certificate-authority-data': data }) }) });
    await expect(wrong.request(version)).rejects.toMatchObject({
      code: 0,
      reason: 'Unreachable',
      message: expect.stringContaining('certificate'),
    });
    await wrong.close();
    const none = createTransport({ kubeConfig: loadKubeConfig({ path: kubeconfig('none', {}) }) });
    await expect(none.request(version)).rejects.toMatchObject({ code: 0, reason: 'Unreachable' });
    await none.close();
    const insecure = createTransport({
      kubeConfig: loadKubeConfig({ path: kubeconfig('insecure', { 'insecure-skip-tls-verify': true }) }),
    });
    expect(await insecure.request(version)).toHaveProperty('gitVersion');
    await insecure.close();
  });

  it('takes a CA file that was replaced, without a restart', async () => {
    writeFileSync(join(folder, 'ca.crt'), stranger);
    const transport = createTransport({ kubeConfig: loadKubeConfig({ path: kubeconfig('file', { 'certificate-authority': 'ca.crt' }) }) });
    await expect(transport.request(version)).rejects.toMatchObject({ reason: 'Unreachable' });
    writeFileSync(join(folder, 'ca.crt'), ca);
    expect(await eventually(() => transport.request(version))).toHaveProperty('gitVersion');
    writeFileSync(join(folder, 'ca.crt'), stranger);
    await eventually(() => expect(transport.request(version)).rejects.toMatchObject({ reason: 'Unreachable' }));
    await transport.close();
  });
});
