/**
 * Installs the chart on a real API server. Only pods don't run there; objects, admission, permissions and the roles that use them are
 * real.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { runApi } from '../../../api/main.ts';
import { explainerOf } from '../../../cli/kubectl/explain/over-rest.ts';
import { createAddressChecks } from '../../../calls/address-checks.ts';
import { stageMarks } from '../../../api/resources/staging.ts';
import { createSweeper } from '../../../api/app.ts';
import { Reader } from '../../../cli/cluster/reader.ts';
import { checkCluster } from '../../../cli/doctor/cluster.ts';
import type { Finding } from '../../../cli/doctor/finding.ts';
import type { RoleName } from '../../../platform/role-names.ts';
import { repositoryRoot } from '../../../local-stack/repository.ts';
import { runDispatcher } from '../../../webhooks/dispatcher/main.ts';
import { createTransport, loadKubeConfig } from '../../../kube/index.ts';
import { runOperator } from '../../../operator/main.ts';
import { loadConfig } from '../../../platform/config/config.ts';
import { createLogger } from '../../../platform/logging.ts';
import type { Store } from '../../../store/index.ts';
import { anAgent, aWebhookSubscription } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { undescribedMetrics } from '../../support/metrics-reference.ts';
import { migratedDatabase, type TestDatabase, openPatientStore } from '../../support/postgres.ts';
import { type ChartCluster, startCluster } from './cluster.ts';
import { kinds, wellKnown } from '../../../crds/index.ts';
import { aContext } from '../api/facade.ts';
import { chart, lay, NAMESPACE, ofKind, podsOf, RELEASE, render, type Rendered, roles, withValues } from './helm.ts';
import { batches } from './matrix.ts';

let cluster: ChartCluster;
let db: TestDatabase;
let store: Store;

const values = withValues({ organizations: ['acme', { name: 'globex' }] });

beforeAll(async () => {
  [cluster, db] = await Promise.all([startCluster(), migratedDatabase()]);
  store = openPatientStore(db.url);
  // A careful cluster asks this of every namespace with programs in it.
  await cluster.namespace(NAMESPACE, {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  });
  await cluster.helm(['install', 'definitions', join(chart, 'charts/crds'), '--namespace', NAMESPACE]);
  await cluster.helm(['install', RELEASE, chart, '--namespace', NAMESPACE, '--no-hooks'], values);
  // One namespace is an organisation without a grant, the other no organisation.
  await cluster.namespace('stranger', { 'parley.dev/organization': 'true' });
  await cluster.namespace('elsewhere');
});

afterAll(async () => {
  await store?.close();
  await db?.drop();
  await cluster?.stop();
});

describe('every manifest', () => {
  it('keeps to the restricted standard in every pod, whatever is switched', async () => {
    for (const { name, manifests } of await rendered()) {
      const pods = podsOf(manifests);
      for (const pod of pods) {
        const { spec } = pod.template;
        const where = `${pod.name} with ${name}`;
        expect(spec.securityContext, where).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
        for (const field of ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace']) expect(spec[field], where).toBeUndefined();
        for (const volume of spec.volumes ?? [])
          expect(
            Object.keys(volume).filter((key) => key !== 'name'),
            where,
          ).not.toContain('hostPath');
        for (const container of [...spec.containers, ...(spec.initContainers ?? [])].filter(
          ({ name: own }) => !['beside', 'before'].includes(own),
        )) {
          expect(container.securityContext, where).toMatchObject({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
          expect(container.securityContext, where).not.toMatchObject({ runAsUser: 0 });
          const names = (container.env ?? []).map((entry) => entry.name);
          expect(new Set(names).size, `${where}: a variable comes twice`).toBe(names.length);
          expect(
            container.volumeMounts?.map(({ mountPath }) => mountPath),
            where,
          ).toContain('/tmp');
        }
      }
    }
  });

  it('names everything once, labels it, and puts it where it belongs', async () => {
    for (const { name, manifests } of await rendered()) {
      const seen = new Set<string>();
      for (const { kind, metadata } of manifests) {
        const id = `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
        expect(seen, `${id} with ${name}`).not.toContain(id);
        seen.add(id);
        if (metadata.labels?.['helm.sh/chart'] !== undefined)
          expect(metadata.labels, id).toMatchObject({ 'app.kubernetes.io/instance': RELEASE });
      }
    }
  });

  it('never lets a permission on Secrets reach the whole cluster', async () => {
    for (const { name, manifests } of await rendered()) {
      const clusterWide = new Set(ofKind(manifests, 'ClusterRoleBinding').map(({ roleRef }) => (roleRef as { name: string }).name));
      for (const { metadata, rules } of ofKind(manifests, 'ClusterRole')) {
        const resources = (rules as { resources: string[]; verbs: string[] }[]).flatMap((rule) => rule.resources.concat(rule.verbs));
        expect(resources, metadata.name).not.toContain('*');
        if (clusterWide.has(metadata.name)) expect(resources, `${metadata.name} with ${name}`).not.toContain('secrets');
        const aggregated = Object.keys(metadata.labels ?? {}).some((label) => label.startsWith('rbac.authorization.k8s.io/aggregate-to-'));
        if (aggregated) expect(resources, metadata.name).not.toContain('secrets');
      }
    }
  });

  it('is accepted by the API server, whatever is switched', async () => {
    // The dry runs happen where nothing is installed: fields of an object that is there would be laid under those of the candidate.
    for (const name of ['matrix', 'initech']) await cluster.namespace(name);
    const seen = new Map<string, { readonly object: Rendered; readonly name: string }>();
    for (const { name, manifests } of await rendered()) for (const object of manifests) seen.set(JSON.stringify(object), { object, name });
    expect(seen.size).toBeGreaterThan(300);
    const complaints: string[] = [];
    const ask = async (waiting: { readonly object: Rendered; readonly name: string }[]): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const complaint = await cluster.dryRun(next.object);
        if (complaint !== undefined) complaints.push(`${complaint} (with ${next.name.slice(0, 300)})`);
      }
    };
    const { pods = [], others = [] } = Object.groupBy(seen.values(), ({ object }) => (object.kind === 'Pod' ? 'pods' : 'others'));
    await Promise.all(Array.from({ length: 8 }, () => ask(others)));
    // A pod alone is refused when its class isn't there yet; in a release it comes before.
    for (const name of ['api', 'worker', 'voice']) await cluster.kubectl(['create', 'priorityclass', `matrix-parley-${name}`, '--value=1']);
    const runtimeClass = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'other' }, handler: 'other' };
    await cluster.kubectl(['apply', '--filename=-'], JSON.stringify(runtimeClass));
    await ask(pods);
    expect(complaints).toEqual([]);
  });

  it('makes pods that a namespace with the restricted standard admits', async () => {
    const pods = podsOf(
      await render(
        withValues({
          organizations: ['acme'],
          config: { STORAGE_URL: 'file:///files' },
          storage: { persistentVolumeClaim: { create: true } },
        }),
      ),
    );
    expect(pods).toHaveLength(8);
    for (const { name, template } of pods) {
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'candidate', namespace: NAMESPACE, labels: template.metadata?.labels ?? {} },
        spec: { restartPolicy: 'Always', ...template.spec },
      };
      await expect(cluster.dryRun(pod), name).resolves.toBeUndefined();
      const [container] = pod.spec.containers;
      const loose = { ...pod, spec: { ...pod.spec, containers: [{ ...container, securityContext: {} }] } };
      await expect(cluster.dryRun(loose), 'the namespace would admit anything').resolves.toContain('violates PodSecurity');
    }
  });
});

describe('permissions', () => {
  it('are what the page says, in the cluster, in organisations, and outside of them', async () => {
    const page = await readFile(join(repositoryRoot(), 'docs/install/least-privilege.md'), 'utf8');
    const inCluster = tableOf(page, 'In the cluster');
    const inOrganization = tableOf(page, 'In an organisation, in addition');
    const inRelease = tableOf(page, "In the release's namespace, in addition");
    for (const role of roles) {
      const where = {
        elsewhere: [inCluster],
        stranger: [inCluster],
        acme: [inCluster, inOrganization],
        globex: [inCluster, inOrganization],
        [NAMESPACE]: [inCluster, inRelease],
      };
      for (const [namespace, tables] of Object.entries(where)) {
        expect(await canI(`${RELEASE}-${role}`, namespace), `${role} in ${namespace}`).toEqual(
          union(tables.flatMap((rows) => rows.filter((row) => row.role === role))),
        );
      }
    }
  });

  it('let no role read a Secret outside the organisations', async () => {
    for (const role of roles) {
      for (const namespace of ['elsewhere', 'stranger', 'kube-system', 'default', NAMESPACE]) {
        for (const verb of ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete']) {
          expect(await allowed(role, verb, 'secrets', namespace), `${role} may ${verb} secrets in ${namespace}`).toBe(false);
        }
      }
      for (const verb of ['list', 'watch']) expect(await allowed(role, verb, 'secrets'), `${role} may ${verb} all secrets`).toBe(false);
      for (const resource of ['pods', 'deployments.apps', 'clusterroles.rbac.authorization.k8s.io', 'serviceaccounts/token', 'pods/exec'])
        expect(await allowed(role, 'create', resource, 'acme'), `${role} may create ${resource}`).toBe(false);
    }
  });

  it('satisfy `parley doctor` as every role, which says what is missing where it is not granted', async () => {
    for (const role of roles) {
      const own = await findingsAs(role, { organizations: ['acme', 'globex'], leaseNamespace: NAMESPACE });
      expect(own.filter(({ outcome }) => outcome === 'fail')).toEqual([]);
      expect(own, role).toContainEqual(expect.objectContaining({ check: 'permissions', outcome: 'ok' }));
      const beyond = await findingsAs(role, { organizations: ['acme', 'stranger'], leaseNamespace: NAMESPACE });
      expect(beyond, role).toContainEqual(
        expect.objectContaining({
          check: 'permissions',
          outcome: 'fail',
          detail: expect.stringMatching(/^missing for the \w+: in stranger: [^;]*get secrets[^;]*$/) as string,
          cure: expect.stringContaining('organizations') as string,
        }),
      );
    }
    // doctor finds the organisations by itself where the role may list them, and says so where it may not.
    const found = await findingsAs('operator', { leaseNamespace: 'elsewhere' });
    expect(found).toContainEqual(
      expect.objectContaining({ outcome: 'fail', detail: expect.stringMatching(/in stranger: .*in elsewhere: create leases/) as string }),
    );
    const blind = await findingsAs('voice', { leaseNamespace: NAMESPACE });
    expect(blind).toContainEqual(expect.objectContaining({ check: 'permissions', outcome: 'warn', cure: 'name some: --org <namespace>' }));
  });

  it('let the facade finish what was left behind, past an organisation without a grant', async () => {
    const marks = stageMarks({ for: { kind: 'Agent', name: 'never-made' }, at: '2026-01-01T00:00:00Z', keys: [] });
    const { annotations } = marks;
    const labels = { ...marks.labels, [wellKnown.companionOf]: 'agent' };
    await apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'left-behind', namespace: 'globex', labels, annotations } });
    const kubeConfig = loadKubeConfig({ path: await cluster.kubeconfigOf(NAMESPACE, `${RELEASE}-api`) });
    const transport = createTransport({ kubeConfig });
    const context = aContext({ store, transport, addresses: createAddressChecks(loadConfig({})) });
    const organizations = { list: async () => ['stranger', 'globex'].map((name) => ({ name })) } as unknown as Store['organizations'];
    await createSweeper(context, organizations).sweep();
    await expect(cluster.kubectl(['get', 'secret', 'left-behind', '--namespace=globex'])).rejects.toThrow('NotFound');
    await transport.close();
  });

  it('are enough for an operator, a facade and a dispatcher, and one organisation without them disturbs no other', async () => {
    const stop = new AbortController();
    const port = await freePort();
    const dispatcherPort = await freePort();
    const env = async (role: string) => ({
      DATABASE_URL: db.url,
      KUBECONFIG: await cluster.kubeconfigOf(NAMESPACE, `${RELEASE}-${role}`),
      PARLEY_LEASE_NAMESPACE: NAMESPACE,
      PARLEY_OPERATOR_PORT: '0',
      PARLEY_API_PORT: String(port),
      PARLEY_DISPATCHER_PORT: String(dispatcherPort),
      PARLEY_LOG_LEVEL: 'error',
      STORAGE_URL: 'file:///tmp/parley-chart-test',
    });
    const registries = { operator: new Registry(), api: new Registry(), dispatcher: new Registry() };
    const options = async (role: keyof typeof registries) => ({
      config: loadConfig(await env(role)),
      logger: createLogger({ role, level: 'error' }),
      registry: registries[role],
      signal: stop.signal,
    });
    const running = [
      runOperator(await options('operator')),
      runApi(await options('api'), { explainerOf }),
      runDispatcher(await options('dispatcher')),
    ];
    try {
      await facadeAndOperatorWork(`http://127.0.0.1:${port}`, 'acme');
      // The operator can't look at this organisation's Secrets: the status says so, and says it of this one alone.
      await apply({ ...anAgent('lonely', 'stranger', withKey), metadata: { name: 'lonely', namespace: 'stranger' } });
      await eventually(async () => expect(JSON.stringify(await conditions('stranger', 'lonely'))).toContain('ReferenceForbidden'));
      await facadeAndOperatorWork(`http://127.0.0.1:${port}`, 'globex');
      await eventually(async () => {
        const answer = await fetch(`http://127.0.0.1:${dispatcherPort}/readyz`);
        expect(await answer.text()).not.toMatch(/subscriptions|postgres/);
      });
      // One page describes them.
      expect(await undescribedMetrics('Operator', registries.operator)).toEqual([]);
      expect(await undescribedMetrics('API', registries.api)).toEqual([]);
      expect(await undescribedMetrics('Dispatcher', registries.dispatcher)).toEqual([]);
    } finally {
      stop.abort();
      await Promise.allSettled(running);
    }
  });
});

describe('a release in one namespace', () => {
  it('works with nothing beyond it, as somebody who administers that namespace alone', async () => {
    await cluster.namespace('solo');
    await cluster.namespace('neighbour', { 'parley.dev/organization': 'true' });
    const own = lay(values, { namespaced: true, organizations: [] });
    await cluster.helm(['install', 'solo', chart, '--namespace', 'solo', '--no-hooks'], own);
    for (const role of roles) {
      expect(await canI(`solo-parley-${role}`, 'neighbour', 'solo'), role).toEqual({});
      const findings = await findingsAs(role, { namespace: 'solo', leaseNamespace: 'solo' }, 'solo-parley');
      expect(findings.filter(({ check, outcome }) => check === 'permissions' && outcome !== 'ok')).toEqual([]);
    }
    await apply(anAgent('hidden', 'neighbour'));
    const stop = new AbortController();
    const port = await freePort();
    const options = async (role: string) => ({
      config: loadConfig({
        DATABASE_URL: db.url,
        KUBECONFIG: await cluster.kubeconfigOf('solo', `solo-parley-${role}`),
        PARLEY_NAMESPACE: 'solo',
        PARLEY_LEASE_NAMESPACE: 'solo',
        PARLEY_OPERATOR_PORT: '0',
        PARLEY_API_PORT: String(port),
        PARLEY_LOG_LEVEL: 'error',
        STORAGE_URL: 'file:///tmp/parley-chart-test',
      }),
      logger: createLogger({ role, level: 'error' }),
      registry: new Registry(),
      signal: stop.signal,
    });
    const running = [runOperator(await options('operator')), runApi(await options('api'), { explainerOf })];
    try {
      await facadeAndOperatorWork(`http://127.0.0.1:${port}`, 'solo');
      expect(await conditions('neighbour', 'hidden')).toEqual([]);
    } finally {
      stop.abort();
      await Promise.allSettled(running);
    }
  });
});

describe('who installs', () => {
  it('in one namespace, can be a user with the Role of the page, and not one with less', async () => {
    const page = await readFile(join(repositoryRoot(), 'docs/install/least-privilege.md'), 'utf8');
    const role = parse(page.split('```yaml\n')[1]?.split('```')[0] ?? '') as {
      metadata: { name: string };
      rules: { apiGroups: string[] }[];
    };
    await cluster.namespace('flat');
    const install = [
      'install',
      'flat',
      chart,
      '--namespace',
      'flat',
      '--no-hooks',
      '--kube-as-user',
      'tenant',
      '--kube-as-group',
      'tenants',
    ];
    const own = lay(values, { namespaced: true, organizations: [], crds: { enabled: false } });
    const grant = (rules: object): Promise<void> => apply({ ...role, metadata: { ...role.metadata, namespace: 'flat' }, rules });
    await cluster.kubectl(['create', 'rolebinding', 'tenant', `--role=${role.metadata.name}`, '--user=tenant', '--namespace=flat']);
    await grant(role.rules.filter(({ apiGroups }) => !apiGroups.includes('events.k8s.io')));
    await expect(cluster.helm(install, own)).rejects.toThrow('attempting to grant RBAC permissions not currently held');
    await cluster.helm(['uninstall', 'flat', '--namespace', 'flat', '--no-hooks']);
    await grant(role.rules);
    await cluster.helm(install, own);
    await cluster.helm(['uninstall', 'flat', '--namespace', 'flat', '--no-hooks', '--kube-as-user', 'tenant']);
  });

  it('is refused a second release for the whole cluster', async () => {
    await cluster.namespace('second');
    const install = ['install', 'second', chart, '--namespace', 'second', '--no-hooks'];
    const own = lay(values, { organizations: [] });
    await expect(cluster.helm(install, own)).rejects.toThrow(`release ${RELEASE} in namespace ${NAMESPACE}`);
    // `helm template` may look at the release that there is.
    await cluster.helm(['template', RELEASE, chart, '--namespace', NAMESPACE, '--dry-run=server', '--kube-version', '1.34.4'], values);
    // A release that leaves the operator to the other is part of it, and one in a namespace is apart.
    await cluster.helm([...install, '--dry-run=server'], lay(own, { operator: { enabled: false } }));
    await cluster.helm([...install, '--dry-run=server'], lay(own, { namespaced: true }));
  });
});

describe('the life of a release', () => {
  it('changes nothing when it is upgraded to the same, says what it changes, and rolls back', async () => {
    const versions = async (): Promise<string> =>
      cluster.kubectl([
        'get',
        'deploy,svc,sa,role,rolebinding,networkpolicy,pdb',
        `--namespace=${NAMESPACE}`,
        '--output=jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}',
      ]);
    const before = await versions();
    await cluster.helm(['upgrade', RELEASE, chart, '--namespace', NAMESPACE, '--no-hooks'], values);
    expect(await versions()).toBe(before);
    await cluster.helm(
      ['upgrade', RELEASE, chart, '--namespace', NAMESPACE, '--no-hooks'],
      lay(values, { config: { PARLEY_LOG_LEVEL: 'debug' } }),
    );
    const level = [
      'get',
      'deploy',
      'parley-api',
      `--namespace=${NAMESPACE}`,
      '--output=jsonpath={.spec.template.spec.containers[0].env[?(@.name=="PARLEY_LOG_LEVEL")].value}',
    ];
    await expect(cluster.kubectl(level)).resolves.toBe('debug');
    await cluster.helm(['rollback', RELEASE, '--namespace', NAMESPACE, '--no-hooks']);
    await expect(cluster.kubectl(level)).resolves.toBe('');
  });

  it('rolls back past an organisation that was taken off the list when it is back on it', async () => {
    const upgrade = (organizations: readonly unknown[]): Promise<string> =>
      cluster.helm(['upgrade', RELEASE, chart, '--namespace', NAMESPACE, '--no-hooks'], lay(values, { organizations }));
    const revision = async (): Promise<string> => {
      const text = await cluster.helm(['history', RELEASE, '--namespace', NAMESPACE, '--output', 'json']);
      return String((JSON.parse(text) as { revision: number }[]).at(-1)?.revision);
    };
    const before = await revision();
    await upgrade(['acme']);
    const rollback = (): Promise<string> => cluster.helm(['rollback', RELEASE, before, '--namespace', NAMESPACE, '--no-hooks']);
    await expect(rollback()).rejects.toThrow('no Namespace with the name "globex" found');
    await upgrade(['acme', { name: 'globex' }]);
    await rollback();
  });

  it('hands definitions over that somebody else has made', async () => {
    const hand = (release: string, ...more: string[]): Promise<string> =>
      cluster.helm(['upgrade', '--install', release, join(chart, 'charts/crds'), '--namespace', NAMESPACE, ...more]);
    await expect(hand('parley-crds')).rejects.toThrow('invalid ownership metadata');
    await hand('parley-crds', '--take-ownership');
    await cluster.helm(['uninstall', 'parley-crds', '--namespace', NAMESPACE]);
    await hand('definitions', '--take-ownership');
    await expect(cluster.kubectl(['get', 'agents', '--all-namespaces', '--output=name'])).resolves.not.toBe('');
  });

  it('prints the next three commands', async () => {
    const notes = await cluster.helm(['get', 'notes', RELEASE, '--namespace', NAMESPACE]);
    for (const command of ['helm test parley', 'parley keys create --org acme', 'port-forward service/parley-api'])
      expect(notes).toContain(command);
  });

  it('leaves the definitions, the organisations and what is in them', async () => {
    await apply(anAgent('stays', 'acme'));
    await cluster.helm(['uninstall', RELEASE, '--namespace', NAMESPACE, '--no-hooks']);
    await cluster.helm(['uninstall', 'definitions', '--namespace', NAMESPACE]);
    await expect(cluster.kubectl(['get', 'namespace', 'acme', '--output=jsonpath={.status.phase}'])).resolves.toBe('Active');
    await expect(cluster.kubectl(['get', 'agent', 'stays', '--namespace=acme', '--output=name'])).resolves.toBe('agent.parley.dev/stays\n');
    const left = await cluster.kubectl([
      'get',
      'all,sa,role,rolebinding,networkpolicy,pdb',
      `--namespace=${NAMESPACE}`,
      '--output=name',
      '--selector=app.kubernetes.io/instance=parley',
    ]);
    expect(left).toBe('');
    // The chart is installed again, over what was left.
    await cluster.helm(['install', 'definitions', join(chart, 'charts/crds'), '--namespace', NAMESPACE]);
    await cluster.helm(['install', RELEASE, chart, '--namespace', NAMESPACE, '--no-hooks'], values);
  });
});

/** Every batch of the matrix, rendered once for all tests of this file. */
let all: Promise<readonly { readonly name: string; readonly manifests: readonly Rendered[] }[]> | undefined;
function rendered(): Promise<readonly { readonly name: string; readonly manifests: readonly Rendered[] }[]> {
  all ??= batches().then(async (cases) => {
    const done: { name: string; manifests: readonly Rendered[] }[] = [];
    const waiting = [...cases];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const { name, values: own } = next;
        const manifests = await render(own, { namespace: 'matrix' }).catch((error: Error) => {
          throw new Error(`with ${name}: ${error.message}`, { cause: error });
        });
        done.push({ name, manifests });
      }
    };
    await Promise.all([work(), work()]);
    return done;
  });
  return all;
}

interface Row {
  readonly role: string;
  readonly resource: string;
  readonly verbs: readonly string[];
}

/** Reads the rows under a heading of the page. A name next to a resource is the only object that is meant. */
function tableOf(page: string, heading: string): readonly Row[] {
  const section = page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return section
    .split('\n')
    .filter((line) => /^\| (operator|api|worker|dispatcher|voice) \|/.test(line))
    .flatMap((line) => {
      const [, role = '', resources = '', verbs = ''] = line.split('|').map((cell) => cell.trim());
      const words = [...verbs.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
      return resources
        .replaceAll('`', '')
        .split(', ')
        .flatMap((cell) => (cell.startsWith('*.') ? kinds.map(({ descriptor }) => cell.replace('*', descriptor.plural)) : [cell]))
        .map((resource) => ({ role, resource, verbs: words }));
    });
}

function union(rows: readonly Row[]): Record<string, readonly string[]> {
  const found: Record<string, readonly string[]> = {};
  for (const { resource, verbs } of rows) found[resource] = [...new Set([...(found[resource] ?? []), ...verbs])].toSorted();
  return found;
}

/** Returns `kubectl auth can-i --list` without what every service account may, which differs between versions of Kubernetes. */
async function canI(serviceAccount: string, namespace: string, home = NAMESPACE): Promise<Record<string, readonly string[]>> {
  const rowsOf = async (account: string): Promise<readonly Row[]> => {
    const user = `--as=system:serviceaccount:${account}`;
    const text = await cluster.kubectl(['auth', 'can-i', '--list', '--no-headers', `--namespace=${namespace}`, user]);
    return text.split('\n').flatMap((line): Row[] => {
      const match = /^(\S+)\s+\[[^\]]*\]\s+\[([^\]]*)\]\s+\[([^\]]*)\]$/.exec(line);
      if (match === null) return [];
      const [, resource = '', names = '', verbs = ''] = match;
      return [{ role: '', resource: names === '' ? resource : `${resource} ${names}`, verbs: verbs.split(' ') }];
    });
  };
  const [own, anybodys] = await Promise.all([rowsOf(`${home}:${serviceAccount}`), rowsOf('elsewhere:anybody')]);
  return union(own.filter((row) => !anybodys.some((other) => isDeepStrictEqual(row, other))));
}

/** Returns the findings of `parley doctor` about the cluster, as a role of the release. */
async function findingsAs(
  role: RoleName,
  places: { readonly namespace?: string; readonly organizations?: readonly string[]; readonly leaseNamespace: string },
  fullname: string = RELEASE,
): Promise<readonly Finding[]> {
  const kubeconfig = await cluster.kubeconfigOf(places.namespace ?? NAMESPACE, `${fullname}-${role}`);
  const transport = createTransport({ kubeConfig: loadKubeConfig({ path: kubeconfig }) });
  try {
    const found: Finding[] = [];
    for await (const finding of checkCluster(new Reader(transport), { ...places, audience: role })) found.push(finding);
    return found;
  } finally {
    await transport.close();
  }
}

async function allowed(role: string, verb: string, name: string, namespace?: string): Promise<boolean> {
  const [full = '', subresource] = name.split('/');
  const [resource, ...group] = full.split('.');
  const { status } = await cluster.transport.request<{ status: { allowed: boolean } }>({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: `system:serviceaccount:${NAMESPACE}:${RELEASE}-${role}`,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`, 'system:authenticated'],
        resourceAttributes: {
          verb,
          group: group.join('.'),
          resource,
          ...(subresource !== undefined && { subresource }),
          ...(namespace !== undefined && { namespace }),
        },
      },
    },
  });
  return status.allowed;
}

const withKey = { llm: { provider: 'openai', model: 'gpt-4o-mini', apiKeySecretRef: { name: 'models', key: 'openai' } } };

async function apply(manifest: object): Promise<void> {
  await cluster.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], JSON.stringify(manifest));
}

async function conditions(namespace: string, agent: string): Promise<readonly { readonly type: string; readonly status: string }[]> {
  const object = JSON.parse(await cluster.kubectl(['get', 'agent', agent, `--namespace=${namespace}`, '--output=json'])) as {
    status?: { conditions?: { type: string; status: string }[] };
  };
  return object.status?.conditions ?? [];
}

/** Makes an agent whose key is in a Secret, by kubectl and by REST, and a webhook whose signing Secret the operator makes. */
async function facadeAndOperatorWork(url: string, org: string): Promise<void> {
  await apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'models', namespace: org }, stringData: { openai: 'sk-test' } });
  await apply(anAgent('from-git', org, withKey));
  await apply(aWebhookSubscription('from-git', org, { signing: { mode: 'Generated' } }));
  await eventually(async () => {
    expect(await conditions(org, 'from-git')).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
    const secrets = await cluster.kubectl(['get', 'secrets', `--namespace=${org}`, '--output=name']);
    expect(secrets.split('\n').length).toBeGreaterThan(2);
  });
  await store.organizations.create({ name: org });
  const { apiKey } = await store.apiKeys.create({ org, name: 'test', permissions: ['*'], expirationDays: 1, userId: 'test' });
  const call = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200));
  const listed = (await (await call('GET', '/v2/ai-agents')).json()) as object;
  expect(JSON.stringify(listed)).toContain('from-git');
  const number = `+1555010${['acme', 'globex', 'solo'].indexOf(org)}`;
  const made = await call('POST', '/v1/phone-numbers', { phone_number: number, sip_termination_uri: 'sip:trunk.example.com' });
  expect(made.status, await made.text()).toBe(201);
  // The tool's header goes into a Secret.
  const tool = await call('POST', '/v2/ai-agents/from-git/custom-tools/', {
    function_tool: { name: 'find_booking', description: 'Finds a booking.' },
    additional_tool_info: { api: { endpoint: 'https://api.example.com/bookings', headers: { Authorization: 'Bearer example' } } },
  });
  expect(tool.status, await tool.text()).toBeLessThan(300);
}
