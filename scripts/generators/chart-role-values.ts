/** Defines the chart's values of each role. */
import {
  choice,
  flag,
  type ValueFields,
  group,
  type ValueGroup,
  type Json,
  labels,
  maybeNumber,
  maybeObjects,
  number,
  object,
  objects,
  paths,
  share,
  text,
  texts,
  variables,
} from './chart-value.ts';

interface RoleDefaults {
  readonly about: string;
  readonly resources: Json;
  /** Values of this role alone, and those that differ from the defaults. */
  readonly own?: ValueFields;
}

interface Amounts {
  readonly cpu?: string;
  readonly memory: string;
  readonly disk: string;
}

/**
 * The limit of the disk holds the volumes on it (/tmp, and the spool of voice) and 256 MiB for logs. That of the processor is far above
 * what a pod uses: it only keeps one that runs wild from its neighbours. Voice has none: its calls begin in bursts, and a pod that the
 * kernel throttles sends no sound for as long.
 */
const amountsOf = (requests: Amounts, limits: Amounts): Json => {
  const amounts = ({ cpu, memory, disk }: Amounts): Json => ({ ...(cpu !== undefined && { cpu }), memory, 'ephemeral-storage': disk });
  return { requests: amounts(requests), limits: amounts(limits) };
};

const cpuAutoscaling = (enabled: boolean, maxReplicas: number): ValueGroup =>
  group('A HorizontalPodAutoscaler by processor time; needs a metrics API. The number of replicas is its business then.', {
    enabled: flag('Whether there is one.', enabled),
    minReplicas: number('Fewest pods.', 2, 1),
    maxReplicas: number('Most pods.', maxReplicas, 1),
    targetCPUUtilizationPercentage: number('Share of the requested processor time that is aimed at.', 70, 1),
    behavior: object('Behaviour of the HorizontalPodAutoscaler.', {}),
  });

const voiceAutoscaling = group('Pods by live calls. A pod that goes takes no more calls, and goes when its last one has ended.', {
  mode: choice(
    'none; hpa: a HorizontalPodAutoscaler over the custom metric parley_voice_calls of the pods (prometheus-adapter); keda: a ScaledObject of KEDA that asks Prometheus.',
    'none',
    ['none', 'hpa', 'keda'],
  ),
  minReplicas: number('Fewest pods.', 2, 1),
  maxReplicas: number('Most pods.', 20, 1),
  targetCallsPerPod: number('Live calls a pod that are aimed at; PARLEY_VOICE_CALLS is what a pod can take.', 7, 1),
  scaleDownStabilizationSeconds: number('How long there have to be fewer calls before pods go.', 600),
  prometheusAddress: text('With keda: address of Prometheus, e.g. http://prometheus.monitoring:9090.', ''),
  triggerMetadata: object('With keda: more metadata of the trigger, e.g. authModes.', {}),
});

/** Every role starts from these values. */
export const roleDefaults = group(
  'What every role starts from, and what each may set under its own name: its maps are laid over these, its tolerations, environment, volumes and containers are added, and anything else takes their place. The Jobs take from here what a pod of them has, too.',
  {
    replicas: number('Pods, where no autoscaler says it.', 2),
    podDisruptionBudget: group('How many pods may be taken away at once, when nodes are drained.', {
      enabled: flag('Whether there is one.', true),
      maxUnavailable: share('Most pods that may be missing.', 1),
      minAvailable: share('Fewest pods that have to be there, in place of maxUnavailable.', null),
    }),
    strategy: object('How pods are replaced.', { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } }),
    revisionHistoryLimit: number('ReplicaSets that are kept for a rollback.', 10),
    terminationGracePeriodSeconds: maybeNumber('Longest orderly stop; worked out from the configuration where null.', null),
    preStopSeconds: number('Pause before SIGTERM, in which the cluster learns that the pod takes no more.', 0),
    livenessProbe: object('Laid over the probe of /healthz.', {}),
    readinessProbe: object('Laid over the probe of /readyz.', {}),
    startupProbe: object('Laid over the probe of /healthz at the start.', {}),
    podSecurityContext: object('Security of the pods.', {
      runAsNonRoot: true,
      runAsUser: 65_532,
      runAsGroup: 65_532,
      fsGroup: 65_532,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    }),
    containerSecurityContext: object('Security of the containers.', {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    }),
    temporaryVolume: group('/tmp, the only writable folder next to the volumes.', {
      sizeLimit: text('Most of it.', '1Gi'),
      medium: choice('Memory, or the disk of the node where empty.', '', ['', 'Memory']),
    }),
    nodeSelector: labels('Nodes for the pods.', {}),
    tolerations: objects('Taints that the pods tolerate.', []),
    affinity: object('Affinity of the pods.', {}),
    topologySpreadConstraints: maybeObjects(
      'Spread of the pods of a role; evenly over zones and nodes, where it can be, when null. The labels of the role are added to each labelSelector.',
      null,
    ),
    priorityClassName: text('Class of the pods.', ''),
    dnsPolicy: choice('Name resolution; ClusterFirst where empty.', '', ['', 'ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None']),
    dnsConfig: object('More of the name resolution.', {}),
    hostAliases: objects('Lines of /etc/hosts, `{ip, hostnames}` each.', []),
    runtimeClassName: text('RuntimeClass of the pods.', ''),
    schedulerName: text('Scheduler of the pods.', ''),
    podSpecExtra: object(
      'Fields of the spec of the pods that have no value of their own, such as `hostNetwork` or `shareProcessNamespace`.',
      {},
    ),
    podAnnotations: labels('Annotations of the pods.', {}),
    podLabels: labels('Labels of the pods.', {}),
    extraEnv: variables('More environment variables, as in a container.', []),
    extraEnvFrom: objects('More sources of environment variables.', []),
    extraVolumes: objects('More volumes.', []),
    extraVolumeMounts: objects('More mounts of the container.', []),
    extraContainers: objects('More containers in the pods.', []),
    initContainers: objects('Containers before it.', []),
    service: group('The Service, for metrics and, of api, the REST API.', {
      type: choice('Type of the Service.', 'ClusterIP', ['ClusterIP', 'NodePort', 'LoadBalancer']),
      annotations: labels('Annotations of the Service.', {}),
      labels: labels('Labels of the Service.', {}),
      port: maybeNumber("Its port; 80 of api, and the role's own of the others, where null.", null),
      nodePort: maybeNumber('With NodePort and LoadBalancer: the port of the nodes; any where null.', null),
      clusterIP: text('Its address in the cluster, or None; any where empty.', ''),
      ipFamilyPolicy: choice('IPv4, IPv6 or both; as the cluster has it where empty.', '', [
        '',
        'SingleStack',
        'PreferDualStack',
        'RequireDualStack',
      ]),
      ipFamilies: texts('IPv4, IPv6, in this order; as the cluster has it where empty.', []),
      externalTrafficPolicy: choice('Local keeps the address of the caller.', '', ['', 'Cluster', 'Local']),
      internalTrafficPolicy: choice('Local keeps to the pods of the node.', '', ['', 'Cluster', 'Local']),
      loadBalancerClass: text('With LoadBalancer: its class.', ''),
      loadBalancerIP: text('With LoadBalancer: its address, where the cloud still goes by this field.', ''),
      loadBalancerSourceRanges: texts('With LoadBalancer: networks that may call it; any where empty.', []),
    }),
    networkPolicy: group('What is allowed in addition to the rules that the role needs.', {
      extraIngress: objects('More ingress rules.', []),
      extraEgress: objects('More egress rules.', []),
    }),
  },
);

/** Each role has one of its own: shared by all, it would have the permissions of all. */
const serviceAccount = group('Who it is for the API server.', {
  create: flag('Whether it is made; if not, `name` has to be there, and still gets its permissions.', true),
  name: text('Its name; made from that of the release where empty.', ''),
  annotations: labels('Annotations, e.g. of a cloud identity.', {}),
  labels: labels('Labels, e.g. of a cloud identity.', {}),
});

function role({ about, resources, own = {} }: RoleDefaults): ValueGroup {
  return {
    ...group(about, {
      enabled: flag('Whether it runs here.', true),
      serviceAccount,
      ...own,
      config: {
        ...object('Environment variables of this role alone, over those of `config`.', {}),
        schema: { $ref: '#/properties/config' },
      },
      resources: object('Requests and limits of the container.', resources),
    }),
    base: { name: 'defaults', fields: roleDefaults.fields },
  };
}

/** Waits for those who call a pod: clients, and calls that are being dispatched. */
const preStopSeconds = number('In place of that of `defaults`.', 5);

export const roleValues: Readonly<Record<'operator' | 'api' | 'worker' | 'dispatcher' | 'voice', ValueGroup>> = {
  operator: role({
    about: 'Watches the resources. One pod leads, the others stand by with warm caches.',
    resources: amountsOf({ cpu: '100m', memory: '192Mi', disk: '64Mi' }, { cpu: '2', memory: '512Mi', disk: '1280Mi' }),
  }),
  api: role({
    about: 'The REST API.',
    resources: amountsOf({ cpu: '200m', memory: '256Mi', disk: '128Mi' }, { cpu: '4', memory: '768Mi', disk: '1280Mi' }),
    own: {
      preStopSeconds,
      autoscaling: cpuAutoscaling(true, 10),
      publicPaths: paths(
        'What Ingress and HTTPRoute let in, with all below it, where no paths are given: everything but /metrics and /readyz, which show internals and need no key.',
        ['/v1', '/v2', '/api', '/docs', '/openapi.json', '/mcp', '/call', '/calls', '/internal/livekit/events', '/healthz'],
      ),
      ingress: group('An Ingress to the REST API.', {
        enabled: flag('Whether there is one.', false),
        className: text('Class of the Ingress.', ''),
        annotations: labels('Annotations, e.g. of cert-manager.', {}),
        hosts: objects('`host` each, and `paths` (a list of `path` and `pathType`) in place of `publicPaths`.', []),
        tls: objects('`hosts` and `secretName` each.', []),
      }),
      httpRoute: group('An HTTPRoute of the Gateway API to the REST API.', {
        enabled: flag('Whether there is one.', false),
        annotations: labels('Annotations.', {}),
        parentRefs: objects('Gateways that serve it.', []),
        hostnames: texts('Host names.', []),
      }),
    },
  }),
  worker: role({
    about: 'Runs workflows: ingestion of documents, retries of deliveries, what follows a call.',
    resources: amountsOf({ cpu: '250m', memory: '512Mi', disk: '512Mi' }, { cpu: '4', memory: '2Gi', disk: '1280Mi' }),
    own: { autoscaling: cpuAutoscaling(false, 10) },
  }),
  dispatcher: role({
    about: 'Sends events to webhook subscriptions.',
    resources: amountsOf({ cpu: '100m', memory: '192Mi', disk: '64Mi' }, { cpu: '2', memory: '768Mi', disk: '1280Mi' }),
    own: { autoscaling: cpuAutoscaling(false, 5) },
  }),
  voice: role({
    about:
      'Serves calls. Needs a media server: LIVEKIT_URL in `config`, its key and secret in `secrets`. Switch it off for an installation without calls.',
    resources: amountsOf({ cpu: '1', memory: '1Gi', disk: '1Gi' }, { memory: '4Gi', disk: '5376Mi' }),
    own: {
      // New pods come before the old ones have seen their last call.
      strategy: object('Laid over that of `defaults`.', { rollingUpdate: { maxSurge: '50%' } }),
      preStopSeconds,
      autoscaling: voiceAutoscaling,
      spool: group('Where recordings lie until they are in the storage.', {
        sizeLimit: text('Most of it.', '4Gi'),
        medium: choice('Memory, or the disk of the node where empty.', '', ['', 'Memory']),
      }),
    },
  }),
};
