/** zod schemas as the JSON Schemas of MCP tools: complete in themselves, and no deeper and wordier than a model needs. Pure. */
import { z } from 'zod';

export interface JsonObject {
  readonly [name: string]: unknown;
}

export interface SchemaOptions {
  /** What is sent, where defaults make a field optional, or what is answered. */
  readonly io: 'input' | 'output';
  /** Levels of objects that are written out; those below are any object. */
  readonly depth: number;
  readonly descriptions: boolean;
}

/** What says something to a model. Sizes and patterns are left to the route, whose errors name the field and the cure. */
const KEPT = ['type', 'enum', 'const', 'format', 'default', 'minimum', 'maximum', 'required', 'maxItems'] as const;

/** @returns a schema that everything fits which fits the zod schema */
export function schemaOf(schema: z.ZodType, { io, depth, descriptions }: SchemaOptions): JsonObject {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { target: 'draft-2020-12', io }) as JsonObject & {
    readonly $defs?: Readonly<Record<string, JsonObject>>;
  };
  const short = (given: JsonObject, levels: number): JsonObject => {
    const { description, ...node } = resolved(given, $defs);
    const { properties, items, anyOf = node['oneOf'], additionalProperties } = node;
    const kept = Object.fromEntries(KEPT.flatMap((key) => (node[key] === undefined || isVastLimit(node[key]) ? [] : [[key, node[key]]])));
    const described = { ...kept, ...(descriptions && description !== undefined && { description }) };
    if (Array.isArray(anyOf)) return union(described, unique((anyOf as JsonObject[]).map((each) => short(each, levels))));
    if (isObject(items)) return { ...described, items: short(items, levels) };
    if (levels === 0 && (properties !== undefined || isObject(additionalProperties))) {
      const { required: _, ...any } = described as JsonObject;
      return any;
    }
    return {
      ...described,
      ...(isObject(properties) && {
        properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, short(each as JsonObject, levels - 1)])),
      }),
      ...(isObject(additionalProperties) &&
        Object.keys(additionalProperties).length > 0 && { additionalProperties: short(additionalProperties, levels - 1) }),
    };
  };
  return short(root, depth);
}

/** What a reference leads to, described by the place that refers to it where that says something. */
function resolved(node: JsonObject, definitions: Readonly<Record<string, JsonObject>>): JsonObject {
  const { $ref: reference, ...rest } = node;
  if (typeof reference !== 'string') return node;
  return { ...resolved(definitions[reference.replace('#/$defs/', '')] ?? {}, definitions), ...rest };
}

/** A value or null is a value of two types, where the type says everything. */
function union(described: JsonObject, variants: readonly JsonObject[]): JsonObject {
  const [value, ...others] = variants.filter(({ type }) => type !== 'null');
  const nullable = variants.length > 1 + others.length;
  if (value === undefined || others.length > 0) return { ...described, anyOf: variants };
  if (!nullable) return { ...value, ...described };
  if (typeof value['type'] !== 'string' || value['const'] !== undefined) return { ...described, anyOf: variants };
  const choices = value['enum'];
  return {
    ...value,
    ...described,
    type: [value['type'], 'null'],
    ...(Array.isArray(choices) && { enum: [...(choices as unknown[]), null] }),
  };
}

function unique(schemas: readonly JsonObject[]): readonly JsonObject[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
}

/** zod's limits of whole numbers where there are no others. */
function isVastLimit(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) === Number.MAX_SAFE_INTEGER;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
