/** Which resource definitions the cluster has: read, or, where that is not allowed, known from discovery. */
import { isDeepStrictEqual } from 'node:util';

import { toCustomResourceDefinition } from '../../../crds/generator/crd.ts';
import { GROUP, kinds, VERSION, type KindDefinition } from '../../../crds/index.ts';
import type { Condition, KubeObject } from '../../../kube/index.ts';
import type { Reader } from '../reader.ts';

export interface DefinitionReport {
  readonly name: string;
  /** Served ones. */
  readonly versions: readonly string[];
  /** Versions that objects are kept in; unknown where the definition may not be read. */
  readonly storedVersions?: readonly string[];
  readonly healthy: boolean;
  /** `as in 0.1.0`, `differs from 0.1.0`, `established`. */
  readonly state: string;
  readonly cure?: string;
}

interface Definition extends KubeObject {
  readonly spec: { readonly versions: readonly { readonly name: string; readonly served: boolean; readonly schema?: object }[] };
  readonly status?: { readonly conditions?: readonly Condition[]; readonly storedVersions?: readonly string[] };
}

interface ApiResources {
  readonly resources: readonly { readonly name: string }[];
}

export async function readDefinitions(reader: Reader, clientVersion: string): Promise<readonly DefinitionReport[]> {
  const reports = await Promise.all((kinds as readonly KindDefinition[]).map((kind) => readDefinition(reader, kind, clientVersion)));
  if (reports.every((report) => report !== undefined)) return reports;
  // Every user of the API server may ask what it serves.
  const served = await reader.get<ApiResources>(`/apis/${GROUP}/${VERSION}`, `what the group ${GROUP} serves`);
  return (kinds as readonly KindDefinition[]).map((kind, index) => {
    const { plural } = kind.descriptor;
    const name = `${plural}.${GROUP}`;
    const report = reports[index];
    if (report !== undefined) return report;
    if (served !== 'refused' && served?.resources.some((resource) => resource.name === plural) === true)
      return { name, versions: [VERSION], healthy: true, state: 'served' };
    return missing(name);
  });
}

async function readDefinition(reader: Reader, kind: KindDefinition, clientVersion: string): Promise<DefinitionReport | undefined> {
  const name = `${kind.descriptor.plural}.${GROUP}`;
  const stored = await reader.get<Definition>(
    `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`,
    'the resource definitions (CRDs)',
  );
  if (stored === 'refused') return undefined;
  if (stored === undefined) return missing(name);
  const versions = stored.spec.versions.filter(({ served }) => served).map((version) => version.name);
  const about = { name, versions, ...(stored.status?.storedVersions !== undefined && { storedVersions: stored.status.storedVersions }) };
  const established = stored.status?.conditions?.find(({ type }) => type === 'Established');
  if (established?.status !== 'True') {
    const state = established === undefined ? 'not established yet' : `not established: ${established.message}`;
    return { ...about, healthy: false, state, cure: `kubectl describe crd ${name} shows why` };
  }
  if (!versions.includes(VERSION))
    return { ...about, healthy: false, state: `lacks the version ${VERSION}`, cure: 'upgrade the chart or its subchart `crds`' };
  const wanted = toCustomResourceDefinition(kind).spec.versions.find((version) => version.name === VERSION)?.schema;
  const has = stored.spec.versions.find((version) => version.name === VERSION)?.schema;
  return { ...about, healthy: true, state: `${isDeepStrictEqual(plain(has), plain(wanted)) ? 'as in' : 'differs from'} ${clientVersion}` };
}

const missing = (name: string): DefinitionReport => ({
  name,
  versions: [],
  healthy: false,
  state: 'not installed',
  cure: 'install the chart or its subchart `crds`, or: kubectl apply --server-side -f crds/',
});

const plain = (value: unknown): unknown => (value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown));
