/** Secrets and ConfigMaps that Parley keeps for an object, and that a restore has left without an owner. Pure. */
import { companionName } from '../../crds/index.ts';
import type { KubeObject } from '../../kube/types.ts';
import type { ClusterSnapshot, DataObject } from './cluster-snapshot.ts';
import type { Reference } from './references-of.ts';

/** The object takes its companion over, so that it goes with it. */
export interface Adoption {
  readonly type: 'adopt';
  readonly kind: 'Secret' | 'ConfigMap';
  readonly name: string;
  /** Uid of the companion, as it was seen. */
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Returns the adoption of what has exactly the name of a companion, Parley's label and no owner at all. */
export function adoptionsOf(object: KubeObject, references: readonly Reference[], snapshot: ClusterSnapshot): readonly Adoption[] {
  const { namespace = '', name } = object.metadata;
  const companion = companionName(object.kind, name);
  return (['Secret', 'ConfigMap'] as const).flatMap((kind): readonly Adoption[] => {
    if (!references.some((reference) => reference.kind === kind && reference.name === companion)) return [];
    const found: DataObject = kind === 'Secret' ? snapshot.secret(namespace, companion) : snapshot.configMap(namespace, companion);
    if (found.state !== 'present' || found.owners.length > 0 || found.companionOf !== object.kind.toLowerCase()) return [];
    return [{ type: 'adopt', kind, name: companion, uid: found.uid, resourceVersion: found.resourceVersion }];
  });
}
