/** zod schemas as the JSON Schema of OpenAPI 3.1, the named ones gathered as components. */
import { z } from 'zod';

export interface OpenApiObject {
  [name: string]: unknown;
}

export interface SchemaOptions {
  /** What is sent, where defaults make a field optional, or what is answered. */
  readonly io: 'input' | 'output';
}

/** Collects the schemas that have an `id` in their metadata; the others stand where they are used. */
export class SchemaCollection {
  readonly #components = new Map<string, OpenApiObject>();
  /** By component: properties that are added to it. */
  readonly #added = new Map<string, OpenApiObject>();
  readonly #closed: boolean;

  /** @param options.closed whether answers have the described fields and no other: for tests. Clients have to expect new fields. */
  constructor({ closed = false }: { readonly closed?: boolean } = {}) {
    this.#closed = closed;
  }

  /** @throws Error when two different schemas have the same id */
  schemaOf(schema: z.ZodType, { io }: SchemaOptions): OpenApiObject {
    const {
      $defs,
      $schema: _,
      ...own
    } = z.toJSONSchema(schema, {
      target: 'draft-2020-12',
      io,
      override: ({ jsonSchema }) => {
        // Variants exclude each other by their tags as it is; the generators of clients make plain unions of these.
        if (jsonSchema.oneOf !== undefined) {
          jsonSchema.anyOf = jsonSchema.oneOf;
          delete jsonSchema.oneOf;
        }
        if (jsonSchema.additionalProperties === false && io === 'output' && !this.#closed) delete jsonSchema.additionalProperties;
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
        // The format says it; zod's pattern for it is no reading matter.
        if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      },
    }) as OpenApiObject;
    for (const [id, definition] of Object.entries(($defs ?? {}) as Record<string, OpenApiObject>)) this.add(id, withRefs(definition));
    return withRefs(own);
  }

  /** @throws Error when there is another schema of this id */
  add(id: string, definition: OpenApiObject): void {
    const known = this.#components.get(id);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(definition)) {
      throw new Error(`two schemas are called ${id}: give one of them another id`);
    }
    this.#components.set(id, definition);
  }

  /** Lets the objects of a schema, and those of the component that it refers to, have more properties. */
  addProperties(schema: OpenApiObject, properties: OpenApiObject): OpenApiObject {
    if (typeof schema['$ref'] !== 'string') return withProperties(schema, properties);
    this.#added.set(schema['$ref'].split('/').at(-1) ?? '', properties);
    return schema;
  }

  /** Sorted by name. */
  get components(): OpenApiObject {
    const complete = [...this.#components].map(([id, schema]) => [id, withProperties(schema, this.#added.get(id) ?? {})] as const);
    return Object.fromEntries(complete.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}

function withProperties(schema: OpenApiObject, properties: OpenApiObject): OpenApiObject {
  if (Array.isArray(schema['anyOf']))
    return { ...schema, anyOf: schema['anyOf'].map((each: OpenApiObject) => withProperties(each, properties)) };
  return schema['type'] === 'object' ? { ...schema, properties: { ...(schema['properties'] as OpenApiObject), ...properties } } : schema;
}

/** References to definitions become references to components. */
function withRefs(schema: OpenApiObject): OpenApiObject {
  const text = JSON.stringify(schema, (key: string, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? value.replace(/^#\/\$defs\//, '#/components/schemas/') : value,
  );
  return JSON.parse(text) as OpenApiObject;
}
