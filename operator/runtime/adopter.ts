/** Gives a Secret or ConfigMap that lost its owner in a restore to the object that Parley keeps it for. */
import { ResourceClient, type KubeObject, type Stored, type Transport } from '../../kube/index.ts';
import type { Adoption } from '../references/adoptions.ts';
import { DATA_DESCRIPTORS, FIELD_MANAGER, type NamespaceInformers } from './namespace-informers.ts';
import { namespaceOf } from './snapshot-reader.ts';

export type Adopt = (adoption: Adoption, owner: Stored<KubeObject>, signal: AbortSignal) => Promise<void>;

export function createAdopter(transport: Transport, namespaces: Pick<NamespaceInformers, 'waitFor'>): Adopt {
  return async ({ kind, name, uid, resourceVersion }, owner, signal) => {
    const client = new ResourceClient<KubeObject>({ transport, descriptor: DATA_DESCRIPTORS[kind], fieldManager: FIELD_MANAGER });
    const { apiVersion, metadata } = owner;
    const namespace = namespaceOf(owner);
    const seen = { apiVersion: 'v1', kind, metadata: { namespace, name, uid, resourceVersion, creationTimestamp: '' } };
    const ownerReferences = [{ apiVersion, kind: owner.kind, name: metadata.name, uid: metadata.uid }];
    const adopted = await client.mergePatch(seen, { metadata: { ownerReferences } }, { signal });
    await namespaces.waitFor(kind, namespace, adopted.metadata.resourceVersion, signal);
  };
}
