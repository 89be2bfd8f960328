/** Tells whether the Deployments of an installation do their work, and why not. Pure. */
import type { KubeObject, Stored } from '../../../kube/index.ts';
import { ROLE_NAMES } from '../../../platform/role-names.ts';
import { labels, roleOf, type Deployment, type Pod } from '../../cluster/installation.ts';

export interface DeploymentReport {
  readonly role: string;
  readonly namespace: string;
  readonly name: string;
  readonly release: string;
  readonly chart: string;
  readonly version: string;
  readonly image: string;
  readonly desired: number;
  readonly ready: number;
  readonly updated: number;
  readonly createdAt: string;
  readonly healthy: boolean;
  readonly reason?: string;
  readonly message?: string;
  readonly cure?: string;
}

export function reportDeployments(deployments: readonly Stored<Deployment>[], pods: readonly Pod[]): readonly DeploymentReport[] {
  const order = (role: string): number => (ROLE_NAMES as readonly string[]).indexOf(role);
  return deployments
    .map((deployment) => reportDeployment(deployment, pods))
    .sort((a, b) => a.namespace.localeCompare(b.namespace) || order(a.role) - order(b.role) || a.name.localeCompare(b.name));
}

function reportDeployment(deployment: Stored<Deployment>, pods: readonly Pod[]): DeploymentReport {
  const { namespace = '', name, creationTimestamp, generation } = deployment.metadata;
  const { status = {}, spec } = deployment;
  const desired = spec.replicas ?? 1;
  const ready = status.readyReplicas ?? 0;
  const updated = status.updatedReplicas ?? 0;
  const role = roleOf(deployment);
  const label = (key: string): string => deployment.metadata.labels?.[key] ?? '';
  const about = {
    role,
    namespace,
    name,
    release: label(labels.instance),
    chart: label(labels.chart),
    version: label(labels.version),
    image: (spec.template.spec.containers.find((each) => each.name === role) ?? spec.template.spec.containers[0])?.image ?? '',
    desired,
    ready,
    updated,
    createdAt: creationTimestamp,
  };
  if (desired === 0) {
    return {
      ...about,
      healthy: false,
      reason: 'ScaledToZero',
      message: 'it has no replicas',
      cure: `kubectl scale -n ${namespace} deployment/${name} --replicas=1`,
    };
  }
  // `generation` of a Deployment that no controller has seen is ahead of what is reported.
  const current = (status.observedGeneration ?? 0) >= (generation ?? 0);
  if (current && ready >= desired && updated >= desired) return { ...about, healthy: true };
  const trouble = pods.filter((pod) => belongsTo(pod, deployment)).flatMap((pod) => troubleOf(pod) ?? [])[0];
  const refusal = status.conditions?.find(({ type, status: value }) => type === 'ReplicaFailure' && value === 'True');
  const progress = status.conditions?.find(({ type, status: value }) => type === 'Progressing' && value === 'False');
  const found = trouble ?? (refusal && { reason: refusal.reason, message: refusal.message });
  if (found !== undefined) return { ...about, healthy: false, ...found, cure: podCure(found.reason, namespace, role) };
  return {
    ...about,
    healthy: false,
    reason: progress?.reason ?? (ready < desired ? 'PodsNotReady' : 'RollingOut'),
    message: progress?.message ?? `${ready} of ${desired} pods are ready, ${updated} of the present version`,
    cure: `kubectl describe -n ${namespace} deployment/${name} shows more; while it rolls out, wait`,
  };
}

function belongsTo(pod: KubeObject, deployment: KubeObject): boolean {
  return (
    pod.metadata.namespace === deployment.metadata.namespace &&
    roleOf(pod) === roleOf(deployment) &&
    pod.metadata.labels?.[labels.instance] === deployment.metadata.labels?.[labels.instance]
  );
}

/** Says why a pod is not ready, if it says so itself. */
export function troubleOf(pod: Pod): { readonly reason: string; readonly message: string } | undefined {
  const { name } = pod.metadata;
  for (const container of [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]) {
    const waiting = container.state?.['waiting'];
    if (waiting?.reason !== undefined && !['ContainerCreating', 'PodInitializing'].includes(waiting.reason))
      return { reason: waiting.reason, message: `pod ${name}: ${waiting.message ?? 'its container waits'}` };
    const ended = container.state?.['terminated'];
    if (ended !== undefined && ended.exitCode !== 0)
      return { reason: ended.reason ?? 'Terminated', message: `pod ${name}: its container has ended with exit code ${ended.exitCode}` };
  }
  const unscheduled = pod.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  if (unscheduled !== undefined) return { reason: unscheduled.reason, message: `pod ${name}: ${unscheduled.message}` };
  const restless = pod.status?.containerStatuses?.find(({ ready }) => !ready);
  if (restless === undefined) return undefined;
  return {
    reason: 'NotReady',
    message: `pod ${name} runs and does not report that it is ready${restless.restartCount > 0 ? `; restarted ${restless.restartCount} times` : ''}`,
  };
}

function podCure(reason: string, namespace: string, role: string): string {
  const logs = `kubectl logs -n ${namespace} -l app.kubernetes.io/component=${role} --tail=50`;
  switch (reason) {
    case 'ImagePullBackOff':
    case 'ErrImagePull':
    case 'InvalidImageName':
      return 'check image.repository, image.tag and imagePullSecrets in the values, and that the nodes reach the registry';
    case 'CrashLoopBackOff':
    case 'Error':
    case 'Terminated':
      return `its last words say why: ${logs} --previous`;
    case 'OOMKilled':
      return `give it more memory: ${role}.resources.limits.memory in the values`;
    case 'CreateContainerConfigError':
      return 'a Secret or a key that the values name is not there: create it, or correct `secrets` in the values';
    case 'Unschedulable':
      return 'no node has room for it: add nodes, or lower its resources in the values';
    case 'FailedCreate':
      return 'the namespace refuses the pod: a quota, or Pod Security';
    default:
      return `its log says what it waits for: ${logs}`;
  }
}
