import type { KubeObject } from '../../kube/types.ts';
import { isDeleting } from '../status/common.ts';
import type { Problem } from '../status/reasons.ts';
import type { Reference } from './references-of.ts';
import { ownerAmong, type ClusterSnapshot, type DataObject } from './cluster-snapshot.ts';

/** The problems of references, in the order of the spec; empty when everything exists and can be used. */
export function unresolved(namespace: string, references: readonly Reference[], snapshot: ClusterSnapshot): readonly Problem[] {
  return references.flatMap((reference) => check(namespace, reference, snapshot) ?? []);
}

function check(namespace: string, reference: Reference, snapshot: ClusterSnapshot): Problem | undefined {
  switch (reference.kind) {
    case 'Secret':
      return checkData('Secret', namespace, reference, snapshot.secret(namespace, reference.name));
    case 'ConfigMap':
      return checkData('ConfigMap', namespace, reference, snapshot.configMap(namespace, reference.name));
    case 'Agent':
      return checkObject('Agent', namespace, reference, snapshot.agent(namespace, reference.name));
    default:
      return checkObject('KnowledgeBase', namespace, reference, snapshot.knowledgeBase(namespace, reference.name));
  }
}

function checkData(kind: 'Secret' | 'ConfigMap', namespace: string, reference: Reference, found: DataObject): Problem | undefined {
  const thing = `${kind} ${namespace}/${reference.name}`;
  switch (found.state) {
    case 'absent':
      return { reason: `${kind}NotFound`, message: `${thing} does not exist; create it or change ${reference.field}` };
    case 'forbidden':
      return {
        reason: 'ReferenceForbidden',
        message: `the operator may not read ${thing} (${reference.field}); grant its service account get on it`,
      };
    default:
      if (reference.key === undefined || found.keys.has(reference.key)) return undefined;
      return { reason: `${kind}KeyNotFound`, message: `${thing} has no key "${reference.key}"; add it or change ${reference.field}` };
  }
}

function checkObject(
  kind: 'Agent' | 'KnowledgeBase',
  namespace: string,
  reference: Reference,
  found: Parameters<typeof isDeleting>[0] | undefined,
): Problem | undefined {
  const thing = `${kind} ${namespace}/${reference.name}`;
  if (found === undefined) return { reason: `${kind}NotFound`, message: `${thing} does not exist; create it or change ${reference.field}` };
  if (isDeleting(found))
    return { reason: `${kind}NotFound`, message: `${thing} is being deleted; create it again or change ${reference.field}` };
  return undefined;
}

/** The first check of any object: outside organisations the operator does nothing. */
export function notAnOrganization(namespace: string, snapshot: ClusterSnapshot): readonly Problem[] {
  if (snapshot.isOrganization(namespace)) return [];
  return [
    {
      reason: 'NotAnOrganization',
      message: `namespace ${namespace} is not an organisation; run \`kubectl label namespace ${namespace} parley.dev/organization=true\` or create the object in one that is`,
    },
  ];
}

/** Of several objects of one kind and display name the oldest keeps it. */
export function displayNameTaken(object: KubeObject, displayName: string, rivals: readonly KubeObject[]): readonly Problem[] {
  const { namespace = '', uid } = object.metadata;
  const owner = ownerAmong(rivals);
  if (owner === undefined || owner.metadata.uid === uid) return [];
  return [
    {
      reason: 'DisplayNameTaken',
      message: `the older ${object.kind} ${namespace}/${owner.metadata.name} is already called "${displayName}"; set another spec.displayName`,
    },
  ];
}
