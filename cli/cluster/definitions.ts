/** Compares the resource definitions that the cluster has with those of this version of Parley. */
import { isDeepStrictEqual } from 'node:util';

import { toCustomResourceDefinition } from '../../crds/generator/crd.ts';
import { GROUP, VERSION, type KindDefinition } from '../../crds/index.ts';
import type { Condition, KubeObject } from '../../kube/index.ts';
import type { Reader } from './reader.ts';

export interface Definition extends KubeObject {
  readonly spec: {
    readonly versions: readonly { readonly name: string; readonly served: boolean; readonly storage: boolean; readonly schema?: object }[];
  };
  readonly status?: { readonly conditions?: readonly Condition[]; readonly storedVersions?: readonly string[] };
}

export interface DefinitionFacts {
  readonly name: string;
  /** `refused`: this user may not read it. `outdated`: it doesn't serve the version of this program. */
  readonly state: 'same' | 'different' | 'outdated' | 'unestablished' | 'missing' | 'refused';
  /** Says why the API server doesn't serve it. */
  readonly message?: string;
  readonly versions: readonly string[];
  /** Versions that objects are kept in. */
  readonly storedVersions?: readonly string[];
}

export async function readDefinition(reader: Reader, kind: KindDefinition): Promise<DefinitionFacts> {
  const name = `${kind.descriptor.plural}.${GROUP}`;
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
  const stored = await reader.get<Definition>(path, 'the resource definitions (CRDs)');
  if (stored === 'refused') return { name, state: 'refused', versions: [] };
  if (stored === undefined) return { name, state: 'missing', versions: [] };
  const { conditions = [], storedVersions } = stored.status ?? {};
  const served = stored.spec.versions.filter((version) => version.served);
  const facts = { name, versions: served.map((version) => version.name), ...(storedVersions !== undefined && { storedVersions }) };
  const established = conditions.find(({ type }) => type === 'Established');
  if (established?.status !== 'True')
    return { ...facts, state: 'unestablished', ...(established !== undefined && { message: established.message }) };
  const schemaOf = (versions: Definition['spec']['versions']) => versions.find((version) => version.name === VERSION)?.schema;
  const schema = schemaOf(served);
  if (schema === undefined) return { ...facts, state: 'outdated' };
  const wanted = schemaOf(toCustomResourceDefinition(kind).spec.versions);
  return { ...facts, state: isDeepStrictEqual(plain(schema), plain(wanted)) ? 'same' : 'different' };
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
