import { randomBytes } from 'node:crypto';

import { createTransport, loadKubeConfig } from '../../kube/index.ts';
import { controlPlane } from './control-plane.ts';

/** Creates a namespace that counts as an organisation, and returns its name. */
export async function organizationNamespace(prefix = 'org'): Promise<string> {
  const name = `${prefix}-${randomBytes(4).toString('hex')}`;
  const transport = createTransport({ kubeConfig: loadKubeConfig({ path: (await controlPlane()).kubeconfig }) });
  const metadata = { name, labels: { 'parley.dev/organization': 'true' } };
  await transport.request({ method: 'POST', path: '/api/v1/namespaces', body: { apiVersion: 'v1', kind: 'Namespace', metadata } });
  await transport.close();
  return name;
}
