/** Tells which namespaces are organisations. */
import { kinds, wellKnown } from '../../crds/index.ts';
import type { KubeObject, Stored } from '../../kube/index.ts';
import { builtIn } from './descriptors.ts';
import type { Reader } from './reader.ts';

/** `unknown`: this user may not read the namespace. */
export type NamespaceState = 'organization' | 'other' | 'missing' | 'unknown';

/** @param consequence what follows if the namespace may not be read, for the note about it */
export async function readNamespace(reader: Reader, name: string, consequence?: string): Promise<NamespaceState> {
  const client = reader.client(builtIn.namespaces, true);
  const namespace = await reader.allowed(`the namespace ${name}`, () => client.get({ name }), consequence);
  if (namespace === 'refused') return 'unknown';
  if (namespace === undefined) return 'missing';
  return namespace.metadata.labels?.[wellKnown.organizationLabel] === 'true' ? 'organization' : 'other';
}

/** Returns the namespaces with the label; `undefined` where they may not be listed. */
export function listOrganizations(reader: Reader): Promise<readonly Stored<KubeObject>[] | undefined> {
  return reader.list(builtIn.namespaces, { labelSelector: `${wellKnown.organizationLabel}=true`, metadataOnly: true });
}

export async function seesAllNamespaces(reader: Reader): Promise<boolean> {
  const [first] = kinds;
  return (await reader.list(first.descriptor)) !== undefined;
}
