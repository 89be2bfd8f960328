/** Turns objects into the form in which Git keeps them: without what a server adds. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

import type { KubeObject, Stored } from '../../kube/types.ts';
import type { AgentSpec, KindDefinition } from '../../crds/index.ts';
import { isObject } from '../../platform/json.ts';

export interface Manifest extends KubeObject {
  readonly spec?: unknown;
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
}

/** Secrets are written not at all, with a mark in the place of each value, or with their values. */
export const secretModes = ['none', 'placeholders', 'values'] as const;
export type SecretMode = (typeof secretModes)[number];

/** Stands in the place of a Secret's value; an import refuses it. */
export const PLACEHOLDER = 'REPLACE-ME';

/**
 * Annotation in files only: `Kind/name` of the object that a Secret or ConfigMap goes with. An owner reference can't be
 * written down, because it names its owner by an id that the owner has only in one cluster.
 */
export const OWNER_ANNOTATION = 'parley.dev/owner';

/** Annotation in files only: who owned the fields, for an import that gives them back to the same one. */
export const MANAGER_ANNOTATION = 'parley.dev/field-manager';

/** This label and these annotations speak of one cluster at one moment. */
const passing = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'parley.dev/reconcile-requested-at',
  'parley.dev/stage',
  'parley.dev/staged',
  'parley.dev/trace',
]);

const cleaned = (entries: Readonly<Record<string, string>> | undefined, more: Readonly<Record<string, string>> = {}) => {
  const kept = Object.entries({ ...entries, ...more }).filter(([name]) => !passing.has(name));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
};

/** An object's file says this in addition to the object. */
export interface Remarks {
  /** `Kind/name` of the object that it goes with. */
  readonly owner?: string | undefined;
  /** The manager that owns its fields. */
  readonly manager?: string | undefined;
}

function identity(
  { apiVersion, kind, metadata }: KubeObject,
  { owner, manager }: Remarks,
): Pick<Manifest, 'apiVersion' | 'kind' | 'metadata'> {
  const { name, namespace } = metadata;
  const labels = cleaned(metadata.labels);
  const annotations = cleaned(metadata.annotations, {
    ...(owner !== undefined && { [OWNER_ANNOTATION]: owner }),
    ...(manager !== undefined && { [MANAGER_ANNOTATION]: manager }),
  });
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }), ...(labels && { labels }), ...(annotations && { annotations }) },
  };
}

/** Builds the portable form of an object of one of Parley's kinds. */
export function portableResource(
  object: Stored<KubeObject & { readonly spec: unknown }>,
  kind: KindDefinition,
  remarks: Remarks,
): Manifest {
  return { ...identity(object, remarks), spec: withoutException(withoutDefaults(kind.spec, object.spec)) };
}

/** The exception of one revision from its tests speaks of one moment, as the annotations do. */
function withoutException(spec: unknown): unknown {
  const { release } = spec as Pick<AgentSpec, 'release'>;
  if (release?.skipTests === undefined) return spec;
  const { skipTests: _exception, ...others } = release;
  const { release: _release, ...rest } = spec as AgentSpec;
  return { ...rest, ...(Object.keys(others).length > 0 && { release: others }) };
}

export function portableConfigMap(object: Stored<Manifest>, remarks: Remarks): Manifest {
  return { ...identity(object, remarks), ...(object.data !== undefined && { data: object.data }) };
}

/** Values stay as they are stored, in base64; placeholders are plain text, to be replaced by plain text. */
export function portableSecret(object: Stored<Manifest>, remarks: Remarks, mode: Exclude<SecretMode, 'none'>): Manifest {
  const { type, data = {} } = object;
  const common = { ...identity(object, remarks), ...(type !== undefined && type !== 'Opaque' && { type }) };
  if (mode === 'values') return { ...common, data };
  return { ...common, stringData: Object.fromEntries(Object.keys(data).map((key) => [key, PLACEHOLDER])) };
}

/** Returns who wrote what an object says: the facade where it did, else the first manager that applied or wrote it. */
export function managerOf({ metadata }: KubeObject): string | undefined {
  const writers = (metadata.managedFields ?? []).filter(
    ({ subresource, fieldsV1 = {} }) =>
      subresource === undefined && ['f:spec', 'f:data', 'f:stringData'].some((field) => field in fieldsV1),
  );
  const found = ['parley-api', 'parley-operator'].find((name) => writers.some(({ manager }) => manager === name));
  return found ?? (writers.find(({ operation }) => operation === 'Apply') ?? writers[0])?.manager;
}

/**
 * Drops the values of a spec that the server would fill in again by itself: in a file they would be read as wishes, and the client that
 * applies it would own them. Items of lists have no defaults and stay whole.
 *
 * @returns the spec itself when leaving something out would change what it means
 */
function withoutDefaults<T>(schema: z.ZodType, spec: T): Partial<T> {
  const lean = strip(schema, spec);
  // Where a default is an empty object, only the server knows it.
  const read = (value: unknown): unknown => withoutEmpty(schema.safeParse(value).data);
  return isDeepStrictEqual(read(lean), read(spec)) ? (lean as Partial<T>) : spec;
}

/** Returns undefined for a value that can be left out altogether. */
function strip(schema: z.core.$ZodType, value: unknown): unknown {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'optional': {
      const inner = strip(def.innerType, value);
      return isDeepStrictEqual(inner, z.globalRegistry.get(schema)?.['default']) ? undefined : inner;
    }
    case 'default':
    case 'prefault':
      if (isDeepStrictEqual(value, def.defaultValue)) return undefined;
      return unlessEmpty(strip(def.innerType, value));
    case 'nullable':
      return value === null ? null : strip(def.innerType, value);
    case 'object':
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value).flatMap(([name, field]) => {
          const known = def.shape[name];
          const kept: unknown = known === undefined ? field : strip(known, field);
          return kept === undefined ? [] : [[name, kept]];
        }),
      );
    default:
      return value;
  }
}

function unlessEmpty(value: unknown): unknown {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0 ? undefined : value;
}

function withoutEmpty(value: unknown): unknown {
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, unlessEmpty(withoutEmpty(field))] as const);
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}
