/** Tests what the roles may do with Secrets beyond what RBAC can say, at a real API server. */
import { randomBytes } from 'node:crypto';

import { expect, it } from 'vitest';

import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { run, type Finished } from '../../support/run.ts';
import { chart, helm, ofKind, parseManifests, render, RELEASE, withValues } from './helm.ts';

it('lets the roles create no Secret into which Kubernetes would write a token', async () => {
  const [namespace, org] = [`policy-${randomBytes(4).toString('hex')}`, `org-${randomBytes(4).toString('hex')}`];
  const { kubeconfig, kubectl: binary } = await controlPlane();
  const kubectl = (args: readonly string[], input = ''): Promise<Finished> =>
    run(binary, [`--kubeconfig=${kubeconfig}`, ...args], { input });
  const text = await helm(['template', RELEASE, chart, `--namespace=${namespace}`, '--kube-version=1.34.4'], {
    values: withValues({ organizations: [org] }),
  });
  const items = parseManifests(text).filter(({ kind }) =>
    ['ServiceAccount', 'ClusterRole', 'RoleBinding', 'ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'].includes(kind),
  );
  for (const name of [namespace, org]) await kubectl(['create', 'namespace', name]);
  const applied = await kubectl(['apply', '--server-side', '--filename=-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  expect(applied.code, applied.stderr).toBe(0);

  const create = (as: string, type: string | undefined): Promise<Finished> => {
    const annotations = { 'kubernetes.io/service-account.name': 'default' };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'made', annotations }, ...(type !== undefined && { type }) };
    return kubectl(
      ['create', `--namespace=${org}`, '--dry-run=server', ...(as === '' ? [] : [`--as=${as}`]), '--filename=-'],
      JSON.stringify(secret),
    );
  };
  for (const role of ['operator', 'api']) {
    const account = `system:serviceaccount:${namespace}:${RELEASE}-${role}`;
    // The policy is known to the API server a moment after it was made.
    await eventually(async () => {
      const { stderr } = await create(account, 'kubernetes.io/service-account-token');
      expect(stderr).toContain('Parley creates Secrets of the type Opaque only');
    });
    expect(await create(account, 'kubernetes.io/tls')).toMatchObject({ code: 1 });
    for (const type of ['Opaque', undefined]) expect(await create(account, type)).toMatchObject({ code: 0 });
  }
  // Nobody else is held by it.
  expect(await create('', 'kubernetes.io/service-account-token')).toMatchObject({ code: 0 });
});

it('is made on the cluster alone, and can be left out', async () => {
  const policies = async (values: object): Promise<number> => ofKind(await render(withValues(values)), 'ValidatingAdmissionPolicy').length;
  expect(await Promise.all([{}, { namespaced: true }, { rbac: { opaqueSecretsOnly: false } }].map(policies))).toEqual([1, 0, 0]);
});
