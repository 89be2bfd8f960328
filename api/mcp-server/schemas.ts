/** Turns zod schemas into JSON Schemas of MCP tools: complete in themselves, and no deeper and wordier than a model needs. Pure. */
import { isObject, type JsonObject } from '../../platform/json.ts';
import { z } from 'zod';

export interface ShortSchemaOptions {
  /** `input` for requests, where defaults make a field optional, or `output` for answers. */
  readonly io: 'input' | 'output';
  /** Levels of objects that are written out; deeper ones are any object. */
  readonly depth: number;
  readonly descriptions: boolean;
  /** Whether null is listed where it may stand for a value. */
  readonly nulls: boolean;
}

/** Keywords that tell a model something. The route checks sizes and patterns, and its errors name the field and the cure. */
const KEPT = ['type', 'enum', 'const', 'format', 'default', 'minimum', 'maximum', 'required', 'maxItems'] as const;

/** @returns a schema that accepts every value that the zod schema accepts */
export function schemaOf(schema: z.ZodType, { io, depth, descriptions, nulls }: ShortSchemaOptions): JsonObject {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { target: 'draft-2020-12', io }) as JsonObject & {
    readonly $defs?: Readonly<Record<string, JsonObject>>;
  };
  const short = (given: JsonObject, levels: number): JsonObject => {
    const { description, ...node } = resolved(given, $defs);
    const { properties, items, anyOf = node['oneOf'], additionalProperties } = node;
    const kept = Object.fromEntries(KEPT.flatMap((key) => (node[key] === undefined || isVastLimit(node[key]) ? [] : [[key, node[key]]])));
    const described: JsonObject = { ...kept, ...(descriptions && description !== undefined && { description }) };
    if (Array.isArray(anyOf)) {
      const variants = unique((anyOf as JsonObject[]).map((each) => short(each, levels))).filter(({ type }) => nulls || type !== 'null');
      const [only] = variants;
      return only !== undefined && variants.length === 1 ? { ...only, ...described } : { ...described, anyOf: variants };
    }
    if (Array.isArray(described['type'])) return union(described as JsonObject & { readonly type: readonly string[] }, nulls);
    if (isObject(items)) return { ...described, items: short(items, levels) };
    if (levels === 0 && (properties !== undefined || isObject(additionalProperties))) {
      const { required: _, ...any } = described;
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

/** Resolves a reference; the description at the referring place wins, where it has one. */
function resolved(node: JsonObject, definitions: Readonly<Record<string, JsonObject>>): JsonObject {
  const { $ref: reference, ...rest } = node;
  if (typeof reference !== 'string') return node;
  return { ...resolved(definitions[reference.replace('#/$defs/', '')] ?? {}, definitions), ...rest };
}

/** Turns several types into as many variants: some providers of models know no others. */
function union({ type: types, description, ...rest }: JsonObject & { readonly type: readonly string[] }, nulls: boolean): JsonObject {
  const variantOf = (type: string): JsonObject => (type === 'null' ? { type } : { type, ...rest });
  const variants = types.filter((type) => nulls || type !== 'null').map(variantOf);
  const described = description === undefined ? {} : { description };
  const [only] = variants;
  return only !== undefined && variants.length === 1 ? { ...only, ...described } : { ...described, anyOf: variants };
}

function unique(schemas: readonly JsonObject[]): readonly JsonObject[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
}

/** Returns whether a value is zod's limit of whole numbers where the schema has none. */
function isVastLimit(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) === Number.MAX_SAFE_INTEGER;
}
