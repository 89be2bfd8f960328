/** Gives properties examples from those of the requests and answers that they are in. */
import type { OpenApiObject } from './schemas.ts';

interface Content {
  readonly schema?: OpenApiObject;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>;
}

/**
 * Changes the schemas of the document in place. A property gets the first example that has it; one without an example gets that of the same
 * name in another form of the object (`AgentUpdate` that of `AgentCreate`), or anywhere if its name is of more than one word.
 */
export function addPropertyExamples(
  { paths, responses }: { readonly paths: Readonly<Record<string, OpenApiObject>>; readonly responses: OpenApiObject },
  components: OpenApiObject,
): void {
  for (const { schema, value } of examplesIn(paths, responses)) illustrate(schema, value, components);
  const seen = new Map<string, unknown>();
  for (const pass of ['read', 'write'] as const) {
    for (const [component, name, property] of propertiesOf(components)) {
      const places = [`${component.replace(/(Create|Update)$/, '')}.${name}`, ...(/[a-z]_/.test(name) ? [name] : [])];
      const [own] = (property['examples'] ?? []) as readonly unknown[];
      if (pass === 'read' && own !== undefined) for (const place of places) seen.set(place, seen.get(place) ?? own);
      const found = places.map((place) => seen.get(place)).find((each) => each !== undefined);
      if (pass === 'write' && found !== undefined && saysLittle(property)) property['examples'] ??= [found];
    }
  }
}

function* propertiesOf(components: OpenApiObject): Generator<readonly [component: string, name: string, property: OpenApiObject]> {
  for (const [component, schema] of Object.entries(components)) {
    const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, OpenApiObject>> };
    for (const [name, property] of Object.entries(properties)) yield [component, name, property];
  }
}

function* examplesIn(
  paths: Readonly<Record<string, OpenApiObject>>,
  failures: OpenApiObject,
): Generator<{ readonly schema: OpenApiObject; readonly value: unknown }> {
  const operations = Object.values(paths).flatMap((path) => Object.values(path) as OpenApiObject[]);
  const answers = [...operations.map(({ responses }) => responses as OpenApiObject), failures].flatMap((each) => Object.values(each));
  for (const holder of [...operations.map(({ requestBody }) => requestBody), ...answers] as (OpenApiObject | undefined)[]) {
    for (const { schema, example, examples = {} } of Object.values((holder?.['content'] ?? {}) as Record<string, Content>)) {
      if (schema === undefined) continue;
      for (const value of [example, ...Object.values(examples).map((each) => each.value)]) yield { schema, value };
    }
  }
}

function illustrate(schema: OpenApiObject, value: unknown, components: OpenApiObject): void {
  if (value === null || value === undefined) return;
  const {
    $ref: ref,
    anyOf,
    properties,
    items,
  } = schema as {
    readonly $ref?: string;
    readonly anyOf?: readonly OpenApiObject[];
    readonly properties?: Readonly<Record<string, OpenApiObject>>;
    readonly items?: OpenApiObject;
  };
  if (ref !== undefined) illustrate(resolved(schema, components), value, components);
  const variants = (anyOf ?? []).map((each) => resolved(each, components)).filter((each) => holds(each, value));
  for (const variant of variants.slice(0, 1)) illustrate(variant, value, components);
  if (Array.isArray(value)) for (const item of value) illustrate(items ?? {}, item, components);
  else if (typeof value === 'object') {
    for (const [name, property] of Object.entries(properties ?? {})) {
      const own = (value as Readonly<Record<string, unknown>>)[name];
      if (isScalar(own) && saysLittle(property)) property['examples'] ??= [own];
      illustrate(property, own, components);
    }
  }
}

function resolved(schema: OpenApiObject, components: OpenApiObject): OpenApiObject {
  const ref = schema['$ref'];
  return typeof ref === 'string' ? (components[ref.split('/').at(-1) ?? ''] as OpenApiObject) : schema;
}

/** Returns whether a value can be meant for a variant of a union: by its type, and by the constants of its properties. */
function holds(schema: OpenApiObject, value: unknown): boolean {
  if (typeof value !== 'object' || Array.isArray(value)) return schema['type'] !== 'null';
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, OpenApiObject>>;
  return (
    schema['type'] === 'object' &&
    Object.entries(properties).every(
      ([name, property]) => property['const'] === undefined || [property['const'], undefined].includes((value as OpenApiObject)[name]),
    )
  );
}

const isScalar = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

/** Returns whether a schema needs an example: choices and constants are examples themselves. */
function saysLittle(schema: OpenApiObject): boolean {
  const variants = [schema, ...((schema['anyOf'] ?? []) as readonly OpenApiObject[])];
  return variants.every((each) => each['$ref'] === undefined && each['enum'] === undefined && each['const'] === undefined);
}
