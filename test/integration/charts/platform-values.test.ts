/** Tests the values that platform engineers know from other charts, and those that linters of manifests ask for. */
import { describe, expect, it } from 'vitest';

import { find, NAMESPACE, ofKind, podsOf, RELEASE, render, roles, withValues, type Container, type Rendered } from './helm.ts';

const podSpecs = (manifests: readonly Rendered[]) => podsOf(manifests).map(({ name, template }) => ({ name, spec: template.spec }));
const deployment = (manifests: readonly Rendered[], role: string) => find(manifests, 'Deployment', `${RELEASE}-${role}`);
const organizations = ['acme'];

describe('every container', () => {
  it('has requests and limits of memory and disk, and a limit of the processor unless it carries calls', async () => {
    const manifests = await render(withValues({ organizations }));
    const containers = podsOf(manifests).flatMap(({ name, template }) => template.spec.containers.map((one) => [name, one] as const));
    expect(containers.length).toBe(roles.length + 3);
    for (const [name, { resources }] of containers) {
      const { requests, limits } = resources as Record<'requests' | 'limits', Record<string, string>>;
      expect([Object.keys(requests), Object.keys(limits)], name).toEqual([
        ['cpu', 'ephemeral-storage', 'memory'],
        name.endsWith('-voice') ? ['ephemeral-storage', 'memory'] : ['cpu', 'ephemeral-storage', 'memory'],
      ]);
    }
  });

  it('may use as much disk as its volumes hold, or Helm says so', async () => {
    const message = (values: object) => render(withValues(values)).then(() => '', String);
    await expect(message({ voice: { spool: { sizeLimit: '20Gi' } } })).resolves.toContain(
      'voice.resources.limits.ephemeral-storage is 5376Mi, and its volumes may hold 21504 MiB',
    );
    await expect(message({ defaults: { temporaryVolume: { sizeLimit: '2G' } } })).resolves.toContain('Raise it to at least 2163Mi');
    const limits = { 'ephemeral-storage': '22Gi' };
    await expect(message({ voice: { spool: { sizeLimit: '20Gi' }, resources: { limits } } })).resolves.toBe('');
    await expect(message({ voice: { spool: { sizeLimit: '20Gi', medium: 'Memory' } } })).resolves.toBe('');
    await expect(message({ worker: { resources: null } })).resolves.toBe('');
  });
});

describe('global values', () => {
  it('say where the image comes from, and with which Secrets', async () => {
    const manifests = await render(
      withValues({
        organizations,
        image: { registry: 'own.example.com' },
        imagePullSecrets: [{ name: 'own' }],
        global: { imageRegistry: 'mirror.example.com/', imagePullSecrets: ['shared', { name: 'own' }], team: 'phone' },
      }),
    );
    for (const { name, spec } of podSpecs(manifests)) {
      expect(spec.containers[0]?.image, name).toMatch(/^mirror\.example\.com\/parley:/);
      expect(spec['imagePullSecrets'], name).toEqual([{ name: 'own' }, { name: 'shared' }]);
    }
  });
});

describe('OpenShift', () => {
  const ids = ({ spec }: { spec: { securityContext?: object; containers: readonly Container[] } }) =>
    Object.keys({ ...spec.securityContext, ...spec.containers[0]?.securityContext })
      .filter((key) => /^(runAsUser|runAsGroup|fsGroup)$/.test(key))
      .toSorted();

  it('gives the pods their users, where the cluster is one', async () => {
    const apiVersions = ['security.openshift.io/v1'];
    for (const pod of podSpecs(await render(withValues({ organizations }), { apiVersions }))) {
      expect(ids(pod), pod.name).toEqual([]);
      expect(pod.spec.securityContext, pod.name).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    }
    const asIs = await render(withValues({ organizations, openshift: { adaptSecurityContext: 'disabled' } }), { apiVersions });
    for (const pod of podSpecs(asIs)) expect(ids(pod), pod.name).toEqual(['fsGroup', 'runAsGroup', 'runAsUser']);
    for (const pod of podSpecs(await render(withValues({ openshift: { adaptSecurityContext: 'force' } })))) expect(ids(pod)).toEqual([]);
  });
});

it('namespaceOverride moves everything, and what names it', async () => {
  const manifests = await render(
    withValues({ namespaceOverride: 'voices', organizations, metrics: { serviceMonitor: { enabled: true } } }),
  );
  const inside = manifests.filter(({ metadata }) => metadata.namespace !== undefined && !organizations.includes(metadata.namespace));
  expect(inside.length).toBeGreaterThan(20);
  expect([...new Set(inside.map(({ metadata }) => metadata.namespace))]).toEqual(['voices']);
  expect(JSON.stringify(manifests)).not.toContain(NAMESPACE);
});

it('fields of pods and Deployments are where Kubernetes has them', async () => {
  const fields = {
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['10.0.0.10'] },
    hostAliases: [{ ip: '10.0.0.1', hostnames: ['pbx.internal'] }],
    runtimeClassName: 'gvisor',
    schedulerName: 'packing',
  };
  const manifests = await render(
    withValues({
      organizations,
      defaults: {
        ...fields,
        revisionHistoryLimit: 3,
        podSpecExtra: { shareProcessNamespace: true, setHostnameAsFQDN: true, os: { name: 'linux' } },
      },
      operator: { podSpecExtra: { os: { name: 'windows' } } },
      voice: { podSpecExtra: { hostNetwork: true, setHostnameAsFQDN: false } },
    }),
  );
  for (const { name, spec } of podSpecs(manifests)) expect(spec, name).toMatchObject({ ...fields, shareProcessNamespace: true });
  expect(deployment(manifests, 'voice')['spec'].template.spec).toMatchObject({ hostNetwork: true, setHostnameAsFQDN: false });
  expect(deployment(manifests, 'api')['spec'].template.spec).toMatchObject({ setHostnameAsFQDN: true, os: { name: 'linux' } });
  expect(deployment(manifests, 'operator')['spec'].template.spec).toMatchObject({ os: { name: 'windows' } });
  for (const role of roles) expect(deployment(manifests, role)['spec'].revisionHistoryLimit).toBe(3);
});

it('Services take ports, families and what load balancers need', async () => {
  const service = {
    type: 'LoadBalancer',
    labels: { tier: 'edge' },
    port: 8443,
    nodePort: 30_443,
    ipFamilyPolicy: 'PreferDualStack',
    ipFamilies: ['IPv6', 'IPv4'],
    externalTrafficPolicy: 'Local',
    loadBalancerClass: 'example.com/nlb',
    loadBalancerSourceRanges: ['203.0.113.0/24'],
  };
  const manifests = await render(withValues({ api: { service, httpRoute: { enabled: true, parentRefs: [{ name: 'edge' }] } } }));
  const { labels, port, nodePort, ...spec } = service;
  const made = find(manifests, 'Service', 'parley-api');
  expect(made.metadata.labels).toMatchObject(labels);
  expect(made['spec']).toMatchObject({ ...spec, ports: [{ port, nodePort, targetPort: 'http' }] });
  expect(find(manifests, 'HTTPRoute', 'parley-api')['spec'].rules[0].backendRefs).toEqual([{ name: 'parley-api', port }]);
  expect(JSON.stringify(find(manifests, 'Pod', 'parley-test'))).toContain(`http://parley-api.parley-system:${port}/readyz`);
  expect(find(manifests, 'Service', 'parley-worker')['spec']).toMatchObject({ type: 'ClusterIP', ports: [{ port: 8082 }] });
});

it('ServiceAccounts take labels', async () => {
  const manifests = await render(withValues({ worker: { serviceAccount: { labels: { 'azure.workload.identity/use': 'true' } } } }));
  expect(find(manifests, 'ServiceAccount', 'parley-worker').metadata.labels).toMatchObject({ 'azure.workload.identity/use': 'true' });
});

describe.each([
  ['ServiceMonitor', 'serviceMonitor'],
  ['PodMonitor', 'podMonitor'],
])('%s', (kind, value) => {
  const values = (more: object) => withValues({ metrics: { [value]: { enabled: true, ...more } } });

  it('is made where it is asked for, with honorLabels', async () => {
    const monitors = ofKind(await render(values({ namespace: 'monitoring', honorLabels: true })), kind);
    expect(monitors.map(({ metadata }) => metadata.namespace)).toEqual(roles.map(() => 'monitoring'));
    for (const { spec } of monitors) {
      expect(spec.namespaceSelector).toEqual({ matchNames: [NAMESPACE] });
      expect((spec.endpoints ?? spec.podMetricsEndpoints)[0].honorLabels).toBe(true);
    }
  });

  it('goes by the cluster where renderMode says so', async () => {
    const apiVersions = ['monitoring.coreos.com/v1'];
    expect(ofKind(await render(values({ renderMode: 'skipIfMissing' })), kind)).toEqual([]);
    await expect(render(values({ renderMode: 'failIfMissing' }))).rejects.toThrow('install the Prometheus operator');
    for (const renderMode of ['skipIfMissing', 'failIfMissing'])
      expect(ofKind(await render(values({ renderMode }), { apiVersions }), kind)).toHaveLength(roles.length);
  });
});

it('a PrometheusRule goes by the cluster where renderMode says so', async () => {
  const rules = async (renderMode: string, apiVersions: readonly string[] = []) =>
    ofKind(await render(withValues({ metrics: { prometheusRule: { enabled: true, renderMode } } }), { apiVersions }), 'PrometheusRule');
  expect(await rules('alwaysRender')).toHaveLength(1);
  expect(await rules('skipIfMissing')).toEqual([]);
  await expect(rules('failIfMissing')).rejects.toThrow('metrics.prometheusRule.renderMode');
  for (const mode of ['skipIfMissing', 'failIfMissing']) expect(await rules(mode, ['monitoring.coreos.com/v1'])).toHaveLength(1);
});
