/** Makes sets of values that together turn every switch of the chart: from its schema, with the pairs that matter in addition. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { chart, lay, roles, withValues } from './helm.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly pattern?: string;
  readonly items?: Schema;
}

interface Case {
  readonly name: string;
  readonly values: Record<string, unknown>;
}

export const readSchema = async (): Promise<Schema> => JSON.parse(await readFile(join(chart, 'values.schema.json'), 'utf8')) as Schema;

/** Values other than the default, by path, or by the path below a role or `defaults`, where the schema can't say what they look like. */
const samples: Readonly<Record<string, unknown>> = {
  'image.registry': 'registry.example.com',
  'image.digest': `sha256:${'ab'.repeat(32)}`,
  'image.command': ['parley'],
  'image.tag': 'v9',
  imagePullSecrets: [{ name: 'pull' }],
  organizations: [
    'acme',
    { name: 'globex', labels: { team: 'phone' }, annotations: { note: 'one' } },
    { name: 'initech', createNamespace: false },
  ],
  'storage.persistentVolumeClaim.accessModes': ['ReadWriteOnce'],
  'storage.persistentVolumeClaim.size': '5Gi',
  podSecurityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containerSecurityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
    runAsUser: 1000,
  },
  extraObjects: [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-extra' }, data: { a: 'b' } },
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ include "parley.fullname" . }}-text\n',
  ],
  priorityClassName: 'system-cluster-critical',
  'networkPolicy.external.cidrs': ['203.0.113.0/24'],
  'networkPolicy.livekit.mediaTCP': [{ port: 5001 }],
  'networkPolicy.livekit.mediaUDP': [{ port: 5000, endPort: 6000 }],
  'metrics.prometheusRule.disabled': ['ParleyDown'],
  'metrics.prometheusRule.runbookURL': 'https://docs.example.com/alerts',
  'metrics.prometheusRule.extraRules': [{ alert: 'Mine', expr: 'vector(1)' }],
  'metrics.serviceMonitor.interval': '15s',
  'metrics.serviceMonitor.scrapeTimeout': '5s',
  'metrics.podMonitor.interval': '15s',
  'metrics.podMonitor.scrapeTimeout': '5s',
  'metrics.dashboards.namespace': 'default',
  'voice.autoscaling.prometheusAddress': 'http://prometheus:9090',
  'voice.autoscaling.triggerMetadata': { ignoreNullValues: 'false' },
  'temporaryVolume.sizeLimit': '512Mi',
  'voice.spool.sizeLimit': '2Gi',
  hostAliases: [{ ip: '192.0.2.1', hostnames: ['postgres.example.com'] }],
  dnsConfig: { nameservers: ['192.0.2.53'] },
  dnsPolicy: 'Default',
  namespaceOverride: 'default',
  'metrics.serviceMonitor.renderMode': 'skipIfMissing',
  'metrics.podMonitor.renderMode': 'skipIfMissing',
  'metrics.prometheusRule.renderMode': 'skipIfMissing',
  'metrics.serviceMonitor.namespace': 'default',
  'metrics.podMonitor.namespace': 'default',
  'metrics.prometheusRule.namespace': 'default',
};

/** The API server takes these fields of Services only in some combinations; platform-values.test.ts has them. */
const ofServices = /\.service\.(type|nodePort|clusterIP|ipFamil\w+|loadBalancer\w+|\w+TrafficPolicy)$/;

/** Values by the last part of the path, for fields that every role has. */
const sampleByName: Readonly<Record<string, unknown>> = {
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: 'disk', operator: 'Exists' }] } },
      ],
    },
  },
  topologySpreadConstraints: [{ maxSkew: 2, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' }],
  extraEnv: [
    { name: 'EXTRA', value: 'yes' },
    { name: 'PARLEY_LOG_LEVEL', value: 'debug' },
  ],
  extraEnvFrom: [{ secretRef: { name: 'more' } }],
  extraVolumes: [{ name: 'models', emptyDir: {} }],
  extraVolumeMounts: [{ name: 'models', mountPath: '/models' }],
  extraContainers: [
    { name: 'beside', image: 'beside:1', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } },
  ],
  initContainers: [
    { name: 'before', image: 'before:1', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } },
  ],
  extraIngress: [{ from: [{ podSelector: {} }] }],
  extraEgress: [{ to: [{ ipBlock: { cidr: '192.0.2.0/24' } }] }],
  resources: { requests: { cpu: '300m' } },
  podSpecExtra: { preemptionPolicy: 'PreemptLowerPriority' },
  strategy: { type: 'Recreate' },
  livenessProbe: { periodSeconds: 30 },
  readinessProbe: { periodSeconds: 30 },
  startupProbe: { periodSeconds: 30 },
  config: { PARLEY_LOG_LEVEL: 'debug' },
  hosts: [{ host: 'api.example.com', paths: [{ path: '/' }] }],
  tls: [{ hosts: ['api.example.com'], secretName: 'api-tls' }],
  publicPaths: ['/v2'],
  parentRefs: [{ name: 'gateway' }],
  hostnames: ['api.example.com'],
  to: [{ ipBlock: { cidr: '192.0.2.0/24' } }],
  apiFrom: [{ namespaceSelector: { matchLabels: { ingress: 'true' } } }],
  metricsFrom: [{ namespaceSelector: { matchLabels: { metrics: 'true' } } }],
  extra: [{ podSelector: { matchLabels: { app: 'model' } }, namespaceSelector: {} }],
  behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
  relabelings: [{ targetLabel: 'cluster', replacement: 'one' }],
  metricRelabelings: [{ sourceLabels: ['__name__'], regex: 'nodejs_.*', action: 'drop' }],
  minAvailable: 1,
  maxUnavailable: '50%',
  exceptIPv4: ['10.0.0.0/8'],
  exceptIPv6: ['fc00::/7'],
};

/** A value below one of these prefixes matters only with these values. */
const context: readonly (readonly [prefix: string, values: object])[] = [
  [
    'storage.persistentVolumeClaim',
    { config: { STORAGE_URL: 'file:///var/lib/parley/files' }, storage: { persistentVolumeClaim: { create: true } } },
  ],
  ['metrics.serviceMonitor', { metrics: { serviceMonitor: { enabled: true } } }],
  ['metrics.podMonitor', { metrics: { podMonitor: { enabled: true } } }],
  ['metrics.prometheusRule', { metrics: { prometheusRule: { enabled: true } } }],
  ['metrics.dashboards', { metrics: { dashboards: { enabled: true } } }],
  ['priorityClasses', { priorityClasses: { create: true } }],
  ['api.ingress', { api: { ingress: { enabled: true } } }],
  ['api.httpRoute', { api: { httpRoute: { enabled: true } } }],
  ['worker.autoscaling', { worker: { autoscaling: { enabled: true } } }],
  ['dispatcher.autoscaling', { dispatcher: { autoscaling: { enabled: true } } }],
  ['voice.autoscaling', { voice: { autoscaling: { mode: 'keda', prometheusAddress: 'http://prometheus:9090' } } }],
  ['networkPolicy.vectorStore', { secrets: { VECTOR_STORE_URL: { name: 'milvus', key: 'url' } } }],
  ['crds', { crds: { enabled: true } }],
];

/** Returns one case for each value that is not a variable: a switch turned, a choice made otherwise, something where nothing was. */
export async function toggles(): Promise<readonly Case[]> {
  const cases: Case[] = [];
  const all = await readSchema();
  const walk = (given: Schema, path: readonly string[]): void => {
    const name = path.join('.');
    // A role may set this in place of a default.
    const [, inherited] = /^#\/properties\/defaults\/properties\/(\w+)$/.exec(given.$ref ?? '') ?? [];
    const schema = inherited === undefined ? given : all.properties?.['defaults']?.properties?.[inherited];
    if (schema === undefined) throw new Error(`${name}: its schema is missing`);
    if (schema.properties !== undefined && !['config', 'secrets'].includes(name)) {
      for (const [key, child] of Object.entries(schema.properties)) walk(child, [...path, key]);
      return;
    }
    if (ofServices.test(name)) return;
    if (['config', 'secrets', 'global', 'crds.enabled', 'storage.persistentVolumeClaim.create'].includes(name)) return;
    const around = context.filter(([prefix]) => name.startsWith(`${prefix}.`)).map(([, values]) => values);
    for (const value of others(schema, name)) {
      const own = path.toReversed().reduce<unknown>((inner, key) => ({ [key]: inner }), value) as object;
      cases.push({ name: `${name}=${JSON.stringify(value)}`, values: withValues(...around, own, ...companions(name, value)) });
    }
  };
  walk(all, []);
  return cases;
}

/** Returns the values without which the chart refuses this one. */
function companions(name: string, value: unknown): readonly object[] {
  if (name.endsWith('serviceAccount.create')) return [{ [name.split('.')[0] ?? '']: { serviceAccount: { name: 'there-already' } } }];
  if (name.endsWith('autoscaling.mode') && value !== 'none')
    return [{ voice: { autoscaling: { prometheusAddress: 'http://prometheus:9090' } } }];
  if (name.endsWith('extraVolumeMounts')) {
    return [{ [name.split('.')[0] ?? '']: { extraVolumes: sampleByName['extraVolumes'] } }];
  }
  return [];
}

function others(schema: Schema, name: string): readonly unknown[] {
  const [last = ''] = name.split('.').slice(-1);
  const sample = [name, name.slice(name.indexOf('.') + 1)].find((path) => path in samples);
  if (sample !== undefined) return [samples[sample]];
  if (last in sampleByName && schema.enum === undefined && schema.type !== 'boolean') return [sampleByName[last]];
  if (schema.enum !== undefined) return schema.enum.filter((value) => value !== schema.default);
  const types = new Set([schema.type ?? []].flat());
  if (types.has('boolean')) return [schema.default !== true];
  if (types.has('integer')) return [((schema.default as number | null) ?? 41) + 1];
  // ServiceAccounts can't share a name.
  if (name.endsWith('serviceAccount.name')) return [`other-${name.split('.')[0]}`];
  if (types.has('string')) return ['other'];
  if (types.has('object')) return [{ 'example.com/key': 'value' }];
  if (types.has('array')) return [schema.items?.type === 'integer' ? [1234] : ['other']];
  throw new Error(`${name}: no other value is known for ${JSON.stringify(schema)}`);
}

const off = (role: string): object => ({ [role]: { enabled: false } });

/** Cases in which one switch changes what another one means. */
export const pairs: readonly Case[] = [
  { name: 'the least that installs', values: withValues() },
  { name: 'without calls', values: withValues(off('voice')) },
  ...['operator', 'api', 'worker', 'dispatcher'].map((role): Case => ({ name: `without ${role}`, values: withValues(off(role)) })),
  { name: 'namespaced', values: withValues({ namespaced: true }) },
  {
    name: 'namespaced, with everything for Prometheus',
    values: withValues({ namespaced: true, metrics: { podMonitor: { enabled: true }, prometheusRule: { enabled: true } } }),
  },
  {
    name: 'files in a claim of its own',
    values: withValues({ config: { STORAGE_URL: 'file:///data/files' }, storage: { persistentVolumeClaim: { create: true } } }),
  },
  {
    name: 'files in a claim that is there',
    values: withValues({ config: { STORAGE_URL: 'file:///data/files' }, storage: { persistentVolumeClaim: { existingClaim: 'files' } } }),
  },
  { name: 'Milvus', values: withValues({ secrets: { VECTOR_STORE_URL: { name: 'milvus', key: 'url' } } }) },
  {
    name: 'a media server inside',
    values: withValues({
      config: { LIVEKIT_URL: 'ws://livekit.livekit:7880' },
      networkPolicy: { livekit: { to: [{ namespaceSelector: {} }] } },
    }),
  },
  { name: 'voice by KEDA', values: withValues({ voice: { autoscaling: { mode: 'keda', prometheusAddress: 'http://p:9090' } } }) },
  { name: 'voice by a custom metric', values: withValues({ voice: { autoscaling: { mode: 'hpa' } } }) },
  {
    name: 'everything that can be watched',
    values: withValues({
      metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true }, dashboards: { enabled: true } },
    }),
  },
  {
    name: 'organisations, whose namespaces others make',
    values: withValues({ organizations: [{ name: 'acme', createNamespace: false }] }),
  },
  {
    name: 'no policies, budgets, tests, migrations',
    values: withValues({ networkPolicy: { enabled: false }, tests: { enabled: false }, migrations: { enabled: false } }),
  },
  {
    name: 'variables from elsewhere',
    values: withValues({ secrets: { DATABASE_URL: { name: '' } }, defaults: { extraEnvFrom: [{ secretRef: { name: 'all' } }] } }),
  },
];

const overlaps = (one: string, other: string): boolean => one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);

/** These values rule each other out, or take away what others would show in. */
const alone =
  /(^|\.)(enabled|create|mode|minAvailable|existingClaim|namespaced|digest|tests|nameOverride|fullnameOverride)(=|$)|^organizations=|^rbac|^crds/;

/** Makes the same cases in fewer renderings: values that don't touch each other are turned together. */
export async function batches(): Promise<readonly Case[]> {
  const single: Case[] = [];
  const groups: { readonly names: string[]; values: Record<string, unknown> }[] = [];
  for (const toggle of await toggles()) {
    const path = toggle.name.slice(0, toggle.name.indexOf('='));
    if (alone.test(toggle.name)) {
      single.push(toggle);
      continue;
    }
    const fits = groups.find(
      ({ names }) =>
        names.length < 40 && names.every((name) => !overlaps(path, name.slice(0, name.indexOf('=')))) && compatible(names, toggle.name),
    );
    if (fits === undefined) groups.push({ names: [toggle.name], values: toggle.values });
    else {
      fits.names.push(toggle.name);
      fits.values = lay(fits.values, toggle.values);
    }
  }
  return [...pairs, ...single, ...groups.map(({ names, values }) => ({ name: names.join(' '), values }))];
}

/**
 * Tells whether values may be turned together: ServiceMonitors and PodMonitors are one or the other; and a role's value covers the
 * default, or has the same volume twice with it.
 */
const compatible = (names: readonly string[], name: string): boolean => {
  const sides = [['metrics.serviceMonitor.'], ['metrics.podMonitor.'], ['defaults.'], roles.map((role) => `${role}.`)];
  const sideOf = (path: string): number => sides.findIndex((prefixes) => prefixes.some((prefix) => path.startsWith(prefix)));
  const own = sideOf(name);
  return own === -1 || names.every((present) => sideOf(present) !== (own ^ 1));
};
