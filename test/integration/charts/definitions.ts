/** Defines other people's kinds that the chart makes objects of, cut down to what it uses: an unknown field is refused. */

type Schema = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const map = { type: 'object', additionalProperties: text };
const object = (properties: Schema, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
});
const list = (items: Schema): Schema => ({ type: 'array', items });
const number = { type: 'integer' };
const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const relabelings = list(object({ action: text, regex: text, replacement: text, sourceLabels: list(text), targetLabel: text }));
const endpoint = object(
  {
    port: text,
    path: text,
    interval: { ...text, pattern: '^[0-9]+(ms|s|m)$' },
    scrapeTimeout: text,
    honorLabels: { type: 'boolean' },
    relabelings,
    metricRelabelings: relabelings,
  },
  ['port'],
);
const selector = object({ matchLabels: map });
const namespaceSelector = object({ matchNames: list(text), any: { type: 'boolean' } });

const definition = (group: string, version: string, kind: string, plural: string, spec: Schema): Schema => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  // Names of such groups are protected; a test's own cluster has no other one.
  metadata: { name: `${plural}.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' } },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
  },
});

export const otherDefinitions: readonly Schema[] = [
  definition(
    'monitoring.coreos.com',
    'v1',
    'ServiceMonitor',
    'servicemonitors',
    object({ selector, namespaceSelector, endpoints: list(endpoint) }, ['selector', 'endpoints']),
  ),
  definition(
    'monitoring.coreos.com',
    'v1',
    'PodMonitor',
    'podmonitors',
    object({ selector, namespaceSelector, podMetricsEndpoints: list(endpoint) }, ['selector', 'podMetricsEndpoints']),
  ),
  definition(
    'monitoring.coreos.com',
    'v1',
    'PrometheusRule',
    'prometheusrules',
    object({
      groups: list(
        object({ name: text, rules: list(object({ alert: text, expr: text, for: text, labels: map, annotations: map }, ['expr'])) }, [
          'name',
        ]),
      ),
    }),
  ),
  definition(
    'keda.sh',
    'v1alpha1',
    'ScaledObject',
    'scaledobjects',
    object(
      {
        scaleTargetRef: object({ apiVersion: text, kind: text, name: text }, ['name']),
        minReplicaCount: number,
        maxReplicaCount: number,
        advanced: object({ horizontalPodAutoscalerConfig: object({ behavior: free }) }),
        triggers: list(object({ type: text, metricType: text, metadata: map }, ['type', 'metadata'])),
      },
      ['scaleTargetRef', 'triggers'],
    ),
  ),
  definition(
    'gateway.networking.k8s.io',
    'v1',
    'HTTPRoute',
    'httproutes',
    object({
      parentRefs: list(object({ name: text, namespace: text, sectionName: text }, ['name'])),
      hostnames: list(text),
      rules: list(
        object({
          matches: list(object({ path: object({ type: text, value: text }, ['value']) })),
          backendRefs: list(object({ name: text, port: number }, ['name'])),
        }),
      ),
    }),
  ),
];
