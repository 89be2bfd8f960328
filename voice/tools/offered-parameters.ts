/** The schema of a tool's arguments, as every provider of models takes it. */
import { pointed } from '../../crds/json-schema-references.ts';
import { isObject, type JsonObject } from '../../platform/json.ts';

/** OpenAI and Anthropic refuse a whole request for one function that has one of these outside its properties. */
const REFUSED: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'enum', '$ref']);

/**
 * An object with the properties that the schema and its alternatives name: it allows more than the schema, by which the arguments are checked.
 * It always has `properties`, without which OpenAI refuses it.
 */
export function offeredParameters(schema: JsonObject): JsonObject & { readonly type: 'object' } {
  const { properties, required } = outlineOf(schema, schema, new Set());
  const rest = Object.entries(schema).filter(([keyword]) => !REFUSED.has(keyword) && keyword !== 'required');
  return { ...Object.fromEntries(rest), type: 'object', properties, ...(required.length > 0 && { required }) };
}

interface Outline {
  readonly properties: JsonObject;
  readonly required: readonly unknown[];
}

/** @param seen what is not looked into again: a schema may name itself */
function outlineOf(schema: unknown, root: JsonObject, seen: Set<unknown>): Outline {
  if (!isObject(schema) || seen.has(schema)) return { properties: {}, required: [] };
  seen.add(schema);
  const outlinesOf = (parts: readonly unknown[]): readonly Outline[] => parts.map((part) => outlineOf(part, root, seen));
  const { properties, required, $ref, allOf, anyOf, oneOf } = schema;
  const own: Outline = { properties: isObject(properties) ? properties : {}, required: listOf(required) };
  const named = typeof $ref === 'string' && $ref.startsWith('#/') ? pointed(root, $ref.slice(1)) : undefined;
  const all = [own, ...outlinesOf([named, ...listOf(allOf)])];
  const alternatives = [outlinesOf(listOf(anyOf)), outlinesOf(listOf(oneOf))];
  const inEach = alternatives.flatMap(([first, ...others]) =>
    (first?.required ?? []).filter((name) => others.every((other) => other.required.includes(name))),
  );
  return {
    properties: together([...all, ...alternatives.flat()].map((outline) => outline.properties)),
    required: [...new Set([...all.flatMap((outline) => outline.required), ...inEach])],
  };
}

/** A property that is described differently may be as any of them says. */
function together(described: readonly JsonObject[]): JsonObject {
  const found = Map.groupBy(described.flatMap(Object.entries<unknown>), ([name]) => name);
  return Object.fromEntries(
    [...found].map(([name, entries]) => {
      const schemas = [...new Map(entries.map(([, schema]) => [JSON.stringify(schema), schema])).values()];
      return [name, schemas.length === 1 ? schemas[0] : { anyOf: schemas }];
    }),
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
