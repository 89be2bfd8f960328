/** What the double serves: kinds with their schemas. */
import type { StatusCause } from '../../../kube/error.ts';
import type { ResourceDescriptor } from '../../../kube/types.ts';
import { objectSchema, type Json, type JsonSchema } from './schema.ts';

export interface DoubleResource {
  readonly descriptor: ResourceDescriptor;
  /** Of the object without apiVersion, kind and metadata. Default: anything goes. */
  readonly schema?: JsonSchema;
  /** There is a status subresource. Default: true. */
  readonly statusSubresource?: boolean;
  /** Counts `metadata.generation`, as custom resources do. Default: true. */
  readonly generation?: boolean;
  /** Dotted paths that field selectors may name besides metadata.name and metadata.namespace, e.g. `spec.number`. */
  readonly selectableFields?: readonly string[];
  /** The CEL rules, in plain code. `old` is absent on create. */
  readonly validate?: (object: Json, old: Json | undefined) => readonly Pick<StatusCause, 'field' | 'message'>[];
  /** What the server does to an object before it is stored, e.g. `stringData` of a Secret. */
  readonly prepare?: (object: Json) => Json;
  /** May be replaced without naming a resourceVersion. Default: false. */
  readonly unconditionalUpdate?: boolean;
  /** A type that the server decodes strictly: a wrong type in a create is a 400. Default: false. */
  readonly builtIn?: boolean;
}

export type Served = Required<Omit<DoubleResource, 'schema'>> & { readonly schema: JsonSchema };

export function served(resource: DoubleResource): Served {
  return {
    statusSubresource: true,
    generation: true,
    selectableFields: [],
    validate: () => [],
    prepare: (object) => object,
    unconditionalUpdate: false,
    builtIn: false,
    ...resource,
    schema: objectSchema(resource.schema ?? { 'x-kubernetes-preserve-unknown-fields': true }),
  };
}

interface CustomResourceDefinition {
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly {
      readonly name: string;
      readonly schema?: { readonly openAPIV3Schema?: unknown };
      readonly subresources?: { readonly status?: unknown };
      readonly selectableFields?: readonly { readonly jsonPath: string }[];
    }[];
  };
}

/** A resource from a CustomResourceDefinition. CEL is not evaluated: give the rules that matter as `validate`. */
export function resourceOf(definition: object, validate?: DoubleResource['validate']): DoubleResource {
  const { spec } = definition as CustomResourceDefinition;
  const [version] = spec.versions;
  if (version === undefined) throw new Error(`the definition of ${spec.names.kind} has no version`);
  return {
    descriptor: {
      group: spec.group,
      version: version.name,
      kind: spec.names.kind,
      plural: spec.names.plural,
      namespaced: spec.scope === 'Namespaced',
    },
    schema: version.schema?.openAPIV3Schema ?? {},
    statusSubresource: version.subresources?.status !== undefined,
    selectableFields: (version.selectableFields ?? []).map((field) => field.jsonPath.replace(/^\./, '')),
    ...(validate === undefined ? {} : { validate }),
  };
}
