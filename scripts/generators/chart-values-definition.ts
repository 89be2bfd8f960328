/** Defines every value of the chart. `config` and `secrets` come from the configuration of the roles, so that nothing is listed twice. */
import { stringify } from 'yaml';

import { EXAMPLE_PRICES } from '../../platform/config/prices.ts';
import { configEntries, type ConfigEntry } from '../../platform/config/config.ts';
import { roleDefaults, roleValues } from './chart-role-values.ts';
import {
  choice,
  flag,
  type ValueFields,
  group,
  type Json,
  type JsonSchema,
  labels,
  number,
  object,
  objects,
  ports,
  text,
  texts,
  type Value,
  type ValueGroup,
} from './chart-value.ts';

/** The chart sets these itself, because they follow from what it makes. */
const ownVariables = new Set([
  'PARLEY_HOST',
  'PARLEY_LEASE_NAMESPACE',
  'PARLEY_IDENTITY',
  'PARLEY_VOICE_SPOOL',
  'PARLEY_NAMESPACE',
  'KUBECONFIG',
]);

const NAME_PATTERN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';
const SECRET_NAME_PATTERN = '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$';

/**
 * These texts are often a number, and are one in YAML unless they are quoted. No other text may be one: YAML makes a number of +15550100,
 * too, and takes away what makes it a telephone number.
 */
const numbersAsTexts: Readonly<Record<string, JsonSchema>> = {
  PARLEY_EGRESS_PORTS: { type: 'integer', minimum: 1, maximum: 65_535 },
  OTEL_TRACES_SAMPLER_ARG: { type: 'number', minimum: 0, maximum: 1 },
};

const UNSET: JsonSchema = { type: 'null' };

/** Allows numbers, booleans and lists in YAML as such, or as the text that the process reads; null takes a former file's value away. */
export function variableSchema({ name, schema, list }: Pick<ConfigEntry, 'name' | 'schema' | 'list'>): JsonSchema {
  const { $schema: _, default: fallback, description, secret: _secret, ...allowed } = schema as Record<string, Json>;
  const common = { ...(description !== undefined && { description }), ...(fallback !== undefined && { default: fallback }) };
  if (list !== undefined) {
    const { $schema: _list, ...items } = list as Record<string, Json>;
    return { ...common, anyOf: [{ type: 'string' }, items, UNSET] };
  }
  if (allowed['type'] === 'integer') {
    const maximum = allowed['maximum'] === Number.MAX_SAFE_INTEGER ? {} : { maximum: allowed['maximum'] ?? null };
    const whole = { type: 'integer', minimum: allowed['minimum'] ?? 0, ...maximum };
    return { ...common, anyOf: [whole, { type: 'string', pattern: '^[0-9]*$' }, UNSET] };
  }
  if (Array.isArray(allowed['enum']) && allowed['enum'].includes('true'))
    return { ...common, enum: [...allowed['enum'], true, false, '', null] };
  // An empty variable counts as absent.
  const asNumber = numbersAsTexts[name];
  return { ...common, anyOf: [allowed, ...(asNumber === undefined ? [] : [asNumber]), { type: 'string', maxLength: 0 }, UNSET] };
}

export const chartVariables = (): readonly ConfigEntry[] => configEntries().filter(({ name }) => !ownVariables.has(name));

function configValue(): Value {
  const open = chartVariables().filter(({ secret }) => !secret);
  return {
    about:
      'Environment variables of all roles, by their names in the configuration reference. What stands here may be a number, a boolean or a list too. Secret ones belong in `secrets`.',
    default: {},
    schema: {
      type: 'object',
      properties: Object.fromEntries(open.map((entry) => [entry.name, variableSchema(entry)])),
      additionalProperties: false,
    },
    comments: open.flatMap(({ name, schema }) => {
      const { default: fallback } = schema as { readonly default?: Json };
      const line = `${name}: ${fallback === undefined ? '' : JSON.stringify(fallback)}`.trimEnd();
      return name === 'PARLEY_PRICES' ? [line, '  Such as, with the prices of your contracts:'].concat(pricesAsYaml()) : [line];
    }),
  };
}

const pricesAsYaml = (): readonly string[] =>
  EXAMPLE_PRICES.map((price) => `- ${stringify(price, { collectionStyle: 'flow', lineWidth: 0 }).trim()}`);

function secretsValue(): Value {
  const secret = chartVariables().filter((entry) => entry.secret);
  const reference: JsonSchema = {
    type: ['object', 'null'],
    properties: {
      name: { type: 'string', maxLength: 253, anyOf: [{ pattern: SECRET_NAME_PATTERN }, { maxLength: 0 }] },
      key: { type: 'string', minLength: 1, maxLength: 253 },
      optional: { type: 'boolean' },
      roles: {
        type: 'array',
        items: { enum: [...Object.keys(roleValues), 'migrate'] },
        description: 'Only these get it; all of them where absent. The Jobs get DATABASE_URL in any case.',
      },
    },
    required: ['name', 'key'],
    additionalProperties: false,
  };
  return {
    about:
      "Environment variables whose values are in Secrets of the release's namespace, as `{name, key}`: those that the configuration calls secret, and any other, such as the keys that `apiKeyEnv` of a provider names, or AWS_ACCESS_KEY_ID. `roles` names the only ones that get it.",
    default: { DATABASE_URL: { name: '', key: 'url' } },
    schema: {
      type: 'object',
      properties: Object.fromEntries(secret.map(({ name, description }) => [name, { ...reference, description }])),
      patternProperties: { '^[A-Za-z_][A-Za-z0-9_]*$': reference },
      additionalProperties: false,
    },
    comments: secret
      .filter(({ name }) => name !== 'DATABASE_URL')
      .map(({ name, description }) => `${name}: {name: "", key: ""}  # ${description}`),
  };
}

const organizations: Value = {
  about:
    'Organisations: a namespace each, with the label that makes it one and what the roles may do in it. A name, or `{name, createNamespace, labels, annotations}`. The namespaces stay when the release goes.',
  default: [],
  schema: {
    type: 'array',
    uniqueItems: true,
    items: {
      anyOf: [
        { type: 'string', pattern: NAME_PATTERN, maxLength: 63 },
        {
          type: 'object',
          properties: {
            name: { type: 'string', pattern: NAME_PATTERN, maxLength: 63 },
            createNamespace: { type: 'boolean', description: 'false for a namespace that another tool creates and labels.' },
            labels: { type: 'object', additionalProperties: { type: 'string' } },
            annotations: { type: 'object', additionalProperties: { type: 'string' } },
          },
          required: ['name'],
          additionalProperties: false,
        },
      ],
    },
  },
};

const everywhere: Json = [{ ipBlock: { cidr: '0.0.0.0/0' } }, { ipBlock: { cidr: '::/0' } }];
const privateNetworks = ['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'];

const renderMode = choice(
  'Where the cluster lacks the kind: alwaysRender has Helm fail, failIfMissing says why, skipIfMissing goes on without.',
  'alwaysRender',
  ['alwaysRender', 'failIfMissing', 'skipIfMissing'],
);

const monitor = (about: string, aboutLabels: string): ValueGroup =>
  group(about, {
    enabled: flag('Whether there are any.', false),
    namespace: text('Where; here where empty.', ''),
    renderMode,
    honorLabels: flag('Whether labels of the metrics go before those of Prometheus.', false),
    interval: text('Between two scrapes.', '30s'),
    scrapeTimeout: text('Longest scrape.', '10s'),
    labels: labels(aboutLabels, {}),
    relabelings: objects('More relabelings.', []),
    metricRelabelings: objects('Relabelings of metrics.', []),
  });

const networkPolicy = group('A NetworkPolicy for each role: it reaches what it needs and nothing else.', {
  enabled: flag('Whether there are any.', true),
  dns: group('Name resolution.', {
    to: objects('Where it is.', [
      {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
        podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
      },
    ]),
    ports: ports('Its ports, UDP and TCP.', [53]),
  }),
  kubernetesApi: group('The API server. No selector finds it: name its addresses.', {
    to: objects('Where it is.', everywhere),
    ports: ports('Its ports.', [443, 6443]),
  }),
  database: group('Postgres.', {
    to: objects('Where it is; anywhere where empty.', []),
    ports: ports('Its ports.', [5432]),
  }),
  temporal: group('Temporal.', {
    to: objects('Where it is; anywhere where empty.', []),
    ports: ports('Its ports; that of TEMPORAL_ADDRESS where empty, or 7233 where the address is in a Secret.', []),
  }),
  collector: group('The collector of traces, where there is one. Its port is that of OTEL_EXPORTER_OTLP_ENDPOINT.', {
    to: objects('Where it is; anywhere where empty.', []),
  }),
  livekit: group('The media server.', {
    to: objects('Where it is; anywhere where empty.', []),
    ports: ports('Its ports; that of LIVEKIT_URL where empty, or 443 and 7880 where the address is in a Secret.', []),
    mediaUDP: objects('Ports of its media, UDP, for voice: `port` and `endPort`.', [
      { port: 3478 },
      { port: 7882 },
      { port: 50_000, endPort: 60_000 },
    ]),
    mediaTCP: objects('The same, TCP.', [{ port: 5349 }, { port: 7881 }]),
  }),
  vectorStore: group('Milvus, where VECTOR_STORE_URL is in `secrets` or names it.', {
    to: objects('Where it is; anywhere where empty.', []),
    ports: ports('Its ports.', [19_530]),
  }),
  storage: group('The bucket of STORAGE_URL.', {
    to: objects('Where it is; anywhere where empty.', []),
    ports: ports('Its ports, in addition to that of the endpoint in STORAGE_URL.', [443]),
  }),
  external: group(
    'The world outside: webhooks, tools, websites, models, mail servers. Those that may be on private addresses are in PARLEY_EGRESS_ALLOW_CIDRS.',
    {
      cidrs: texts('Networks.', ['0.0.0.0/0', '::/0']),
      exceptIPv4: texts('Less these, of networks that hold them.', privateNetworks),
      exceptIPv6: texts('The same.', ['::1/128', 'fc00::/7', 'fe80::/10']),
      extra: objects('More destinations, such as a model server in this cluster.', []),
    },
  ),
  apiFrom: objects('Who may call the REST API; anybody where empty.', []),
  metricsFrom: objects(
    'Who may read metrics. Those of api are on the port of the REST API: where `apiFrom` is set, these are let in there, too, unless they are every pod, as by default.',
    [{ namespaceSelector: {} }],
  ),
});

const metrics = group('For Prometheus and Grafana.', {
  serviceMonitor: monitor("ServiceMonitors of the Prometheus operator's.", 'Labels, as the Prometheus resource selects by.'),
  podMonitor: monitor('PodMonitors in their place.', 'Labels.'),
  prometheusRule: group('Alerts.', {
    enabled: flag('Whether there are any.', false),
    renderMode,
    labels: labels('Labels, as the Prometheus resource selects by.', {}),
    alertLabels: labels('Labels of every alert.', {}),
    disabled: texts('Names of alerts that are left out.', []),
    runbookURL: text('Address of the page with the runbooks (docs/reference/alerts.md); the name of the alert is put behind it.', ''),
    extraRules: objects('More rules.', []),
  }),
  dashboards: group(
    'ConfigMaps that the sidecar of Grafana finds. They show every release that Prometheus knows: one release has to bring them.',
    {
      enabled: flag('Whether there are any.', false),
      namespace: text('Where; here where empty.', ''),
      labels: labels('Labels by which Grafana finds them.', { grafana_dashboard: '1' }),
      annotations: labels('Annotations, e.g. of the folder.', {}),
    },
  ),
});

export function chartValues(): ValueFields {
  return {
    nameOverride: text('In place of the name of the chart.', ''),
    fullnameOverride: text('In place of the names that everything is given.', ''),
    namespaceOverride: text('In place of the namespace of the release.', ''),
    commonLabels: labels('Labels of everything.', {}),
    commonAnnotations: labels('Annotations of everything.', {}),
    image: group('The one image of all roles.', {
      registry: text('Registry, put before the repository.', ''),
      repository: text('Repository.', 'parley'),
      tag: text('Tag; the version of the chart where empty.', ''),
      digest: {
        ...text('Digest, e.g. sha256:…; goes before the tag.', ''),
        schema: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
      },
      pullPolicy: choice('When it is pulled.', 'IfNotPresent', ['Always', 'IfNotPresent', 'Never']),
      command: texts("In place of the image's entrypoint, which is the parley command.", []),
    }),
    imagePullSecrets: objects('Secrets to pull the image with, `{name}` each.', []),
    crds: {
      ...group('The CustomResourceDefinitions, a chart of their own.', {
        enabled: flag('Whether they are part of this release. Switch it off where they are installed alone.', true),
        keep: flag('Whether they stay, with every resource, when the release goes.', true),
        annotations: labels('Annotations of the definitions.', {}),
      }),
      globals: true,
    },
    organizations,
    namespaced: flag(
      "Everything in the release's namespace, which is the only organisation then: no permissions beyond it are needed or given. Install the definitions beforehand (`crds.enabled: false`).",
      false,
    ),
    rbac: group('Permissions.', {
      create: flag('Whether Roles and bindings are made.', true),
      aggregateToUserRoles: flag("Whether Kubernetes' own roles view, edit and admin also speak of Parley's resources.", true),
    }),
    admissionPolicies: group(
      'ValidatingAdmissionPolicies: what RBAC has no words for. None is made with `namespaced`, as they belong to the cluster.',
      {
        secrets: flag(
          "Whether the roles' ServiceAccounts write only Secrets of Parley's own, and only of the type Opaque: with another type Kubernetes would write tokens of other accounts into them.",
          true,
        ),
        operatorKeepsSpec: flag('Whether the operator is kept from changing the spec of an object.', true),
        skipTests: flag('Whether `spec.release.skipTests` of an Agent needs the verb `skip-tests` on `agents`.', true),
        orphan: flag('Whether `spec.deletionPolicy: Orphan` needs the verb `orphan` on the resource.', true),
        requiredTests: flag('Whether `spec.required: true` of an AgentTest needs the verb `require` on `agenttests`.', true),
        phoneNumberPrefixes: group('Which numbers the PhoneNumbers of a namespace may have.', {
          enabled: flag(
            'Whether the annotation `parley.dev/phone-number-prefixes` of a namespace, such as `+4930, +8801`, limits them.',
            true,
          ),
          required: flag('Whether a namespace without the annotation may have none.', false),
        }),
      },
    ),
    config: configValue(),
    secrets: secretsValue(),
    storage: group('Files of knowledge bases, and recordings, where STORAGE_URL is a folder. With a bucket nothing of this is needed.', {
      persistentVolumeClaim: group('The volume that api, worker and voice share.', {
        create: flag('Whether the claim is made. It stays when the release goes.', false),
        existingClaim: text('A claim that is there.', ''),
        storageClassName: text('Class; the default one of the cluster where empty.', ''),
        accessModes: texts('ReadWriteMany, unless all pods are on one node.', ['ReadWriteMany']),
        size: text('Size.', '20Gi'),
        annotations: labels('Annotations of the claim.', {}),
      }),
    }),
    migrations: group('The Job that brings the database to this version, before an installation and each upgrade.', {
      enabled: flag('Whether it runs. If not: `parley migrate`, before the roles start.', true),
      activeDeadlineSeconds: number('Longest time for it.', 900, 1),
      backoffLimit: number('How often it is tried again.', 4),
      resources: object('Requests and limits.', {
        requests: { cpu: '50m', memory: '128Mi', 'ephemeral-storage': '32Mi' },
        limits: { cpu: '1', memory: '512Mi', 'ephemeral-storage': '1280Mi' },
      }),
      podAnnotations: labels('Annotations of its pod, and of the pod of the Job that registers organisations.', {}),
    }),
    defaults: roleDefaults,
    ...roleValues,
    openshift: group('OpenShift, which gives each namespace users of its own.', {
      adaptSecurityContext: choice(
        'Whether runAsUser, runAsGroup and fsGroup are left out: auto (where the cluster is OpenShift), force or disabled.',
        'auto',
        ['auto', 'force', 'disabled'],
      ),
    }),
    priorityClasses: group('PriorityClasses of this release: calls before everything else, then what answers people.', {
      create: flag('Whether they are made and used.', false),
      voice: number('Of voice.', 100_000),
      api: number('Of api, operator and dispatcher.', 50_000),
      worker: number('Of worker.', 10_000),
    }),
    extraObjects: {
      ...objects('More manifests; texts are templates.', []),
      schema: { type: 'array', items: { type: ['object', 'string'] } },
    },
    networkPolicy,
    metrics,
    tests: group('`helm test`: asks every role whether it is ready.', {
      enabled: flag('Whether there is one.', true),
      timeoutSeconds: number('How long it goes on asking.', 120, 1),
    }),
    global: group(
      'For charts that this one is part of; goes before the values of this chart.',
      {
        imageRegistry: text('Registry of the image, in place of image.registry.', ''),
        imagePullSecrets: {
          ...objects('Secrets to pull the image with, in addition to imagePullSecrets: names, or `{name}` each.', []),
          schema: { type: 'array', items: { type: ['object', 'string'] } },
        },
      },
      'open',
    ),
  };
}

// Returns what the templates have to know of unset values; it is kept next to the definition.
export const chartSettings = (): Record<string, Json> =>
  Object.fromEntries(
    configEntries().flatMap(({ name, schema }) => {
      const { default: fallback } = schema as { readonly default?: Json };
      return fallback === undefined ? [] : [[name, fallback]];
    }),
  );
