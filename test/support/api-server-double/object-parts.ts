/** Names and parts of objects, as requests and messages use them. */
import { apiVersionOf, type ManagedFieldsEntry } from '../../../kube/types.ts';
import { stale } from './refusal.ts';
import type { Served } from './resource.ts';
import type { Json } from './schema.ts';

export interface Target {
  readonly resource: Served;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource?: 'status' | undefined;
}

/** `widgets.example.com`, as messages name a resource; also its key in the store. */
export function groupResource(resource: Served): string {
  const { group, plural } = resource.descriptor;
  return group === '' ? plural : `${plural}.${group}`;
}

export function keyOf(target: Pick<Target, 'namespace' | 'name'>): string {
  return `${target.namespace ?? ''}/${target.name}`;
}

export function kindName(resource: Served): string {
  const { group, kind } = resource.descriptor;
  return group === '' ? kind : `${kind}.${group}`;
}

export function typeMeta(resource: Served): Json {
  return { apiVersion: apiVersionOf(resource.descriptor), kind: resource.descriptor.kind };
}

export function identityMetadata(target: Target): Json {
  return { name: target.name, ...(target.namespace === undefined ? {} : { namespace: target.namespace }) };
}

export function identityOf(object: Json): Json {
  const { name, namespace } = object['metadata'] as Json;
  return { apiVersion: object['apiVersion'], kind: object['kind'], metadata: { name, namespace } };
}

/** What only the server writes, as it is; a uid that was sent is kept, to be refused when it is another one. */
export function systemMetadata(live: Json, sent: Json): Json {
  const { name, namespace, uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = live['metadata'] as Json;
  const sentUid = ((sent['metadata'] ?? {}) as Json)['uid'];
  return JSON.parse(
    JSON.stringify({ name, namespace, uid: sentUid ?? uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation }),
  ) as Json;
}

export function managedFieldsOf(object: Json): readonly ManagedFieldsEntry[] {
  return ((object['metadata'] as Json)['managedFields'] ?? []) as readonly ManagedFieldsEntry[];
}

export function withManagedFields(object: Json, managedFields: readonly ManagedFieldsEntry[]): Json {
  return withMetadata(object, { managedFields: managedFields.length === 0 ? undefined : managedFields });
}

export function withMetadata(object: Json, changes: Json): Json {
  const metadata = Object.fromEntries(
    Object.entries({ ...((object['metadata'] ?? {}) as Json), ...changes }).filter(([, value]) => value !== undefined),
  );
  return { ...object, metadata };
}

/** What the generation counts changes of. */
export function withoutStatus(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== 'status' && name !== 'metadata'));
}

export function checkVersion(target: Target, live: Json, metadata: Json): void {
  const sent = metadata['resourceVersion'];
  if (sent !== undefined && sent !== '' && sent !== (live['metadata'] as Json)['resourceVersion'])
    throw stale(groupResource(target.resource), target.name);
}
