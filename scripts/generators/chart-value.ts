/** One definition of a chart's value writes `values.yaml`, its schema and its table in the docs. */

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export type JsonSchema = { readonly [key: string]: Json };

export interface Value {
  readonly about: string;
  readonly default: Json;
  readonly schema: JsonSchema;
  /** Lines that stand behind the value as comments. */
  readonly comments?: readonly string[];
}

export interface ValueGroup {
  readonly about: string;
  readonly fields: ValueFields;
  /** True for a chart that is part of this one: Helm puts `global` into it. */
  readonly globals?: true;
  /** True for a group that has fields of others, too. */
  readonly open?: true;
  /** The group at the top whose values count where this one has none: each of them may be set here, too. */
  readonly base?: { readonly name: string; readonly fields: ValueFields };
}

export type ValueFields = Readonly<Record<string, Value | ValueGroup>>;

export const isGroup = (node: Value | ValueGroup): node is ValueGroup => 'fields' in node;

const value =
  (schema: JsonSchema) =>
  (about: string, fallback: Json): Value => ({ about, default: fallback, schema });

export const text = value({ type: 'string' });
export const flag = value({ type: 'boolean' });
/** Makes a map of Kubernetes' own, which the API server checks. */
export const object = value({ type: 'object' });
export const objects = value({ type: 'array', items: { type: 'object' } });
/** Makes environment variables, as a container has them. */
export const variables = value({
  type: 'array',
  items: { type: 'object', properties: { name: { type: 'string', minLength: 1 }, value: { type: 'string' } }, required: ['name'] },
});
export const texts = value({ type: 'array', items: { type: 'string', minLength: 1 } });
/** Makes at least one path of an address. */
export const paths = value({ type: 'array', items: { type: 'string', pattern: '^/' }, minItems: 1 });
export const labels = value({ type: 'object', additionalProperties: { type: 'string' } });
export const ports = value({ type: 'array', items: { type: 'integer', minimum: 1, maximum: 65_535 } });
/** Makes a number that is absent where null: the template works it out. */
export const maybeNumber = value({ type: ['integer', 'null'], minimum: 0 });
/** Makes a list that is absent where null. */
export const maybeObjects = value({ type: ['array', 'null'], items: { type: 'object' } });

export const number = (about: string, fallback: number, minimum = 0): Value => ({
  about,
  default: fallback,
  schema: { type: 'integer', minimum },
});
export const choice = (about: string, fallback: string, choices: readonly string[]): Value => ({
  about,
  default: fallback,
  schema: { type: 'string', enum: choices },
});
/** A number, or a share like 25%. */
export const share = (about: string, fallback: number | string | null): Value => ({
  about,
  default: fallback,
  schema: { anyOf: [{ type: 'integer', minimum: 0 }, { type: 'string', pattern: '^[0-9]+%$' }, { type: 'null' }] },
});
export const group = (about: string, fields: ValueFields, open?: 'open'): ValueGroup => ({
  about,
  fields,
  ...(open !== undefined && { open: true }),
});

export function schemaOf(fields: ValueFields, { globals, base }: Pick<ValueGroup, 'globals' | 'base'> = {}): JsonSchema {
  const inherited = Object.keys(base?.fields ?? {}).map((name) => [name, { $ref: `#/properties/${base?.name}/properties/${name}` }]);
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(inherited),
      ...propertiesOf(fields),
      ...(globals && { global: { type: 'object' } }),
    },
    additionalProperties: false,
  };
}

const propertiesOf = (fields: ValueFields): JsonSchema =>
  Object.fromEntries(
    Object.entries(fields).map(([name, node]) => [
      name,
      isGroup(node)
        ? { description: node.about, ...schemaOf(node.fields, node), ...(node.open && { additionalProperties: true }) }
        : { description: node.about, ...node.schema, default: node.default },
    ]),
  );
