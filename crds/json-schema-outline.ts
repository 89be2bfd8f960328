/** Finds the properties that a JSON Schema of an object has, wherever in it they are named. */
import { isObject, type JsonObject } from '../platform/json.ts';
import { pointed } from './json-schema-references.ts';

export interface Outline {
  readonly properties: JsonObject;
  readonly required: readonly string[];
}

/**
 * Returns the properties that a schema and its alternatives name, and those that each of them requires.
 *
 * @param root schema in which its references begin
 * @param seen schemas that are not looked into again: a schema may name itself
 */
export function outlineOf(schema: unknown, root: JsonObject = isObject(schema) ? schema : {}, seen = new Set<unknown>()): Outline {
  if (!isObject(schema) || seen.has(schema)) return { properties: {}, required: [] };
  seen.add(schema);
  const outlinesOf = (parts: readonly unknown[]): readonly Outline[] => parts.map((part) => outlineOf(part, root, seen));
  const { properties, required, $ref, allOf, anyOf, oneOf } = schema;
  const own: Outline = {
    properties: isObject(properties) ? properties : {},
    required: asList(required).filter((name) => typeof name === 'string'),
  };
  const named = typeof $ref === 'string' && $ref.startsWith('#/') ? pointed(root, $ref.slice(1)) : undefined;
  const all = [own, ...outlinesOf([named, ...asList(allOf)])];
  const alternatives = [outlinesOf(asList(anyOf)), outlinesOf(asList(oneOf))];
  const inEach = alternatives.flatMap(([first, ...others]) =>
    (first?.required ?? []).filter((name) => others.every((other) => other.required.includes(name))),
  );
  return {
    properties: together([...all, ...alternatives.flat()].map((outline) => outline.properties)),
    required: [...new Set([...all.flatMap((outline) => outline.required), ...inEach])],
  };
}

/** Allows a property that is described differently to be as any of them says. */
function together(described: readonly JsonObject[]): JsonObject {
  const found = Map.groupBy(described.flatMap(Object.entries<unknown>), ([name]) => name);
  return Object.fromEntries(
    [...found].map(([name, entries]) => {
      const schemas = [...new Map(entries.map(([, schema]) => [JSON.stringify(schema), schema])).values()];
      return [name, schemas.length === 1 ? schemas[0] : { anyOf: schemas }];
    }),
  );
}

/** Tells whether a schema says of itself that names it doesn't list are welcome. Without a word of it nobody learns of them. */
export function takesOthers({ additionalProperties, patternProperties }: JsonObject, name: string): boolean {
  if (additionalProperties === true || isObject(additionalProperties)) return true;
  return isObject(patternProperties) && Object.keys(patternProperties).some((pattern) => new RegExp(pattern).test(name));
}

/** Returns the schemas of the values in what a schema describes, with their paths: those of properties and of items, at any depth. */
export function valuesIn(schema: JsonObject): readonly (readonly [path: string, schema: JsonObject])[] {
  const found: (readonly [string, JsonObject])[] = [['', schema]];
  const seen = new Set<unknown>([schema]);
  // The list grows while it is read.
  for (const [path, at] of found) {
    const properties = isObject(at['properties'])
      ? Object.entries(at['properties']).map(([name, child]) => [`.properties.${name}`, child])
      : [];
    for (const [step, child] of [...properties, ['.items', at['items']]] as const) {
      if (!isObject(child) || seen.has(child)) continue;
      seen.add(child);
      found.push([`${path}${String(step)}`, child]);
    }
  }
  return found;
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
