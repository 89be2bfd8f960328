/** Tests what the chart's admission policies refuse beyond what RBAC can say, at a real API server. */
import { randomBytes } from 'node:crypto';

import { beforeAll, describe, expect, it } from 'vitest';

import { createTransport, loadKubeConfig } from '../../../kube/index.ts';
import { aKnowledgeBase, anAgent, anAgentTest, aPhoneNumber, type TestManifest } from '../../support/builders.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { run, type Finished } from '../../support/run.ts';
import { chart, helm, ofKind, parseManifests, render, RELEASE, withValues } from './helm.ts';

const suffix = randomBytes(4).toString('hex');
/** Namespace of the release; of an organisation whose namespace is not annotated; of one that is; and of one of a stricter release. */
const [home, org, prefixed, strict] = ['policies', 'org', 'prefixed', 'strict'].map((name) => `${name}-${suffix}`) as [
  string,
  string,
  string,
  string,
];
const PREFIXES = 'parley.dev/phone-number-prefixes';

const account = (role: string): string => `system:serviceaccount:${home}:${RELEASE}-${role}`;

async function kubectl(args: readonly string[], input: unknown = ''): Promise<Finished> {
  const { kubeconfig, kubectl: binary } = await controlPlane();
  return run(binary, [`--kubeconfig=${kubeconfig}`, ...args], { input: typeof input === 'string' ? input : JSON.stringify(input) });
}

async function done(args: readonly string[], input: unknown = ''): Promise<Finished> {
  const finished = await kubectl(args, input);
  expect(finished.code, finished.stderr).toBe(0);
  return finished;
}

const list = (items: readonly unknown[]) => ({ apiVersion: 'v1', kind: 'List', items });

/** Renders the policies of a release with what they are about, bound to these namespaces alone: other suites share the API server. */
async function policies(release: string, namespaces: readonly string[], values: object): Promise<readonly unknown[]> {
  const text = await helm(['template', RELEASE, chart, `--namespace=${release}`, '--kube-version=1.34.4'], {
    values: withValues({ organizations: [org, prefixed], ...values }),
  });
  return parseManifests(text)
    .filter(({ kind }) =>
      [
        'ServiceAccount',
        'ClusterRole',
        'ClusterRoleBinding',
        'RoleBinding',
        'ValidatingAdmissionPolicy',
        'ValidatingAdmissionPolicyBinding',
      ].includes(kind),
    )
    .map((manifest) => {
      if (manifest.kind !== 'ValidatingAdmissionPolicyBinding') return manifest;
      const namespaceSelector = { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: namespaces }] };
      return Object.assign(manifest, { spec: { ...manifest['spec'], matchResources: { namespaceSelector } } });
    });
}

const apply = (as: string, manifest: object): Promise<Finished> =>
  kubectl(['apply', '--server-side', '--force-conflicts', `--as=${as}`, '--filename=-'], manifest);
const merge = (as: string, what: string, patch: object): Promise<Finished> =>
  kubectl(['patch', ...what.split(' '), `--namespace=${org}`, '--type=merge', `--as=${as}`, `--patch=${JSON.stringify(patch)}`]);

beforeAll(async () => {
  const namespace = (name: string, annotations = {}) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, annotations } });
  await done(
    ['create', '--filename=-'],
    list([namespace(home), namespace(org), namespace(prefixed, { [PREFIXES]: '+4930, +8801' }), namespace(strict)]),
  );
  // The controller that adds the chart's ClusterRoles to Kubernetes' own doesn't run here: these users have them directly.
  const bindings = [org, prefixed, strict].flatMap((where) =>
    [
      ['editor', 'view'],
      ['editor', 'edit'],
      ['admin', 'view'],
      ['admin', 'edit'],
      ['admin', 'admin'],
    ].map(([user, role]) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: `${user}-${role}`, namespace: where },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `${home}-${RELEASE}-${role}` },
      subjects: [{ kind: 'User', name: user }],
    })),
  );
  const strictly = { admissionPolicies: { phoneNumberPrefixes: { required: true } }, organizations: [] };
  const items = [...(await policies(home, [org, prefixed], {})), ...(await policies(strict, [strict], strictly)), ...bindings];
  await done(['apply', '--server-side', '--filename=-'], list(items));
});

/** Waits for a refusal: a policy is known to the API server a moment after it was made. */
const expectRefused = (attempt: () => Promise<Finished>, message: string): Promise<void> =>
  eventually(async () => expect((await attempt()).stderr).toContain(message));

/** Returns why an attempt failed; nothing for one that succeeded. */
const failure = async (attempt: Promise<Finished>): Promise<string> => {
  const { code, stderr } = await attempt;
  return code === 0 ? '' : stderr;
};

describe('the roles', () => {
  const secret = (name: string, type?: string, labels: object = { 'parley.dev/companion-of': 'agent' }) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: org, labels, annotations: { 'kubernetes.io/service-account.name': 'default' } },
    ...(type !== undefined && { type }),
  });
  const create = (as: readonly string[], manifest: object): Promise<Finished> =>
    kubectl(['create', '--dry-run=server', ...as, '--filename=-'], manifest);

  it.each(['operator', 'api'])('let the %s create no Secret into which Kubernetes would write a token', async (role) => {
    const as = [`--as=${account(role)}`];
    await expectRefused(
      () => create(as, secret('made', 'kubernetes.io/service-account-token')),
      'Parley creates Secrets of the type Opaque only',
    );
    expect(await create(as, secret('made', 'kubernetes.io/tls'))).toMatchObject({ code: 1 });
    for (const type of ['Opaque', undefined]) expect(await failure(create(as, secret('made', type)))).toBe('');
    // Nobody else is held by it.
    expect(await failure(create([], secret('made', 'kubernetes.io/service-account-token')))).toBe('');
  });

  it('write only Secrets of their own', async () => {
    const own = 'Parley writes only Secrets of its own, which have the label parley.dev/companion-of';
    await done(['create', '--filename=-'], list([secret('theirs', 'Opaque', {}), secret('ours', 'Opaque')]));
    await expectRefused(() => create([`--as=${account('api')}`], secret('made', 'Opaque', {})), own);
    for (const role of ['operator', 'api']) {
      const label = { metadata: { labels: { 'parley.dev/companion-of': 'agent' } } };
      for (const patch of [{ stringData: { key: 'value' } }, label])
        expect((await merge(account(role), 'secret theirs', patch)).stderr).toContain(own);
      expect(await failure(merge(account(role), 'secret ours', { stringData: { key: role } }))).toBe('');
    }
    const remove = (name: string) => kubectl(['delete', 'secret', name, `--namespace=${org}`, `--as=${account('api')}`]);
    expect((await remove('theirs')).stderr).toContain(own);
    expect(await failure(remove('ours'))).toBe('');
  });

  it('are refused in words that the REST API tells from a permission that it lacks', async () => {
    const transport = createTransport({ kubeConfig: loadKubeConfig({ path: (await controlPlane()).kubeconfig }) });
    const post = (namespace: string): Promise<unknown> =>
      transport.request({
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/secrets`,
        headers: { 'Impersonate-User': account('api') },
        body: secret('made', 'Opaque', {}),
      });
    try {
      await expect(post(org)).rejects.toMatchObject({ code: 403, refusedByAdmission: true });
      await expect(post(home)).rejects.toMatchObject({ code: 403, refusedByAdmission: false });
    } finally {
      await transport.close();
    }
  });

  it('change no spec as the operator', async () => {
    const number = aPhoneNumber('kept', '+15550100', org);
    await done(['apply', '--server-side', '--filename=-'], number);
    await expectRefused(
      () => merge(account('operator'), 'phonenumber kept', { spec: { suspend: true } }),
      'the operator changes finalizers and status only, never spec',
    );
    expect(await failure(merge(account('operator'), 'phonenumber kept', { metadata: { finalizers: ['parley.dev/finalizer'] } }))).toBe('');
    expect(await failure(merge(account('operator'), 'phonenumber kept', { metadata: { finalizers: null } }))).toBe('');
    expect(await failure(merge(account('operator'), 'phonenumber kept --subresource=status', { status: { observedGeneration: 1 } }))).toBe(
      '',
    );
    expect(await failure(merge(account('api'), 'phonenumber kept', { spec: { suspend: true } }))).toBe('');
  });
});

describe('people', () => {
  it('skip the tests of a revision with the verb alone', async () => {
    const agent = (skipped?: string): TestManifest =>
      anAgent('desk', org, skipped === undefined ? {} : { release: { skipTests: { revision: skipped.repeat(64), reason: 'hotfix' } } });
    const verb = `needs the verb skip-tests on agents in the namespace ${org}`;
    await expectRefused(() => apply('editor', agent('a')), verb);
    expect(await failure(apply('editor', agent()))).toBe('');
    expect((await apply('editor', agent('a'))).stderr).toContain(verb);
    expect(await failure(apply('admin', agent('a')))).toBe('');
    // What is skipped already can be edited around and taken back, but not for another revision.
    expect(await failure(merge('editor', 'agent desk', { spec: { displayName: 'Desk' } }))).toBe('');
    expect((await apply('editor', agent('b'))).stderr).toContain(verb);
    expect(await failure(apply('editor', agent()))).toBe('');
  });

  it.each([
    ['agents', anAgent('leaves', org)],
    ['phonenumbers', aPhoneNumber('leaves', '+15550101', org)],
    ['knowledgebases', aKnowledgeBase('leaves', org)],
  ])('orphan %s with the verb alone', async (resource, manifest) => {
    const policy = (deletionPolicy: string): object => ({ ...manifest, spec: { ...manifest.spec, deletionPolicy } });
    const verb = `needs the verb orphan on ${resource} in the namespace ${org}`;
    await expectRefused(() => apply('editor', policy('Orphan')), verb);
    expect(await failure(apply('editor', policy('Delete')))).toBe('');
    expect((await apply('editor', policy('Orphan'))).stderr).toContain(verb);
    expect(await failure(apply('admin', policy('Orphan')))).toBe('');
    expect(await failure(merge('editor', `${resource} leaves`, { spec: { suspend: true } }))).toBe('');
    expect(await failure(apply('editor', policy('Delete')))).toBe('');
  });

  it('require tests with the verb alone', async () => {
    const test = (required: boolean, agents: readonly string[] = ['desk']): TestManifest =>
      anAgentTest('gate', 'desk', org, { required, agentRefs: agents.map((name) => ({ name })) });
    const verb = `needs the verb require on agenttests in the namespace ${org}`;
    await expectRefused(() => apply('editor', test(true)), verb);
    expect(await failure(apply('editor', test(false)))).toBe('');
    expect((await apply('editor', test(true))).stderr).toContain(verb);
    expect(await failure(apply('admin', test(true)))).toBe('');
    // What is required already can be changed and taken back by those who edit, but for no other agents.
    expect(await failure(merge('editor', 'agenttest gate', { spec: { suspend: true } }))).toBe('');
    expect((await apply('editor', test(true, ['desk', 'others']))).stderr).toContain(verb);
    expect(await failure(apply('admin', test(true, ['desk', 'others'])))).toBe('');
    expect(await failure(apply('editor', test(true)))).toBe('');
    expect(await failure(apply('editor', test(false)))).toBe('');
    // REST sets it as well.
    expect(await failure(apply(account('api'), test(true)))).toBe('');
  });
});

describe('phone numbers', () => {
  const create = (namespace: string, number: string): Promise<Finished> =>
    kubectl(['create', '--dry-run=server', '--as=editor', '--filename=-'], aPhoneNumber('line', number, namespace));

  it('begin with a prefix of the namespace, where it has the annotation', async () => {
    await expectRefused(
      () => create(prefixed, '+15550100'),
      `spec.number +15550100 begins with none of the prefixes that the namespace ${prefixed} may have: its annotation ${PREFIXES} is "+4930, +8801"`,
    );
    for (const number of ['+4930123456', '+8801712345678']) expect(await failure(create(prefixed, number))).toBe('');
    expect(await failure(create(org, '+15550100'))).toBe('');
  });

  it('may be changed when the prefixes have changed', async () => {
    const line = aPhoneNumber('stays', '+4930123457', prefixed);
    expect(await failure(apply('editor', line))).toBe('');
    await done(['annotate', 'namespace', prefixed, '--overwrite', `${PREFIXES}=+8801`]);
    await expectRefused(() => create(prefixed, '+4930123456'), 'begins with none of the prefixes');
    expect(await failure(apply('editor', { ...line, spec: { ...(line.spec as object), suspend: true } }))).toBe('');
    // An annotation without prefixes allows none.
    await done(['annotate', 'namespace', prefixed, '--overwrite', `${PREFIXES}=,`]);
    await expectRefused(() => create(prefixed, '+8801712345678'), 'begins with none of the prefixes');
  });

  it('need the annotation, where the chart asks for it', async () => {
    await expectRefused(
      () => create(strict, '+15550100'),
      `the namespace ${strict} may have no phone numbers until its annotation ${PREFIXES} says which, such as "+4930, +8801"`,
    );
    await done(['annotate', 'namespace', strict, `${PREFIXES}=+`]);
    await eventually(async () => expect(await failure(create(strict, '+15550100'))).toBe(''));
  });
});

describe('the policies', () => {
  const names = async (values: object): Promise<readonly string[]> =>
    ofKind(await render(withValues(values)), 'ValidatingAdmissionPolicy').map(({ metadata }) =>
      metadata.name.replace('parley-system-parley-', ''),
    );
  const all = ['secrets', 'operator-keeps-spec', 'skip-tests', 'orphan', 'required-tests', 'phone-number-prefixes'];

  it('are made for the cluster alone', async () => {
    expect(await names({})).toEqual(all);
    expect(await names({ namespaced: true })).toEqual([]);
  });

  it.each([
    ['secrets', 'secrets', false],
    ['operatorKeepsSpec', 'operator-keeps-spec', false],
    ['skipTests', 'skip-tests', false],
    ['orphan', 'orphan', false],
    ['requiredTests', 'required-tests', false],
    ['phoneNumberPrefixes', 'phone-number-prefixes', { enabled: false }],
  ])('can be left out: %s', async (value, name, off) => {
    expect(await names({ admissionPolicies: { [value]: off } })).toEqual(all.filter((each) => each !== name));
  });

  it('are each bound, and deny', async () => {
    const manifests = await render(withValues());
    const bound = ofKind(manifests, 'ValidatingAdmissionPolicyBinding').map(({ spec }) => spec as unknown);
    expect(bound).toEqual(
      ofKind(manifests, 'ValidatingAdmissionPolicy').map(({ metadata }) => ({ policyName: metadata.name, validationActions: ['Deny'] })),
    );
  });
});
