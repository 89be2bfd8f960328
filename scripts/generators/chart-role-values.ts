/** The values of the chart that each role has. */
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
  readonly replicas: number;
  readonly resources: Json;
  readonly strategy: Json;
  readonly preStopSeconds: number;
  /** More values of this role alone. */
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

const rolling: Json = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } };

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

function role({ about, replicas, resources, strategy, preStopSeconds, own = {} }: RoleDefaults): ValueGroup {
  return group(about, {
    enabled: flag('Whether it runs here.', true),
    replicas: number('Pods, where no autoscaler says it.', replicas),
    ...own,
    config: {
      ...object('Environment variables of this role alone, over those of `config`.', {}),
      schema: { $ref: '#/properties/config' },
    },
    resources: object('Requests and limits of the container.', resources),
    podDisruptionBudget: group('How many pods may be taken away at once, when nodes are drained.', {
      enabled: flag('Whether there is one.', true),
      maxUnavailable: share('Most pods that may be missing.', 1),
      minAvailable: share('Fewest pods that have to be there, in place of maxUnavailable.', null),
    }),
    strategy: object('How pods are replaced.', strategy),
    terminationGracePeriodSeconds: maybeNumber('Longest orderly stop; worked out from the configuration where null.', null),
    preStopSeconds: number('Pause before SIGTERM, in which the cluster learns that the pod takes no more.', preStopSeconds),
    livenessProbe: object('Laid over the probe of /healthz.', {}),
    readinessProbe: object('Laid over the probe of /readyz.', {}),
    startupProbe: object('Laid over the probe of /healthz at the start.', {}),
    nodeSelector: labels('Added to the nodeSelector of all.', {}),
    tolerations: objects('Added to the tolerations of all.', []),
    affinity: object('In place of the affinity of all.', {}),
    topologySpreadConstraints: maybeObjects('In place of those of all. The labels of the role are added to each labelSelector.', null),
    priorityClassName: text('In place of the class of all.', ''),
    podSpecExtra: object('Laid over that of all.', {}),
    podAnnotations: labels('Added to those of all.', {}),
    podLabels: labels('Added to those of all.', {}),
    extraEnv: variables('More environment variables, as in a container.', []),
    extraEnvFrom: objects('More sources of environment variables.', []),
    extraVolumes: objects('More volumes.', []),
    extraVolumeMounts: objects('More mounts of the container.', []),
    extraContainers: objects('More containers in its pods.', []),
    initContainers: objects('Containers before it.', []),
    service: group('The Service for metrics (and for api, the REST API).', {
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
    serviceAccount: group('Who it is for the API server.', {
      create: flag('Whether it is made; if not, `name` has to be there, and still gets its permissions.', true),
      name: text('Its name; made from that of the release where empty.', ''),
      annotations: labels('Annotations, e.g. of a cloud identity.', {}),
      labels: labels('Labels, e.g. of a cloud identity.', {}),
    }),
    networkPolicy: group('What is allowed in addition to the rules that the role needs.', {
      extraIngress: objects('More ingress rules.', []),
      extraEgress: objects('More egress rules.', []),
    }),
  });
}

export const roleValues: Readonly<Record<'operator' | 'api' | 'worker' | 'dispatcher' | 'voice', ValueGroup>> = {
  operator: role({
    about: 'Watches the resources. One pod leads, the others stand by with warm caches.',
    replicas: 2,
    resources: amountsOf({ cpu: '100m', memory: '192Mi', disk: '64Mi' }, { cpu: '2', memory: '512Mi', disk: '1280Mi' }),
    strategy: rolling,
    preStopSeconds: 0,
  }),
  api: role({
    about: 'The REST API.',
    replicas: 2,
    resources: amountsOf({ cpu: '200m', memory: '256Mi', disk: '128Mi' }, { cpu: '4', memory: '768Mi', disk: '1280Mi' }),
    strategy: rolling,
    preStopSeconds: 5,
    own: {
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
    replicas: 2,
    resources: amountsOf({ cpu: '250m', memory: '512Mi', disk: '512Mi' }, { cpu: '4', memory: '2Gi', disk: '1280Mi' }),
    strategy: rolling,
    preStopSeconds: 0,
    own: { autoscaling: cpuAutoscaling(false, 10) },
  }),
  dispatcher: role({
    about: 'Sends events to webhook subscriptions.',
    replicas: 2,
    resources: amountsOf({ cpu: '100m', memory: '192Mi', disk: '64Mi' }, { cpu: '2', memory: '768Mi', disk: '1280Mi' }),
    strategy: rolling,
    preStopSeconds: 0,
    own: { autoscaling: cpuAutoscaling(false, 5) },
  }),
  voice: role({
    about:
      'Serves calls. Needs a media server: LIVEKIT_URL in `config`, its key and secret in `secrets`. Switch it off for an installation without calls.',
    replicas: 2,
    resources: amountsOf({ cpu: '1', memory: '1Gi', disk: '1Gi' }, { memory: '4Gi', disk: '5376Mi' }),
    // New pods come before the old ones have seen their last call.
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '50%', maxUnavailable: 0 } },
    preStopSeconds: 5,
    own: {
      autoscaling: voiceAutoscaling,
      spool: group('Where recordings lie until they are in the storage.', {
        sizeLimit: text('Most of it.', '4Gi'),
        medium: choice('Memory, or the disk of the node where empty.', '', ['', 'Memory']),
      }),
    },
  }),
};
