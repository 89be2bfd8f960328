import { randomBytes } from 'node:crypto';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { controlPlane } from './control-plane.ts';

const run = promisify(execFile);

/** Creates a namespace that counts as an organisation, and answers its name. */
export async function organizationNamespace(prefix = 'org'): Promise<string> {
  const name = `${prefix}-${randomBytes(4).toString('hex')}`;
  const { kubeconfig, kubectl } = await controlPlane();
  await run(kubectl, [`--kubeconfig=${kubeconfig}`, 'create', 'namespace', name]);
  await run(kubectl, [`--kubeconfig=${kubeconfig}`, 'label', 'namespace', name, 'parley.dev/organization=true']);
  return name;
}
