/** Describes the kinds of Kubernetes itself that commands use. */
import type { ResourceDescriptor } from '../../kube/index.ts';

const of = (group: string, version: string, kind: string, plural: string, namespaced = true): ResourceDescriptor => ({
  group,
  version,
  kind,
  plural,
  namespaced,
});

export const builtIn = {
  deployments: of('apps', 'v1', 'Deployment', 'deployments'),
  pods: of('', 'v1', 'Pod', 'pods'),
  services: of('', 'v1', 'Service', 'services'),
  jobs: of('batch', 'v1', 'Job', 'jobs'),
  autoscalers: of('autoscaling', 'v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers'),
  disruptionBudgets: of('policy', 'v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  namespaces: of('', 'v1', 'Namespace', 'namespaces', false),
  configMaps: of('', 'v1', 'ConfigMap', 'configmaps'),
  secrets: of('', 'v1', 'Secret', 'secrets'),
  events: of('events.k8s.io', 'v1', 'Event', 'events'),
  definitions: of('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', 'customresourcedefinitions', false),
} as const;
