/** The part of a structural OpenAPI schema that decides how the API server merges, defaults, prunes and validates. */
export interface JsonSchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
}

export type Json = Readonly<Record<string, unknown>>;

const string = { type: 'string' } as const;
const strings = { type: 'object', additionalProperties: string } as const;

/** `ObjectMeta`, as the server merges it. */
const metadataSchema: JsonSchema = {
  type: 'object',
  properties: {
    name: string,
    namespace: string,
    generateName: string,
    uid: string,
    resourceVersion: string,
    generation: { type: 'integer' },
    creationTimestamp: { ...string, nullable: true },
    deletionTimestamp: { ...string, nullable: true },
    deletionGracePeriodSeconds: { type: 'integer' },
    selfLink: string,
    labels: strings,
    annotations: strings,
    finalizers: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
    managedFields: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    ownerReferences: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      items: {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        properties: {
          apiVersion: string,
          kind: string,
          name: string,
          uid: string,
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
      },
    },
  },
};

/** The schema of a whole object: what every object has, and the rest. */
export function objectSchema(schema: JsonSchema): JsonSchema {
  return { ...schema, type: 'object', properties: { ...schema.properties, apiVersion: string, kind: string, metadata: metadataSchema } };
}

/** Free-form below here: no fields are declared. */
const anything: JsonSchema = { 'x-kubernetes-preserve-unknown-fields': true };

/** @returns undefined for a field that isn't declared. */
export function fieldSchema(schema: JsonSchema, name: string): JsonSchema | undefined {
  const declared = schema.properties?.[name];
  if (declared !== undefined) return declared;
  if (typeof schema.additionalProperties === 'object') return schema.additionalProperties;
  if (schema.additionalProperties === true || schema['x-kubernetes-preserve-unknown-fields'] || schema.type === undefined) return anything;
  return undefined;
}

export function itemSchema(schema: JsonSchema): JsonSchema {
  return schema.items ?? anything;
}

/** Owned and replaced as one value. */
export function isAtomic(schema: JsonSchema, value: unknown): boolean {
  if (Array.isArray(value)) return (schema['x-kubernetes-list-type'] ?? 'atomic') === 'atomic';
  return !isObject(value) || schema['x-kubernetes-map-type'] === 'atomic';
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
