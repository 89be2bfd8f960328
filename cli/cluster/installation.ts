/** Finds what the chart has installed, by its labels. */
import type { Condition, KubeObject, ResourceDescriptor, Stored } from '../../kube/index.ts';
import { builtIn } from './descriptors.ts';
import type { Reader } from './reader.ts';

export const labels = {
  component: 'app.kubernetes.io/component',
  instance: 'app.kubernetes.io/instance',
  version: 'app.kubernetes.io/version',
  chart: 'helm.sh/chart',
} as const;

/** Every object of the chart has this label, whatever the release is called. */
export const INSTALLED = 'app.kubernetes.io/part-of=parley';

interface Container {
  readonly name: string;
  readonly image?: string;
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
}

export interface Deployment extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly readyReplicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface Pod extends KubeObject {
  readonly spec: { readonly containers: readonly Container[]; readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly conditions?: readonly Condition[];
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state?: Readonly<Record<string, { readonly reason?: string; readonly message?: string; readonly exitCode?: number }>>;
}

/** Looks for an installation in the namespace that is named, else everywhere, else in the places one may see. */
export interface InstallationScope {
  readonly systemNamespace?: string | undefined;
  readonly namespace: string;
}

/** Returns the chart's objects of one kind; `undefined` where they can't be seen anywhere. */
export async function installed<T extends KubeObject>(
  reader: Reader,
  descriptor: ResourceDescriptor,
  { systemNamespace, namespace }: InstallationScope,
): Promise<readonly Stored<T>[] | undefined> {
  const labelSelector = INSTALLED;
  if (systemNamespace !== undefined) return reader.list<T>(descriptor, { namespace: systemNamespace, labelSelector });
  const everywhere = await reader.list<T>(descriptor, { labelSelector });
  if (everywhere !== undefined) return everywhere;
  // A user who may see only a namespace may well be of the people who installed into it.
  const found = await Promise.all(
    [...new Set(['parley-system', namespace])].map((each) => reader.list<T>(descriptor, { namespace: each, labelSelector })),
  );
  return found.every((list) => list === undefined) ? undefined : found.flatMap((list) => list ?? []);
}

export function roleOf(object: KubeObject): string {
  return object.metadata.labels?.[labels.component] ?? '';
}

export function installedDeployments(reader: Reader, places: InstallationScope): Promise<readonly Stored<Deployment>[] | undefined> {
  return installed<Deployment>(reader, builtIn.deployments, places);
}

export function installedPods(reader: Reader, places: InstallationScope): Promise<readonly Stored<Pod>[] | undefined> {
  return installed<Pod>(reader, builtIn.pods, places);
}
