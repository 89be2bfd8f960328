/**
 * Turns zod into the structural OpenAPI v3 schema that a CustomResourceDefinition may hold
 * (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema).
 * Keywords come from an allow-list: a keyword that the API server would refuse, ignore or read differently stops the generation with its
 * path.
 */
import { z } from 'zod';

import { errorMessageOf } from '../../platform/caught.ts';
import { isObject, type JsonObject } from '../../platform/json.ts';
import { checkBounds, checkPattern, findUnrepresentable } from './checks.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** A schema holds something that a structural schema can't; `path` says where, as in `spec.llm.model`. */
export class StructuralSchemaError extends Error {
  override readonly name = 'StructuralSchemaError';
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
    this.path = path;
  }
}

const common = ['type', 'description', 'default', 'x-kubernetes-validations'];
const allowed: Readonly<Record<string, readonly string[]>> = {
  string: [...common, 'enum', 'const', 'pattern', 'format', 'minLength', 'maxLength'],
  integer: [...common, 'minimum', 'maximum'],
  number: [...common, 'minimum', 'maximum'],
  boolean: common,
  array: [...common, 'items', 'minItems', 'maxItems', 'x-kubernetes-list-type', 'x-kubernetes-list-map-keys'],
  object: [
    ...common,
    'properties',
    'required',
    'additionalProperties',
    'propertyNames',
    'minProperties',
    'maxProperties',
    'x-kubernetes-map-type',
    'x-kubernetes-preserve-unknown-fields',
  ],
  any: ['description', 'nullable', 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-validations'],
};

/**
 * @param root name of the schema in error messages, e.g. `Agent.spec`.
 * @throws StructuralSchemaError at the first thing that can't be held.
 */
export function toStructuralSchema(schema: z.ZodType, root: string): StructuralSchema {
  const unrepresentable = findUnrepresentable(schema);
  if (unrepresentable !== undefined) throw new StructuralSchemaError(at(root, unrepresentable.path), unrepresentable.problem);
  let json: JsonObject;
  try {
    json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'throw', cycles: 'throw', reused: 'inline' });
  } catch (error) {
    throw new StructuralSchemaError(root, errorMessageOf(error));
  }
  const { $schema: _dialect, ...node } = json;
  return convert(node, { path: root, defaults: true });
}

interface Context {
  readonly path: string;
  /** True if a default may stand here: one inside a list item or a map value makes an applied object drift for ever. */
  readonly defaults: boolean;
}

function convert(node: JsonObject, context: Context): StructuralSchema {
  const variant = variantOf(node, context.path);
  const words = allowed[variant] ?? [];
  for (const keyword of Object.keys(node)) {
    if (!words.includes(keyword))
      throw new StructuralSchemaError(
        context.path,
        `"${keyword}" of a ${variant} is not among the keywords that a structural schema can hold here`,
      );
  }
  if (node['default'] !== undefined && !context.defaults)
    throw new StructuralSchemaError(
      context.path,
      'a default inside a list item or a map value drifts under server-side apply; say "where absent" in the description',
    );
  const result = converters[variant](node, context);
  for (const keyword of ['description', 'default', 'x-kubernetes-validations'] as const) {
    if (node[keyword] !== undefined) Object.assign(result, { [keyword]: node[keyword] });
  }
  const unbounded = checkBounds(result);
  if (unbounded !== undefined) throw new StructuralSchemaError(context.path, unbounded);
  return result;
}

type Variant = StructuralSchema['type'] & string;

function variantOf(node: JsonObject, path: string): Variant | 'any' {
  const { type } = node;
  if (type === 'object' || type === 'array' || type === 'string' || type === 'integer' || type === 'number' || type === 'boolean')
    return type;
  if (type === undefined && node['x-kubernetes-preserve-unknown-fields'] === true) return 'any';
  if (type !== undefined)
    throw new StructuralSchemaError(path, `type ${JSON.stringify(type)} has no structural form; leave the field out instead of null`);
  throw new StructuralSchemaError(path, `a schema without a type (${Object.keys(node).join(', ') || 'unknown'}) has no structural form`);
}

const converters: Readonly<Record<Variant | 'any', (node: JsonObject, context: Context) => StructuralSchema>> = {
  string: convertString,
  integer: convertInteger,
  number: (node) => ({ type: 'number', ...pick(node, ['minimum', 'maximum']) }),
  boolean: () => ({ type: 'boolean' }),
  array: convertArray,
  object: convertObject,
  any: (node) => ({ 'x-kubernetes-preserve-unknown-fields': true, ...pick(node, ['nullable']) }),
};

function convertString(node: JsonObject, { path }: Context): StructuralSchema {
  const { format } = node;
  // The server checks date-time itself; zod's pattern for it would only repeat that, in 300 characters.
  if (format === 'date-time') return { type: 'string', format, ...pick(node, ['minLength', 'maxLength']) };
  if (format !== undefined)
    throw new StructuralSchemaError(path, `format ${JSON.stringify(format)} is not checked by the API server; use a pattern`);
  if (node['const'] !== undefined) return { type: 'string', enum: [text(node['const'])] };
  const problem = checkPattern(node['pattern']);
  if (problem !== undefined) throw new StructuralSchemaError(path, problem);
  return { type: 'string', ...pick(node, ['enum', 'pattern', 'minLength', 'maxLength']) };
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Tells zod's default bounds of integers: they say what JavaScript can count, not what the field means. */
const isSafeIntegerBound = (value: unknown): boolean => value === Number.MAX_SAFE_INTEGER || value === Number.MIN_SAFE_INTEGER;
const fitsInt32 = (value: unknown): boolean => typeof value === 'number' && value >= -2_147_483_648 && value <= 2_147_483_647;

function integerBounds(node: JsonObject): Pick<StructuralSchema, 'minimum' | 'maximum'> {
  return pick(Object.fromEntries(Object.entries(node).filter(([, value]) => !isSafeIntegerBound(value))), ['minimum', 'maximum']);
}

function convertInteger(node: JsonObject): StructuralSchema {
  const bounds = integerBounds(node);
  return { type: 'integer', format: fitsInt32(bounds.minimum) && fitsInt32(bounds.maximum) ? 'int32' : 'int64', ...bounds };
}

function convertArray(node: JsonObject, { path }: Context): StructuralSchema {
  const { items } = node;
  if (!isObject(items)) throw new StructuralSchemaError(path, 'a list needs one schema for all its items');
  return {
    type: 'array',
    items: convert(items, { path: `${path}[]`, defaults: false }),
    ...pick(node, ['minItems', 'maxItems', 'x-kubernetes-list-type', 'x-kubernetes-list-map-keys']),
  };
}

function convertObject(node: JsonObject, context: Context): StructuralSchema {
  const sizes = pick(node, ['minProperties', 'maxProperties', 'x-kubernetes-map-type']);
  if (node['x-kubernetes-preserve-unknown-fields'] === true)
    return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...sizes };
  const { properties, additionalProperties, propertyNames } = node;
  if (isObject(additionalProperties)) {
    if (properties !== undefined) throw new StructuralSchemaError(context.path, 'properties and additionalProperties exclude each other');
    if (isObject(propertyNames) && Object.keys(propertyNames).join() !== 'type')
      throw new StructuralSchemaError(context.path, 'keys of a map can only be checked by a CEL rule');
    return {
      type: 'object',
      additionalProperties: convert(additionalProperties, { path: `${context.path}{}`, defaults: false }),
      ...sizes,
    };
  }
  if (additionalProperties !== undefined)
    throw new StructuralSchemaError(
      context.path,
      'additionalProperties: false does not exist in a structural schema, unknown fields are pruned',
    );
  const converted = Object.entries((properties ?? {}) as Readonly<Record<string, JsonObject>>).map(
    ([name, child]) => [name, convert(child, { path: `${context.path}.${name}`, defaults: context.defaults })] as const,
  );
  const required = [...((node['required'] ?? []) as readonly string[])].sort();
  return {
    type: 'object',
    ...(converted.length === 0 ? {} : { properties: Object.fromEntries(converted) }),
    ...(required.length === 0 ? {} : { required }),
    ...sizes,
  };
}

function pick<K extends keyof StructuralSchema>(node: JsonObject, keywords: readonly K[]): Pick<StructuralSchema, K> {
  return Object.fromEntries(keywords.filter((keyword) => node[keyword] !== undefined).map((keyword) => [keyword, node[keyword]])) as Pick<
    StructuralSchema,
    K
  >;
}

/** Turns zod's path through the JSON schema (`properties`, `llm`, …) into what a reader knows: `.llm`. */
function at(root: string, path: readonly (string | number)[]): string {
  let place = root;
  for (let index = 0; index < path.length; index += 1) {
    const word = path[index];
    if (word === 'properties') place += `.${String(path[(index += 1)])}`;
    else if (word === 'items') place += '[]';
    else if (word === 'additionalProperties') place += '{}';
  }
  return place;
}
