/** The shapes every Kubernetes object shares. Only what this library reads or writes is declared. */

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: 'FieldsV1';
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
  readonly subresource?: string;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly generateName?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** Any object the API server stores. Kinds narrow `spec` and `status`. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** An object as it comes back from the server: the fields the server always sets are there. */
export type Stored<T extends KubeObject> = T & {
  readonly metadata: ObjectMeta & { readonly uid: string; readonly resourceVersion: string; readonly creationTimestamp: string };
};

/** `metav1.Condition`. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** `metadata.generation` that this condition was computed from. */
  readonly observedGeneration?: number | undefined;
  /** RFC 3339, whole seconds; changes only when `status` changes. */
  readonly lastTransitionTime: string;
  /** CamelCase, part of the API. */
  readonly reason: string;
  readonly message: string;
}

/** Names one resource of one API version: everything needed to build its URLs. */
export interface ResourceDescriptor {
  /** `''` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** Key of an object within its kind: `namespace/name`, or `name` for a cluster-scoped one. */
export type ObjectKey = string;

export function keyOf(object: { readonly metadata: { readonly name: string; readonly namespace?: string } }): ObjectKey {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** `group/version`, or `version` for the core group. */
export function apiVersionOf(descriptor: ResourceDescriptor): string {
  return descriptor.group === '' ? descriptor.version : `${descriptor.group}/${descriptor.version}`;
}
