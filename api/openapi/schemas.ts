/** Turns zod schemas into the JSON Schema of OpenAPI 3.1, with the named ones gathered as components. */
import { z } from 'zod';

import { isChoice, openChoices, type OpenApiObject } from './open-choices.ts';

export type { OpenApiObject } from './open-choices.ts';

export interface SchemaOptions {
  /** `input` for requests, where defaults make a field optional, or `output` for answers. */
  readonly io: 'input' | 'output';
}

/** Collects the schemas that have an `id` in their metadata; the others stand where they are used. */
export class SchemaCollection {
  readonly #components = new Map<string, OpenApiObject>();
  /** Properties that are added to components, by component. */
  readonly #added = new Map<string, OpenApiObject>();
  readonly #closed: boolean;

  /** @param options.closed whether answers have exactly the described fields and choices: for tests, as clients must expect new ones */
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
      override: ({ zodSchema, jsonSchema }) => {
        const discriminator = discriminatorOf(zodSchema, io);
        if (discriminator !== undefined) jsonSchema['discriminator'] = discriminator;
        // The variants' tags exclude each other already; the generators of clients make plain unions of these.
        if (jsonSchema.oneOf !== undefined) {
          jsonSchema.anyOf = jsonSchema.oneOf;
          delete jsonSchema.oneOf;
        }
        if (jsonSchema.additionalProperties === false && io === 'output' && !this.#closed) delete jsonSchema.additionalProperties;
        hoistDescription(jsonSchema);
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
        // The format is enough for readers, who don't want zod's pattern.
        if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      },
    }) as OpenApiObject;
    const definitions = new Map(Object.entries(($defs ?? {}) as Record<string, OpenApiObject>));
    if (io === 'output' && !this.#closed) return this.#open(own, definitions);
    for (const [id, definition] of definitions) this.add(id, withRefs(definition));
    return withRefs(own);
  }

  /** Opens the choices of answers. They have no name, which belongs to the closed choice in requests. */
  #open(own: OpenApiObject, definitions: ReadonlyMap<string, OpenApiObject>): OpenApiObject {
    const byRef = new Map([...definitions].map(([id, definition]) => [`#/$defs/${id}`, definition]));
    for (const [id, definition] of definitions) if (!isChoice(definition)) this.add(id, withRefs(openChoices(definition, byRef)));
    return withRefs(openChoices(own, byRef));
  }

  /** @throws Error when there is another schema of this id */
  add(id: string, definition: OpenApiObject): void {
    const known = this.#components.get(id);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(definition)) {
      throw new Error(`two schemas are called ${id}: give one of them another id`);
    }
    this.#components.set(id, definition);
  }

  /** Lets the objects of a schema, and those of the components that it refers to, have more properties. */
  addProperties(schema: OpenApiObject, properties: OpenApiObject): OpenApiObject {
    const variants = schema['anyOf'] as readonly OpenApiObject[] | undefined;
    if (variants !== undefined) return { ...schema, anyOf: variants.map((each) => this.addProperties(each, properties)) };
    if (typeof schema['$ref'] !== 'string') return withProperties(schema, properties);
    const id = schema['$ref'].split('/').at(-1) ?? '';
    this.#added.set(id, properties);
    this.addProperties({ anyOf: this.#components.get(id)?.['anyOf'] ?? [] }, properties);
    return schema;
  }

  /** Copies a component's description to the properties that refer to it: readers see the property. */
  #withDescriptions(schema: OpenApiObject): OpenApiObject {
    if (schema['properties'] === undefined) return schema;
    const properties = Object.entries(schema['properties'] as Properties).map(([name, property]) => {
      const [referring = property] = (property['anyOf'] ?? []) as readonly OpenApiObject[];
      const component = this.#components.get(String(referring['$ref']).split('/').at(-1) ?? '');
      const description = property['description'] ?? component?.['description'];
      return [name, { ...property, ...(description !== undefined && { description }) }] as const;
    });
    return { ...schema, properties: Object.fromEntries(properties) };
  }

  get components(): OpenApiObject {
    const complete = [...this.#components].map(
      ([id, schema]) => [id, this.#withDescriptions(withProperties(schema, this.#added.get(id) ?? {}))] as const,
    );
    return Object.fromEntries(complete.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/**
 * Returns the property that distinguishes the variants of a union. A variant without a name can't be led to. There is none where a request
 * may leave the property out: generators make it required in every variant, whatever its schema says.
 */
function discriminatorOf(schema: z.core.$ZodTypes, io: SchemaOptions['io']): OpenApiObject | undefined {
  const { def } = schema._zod;
  if (def.type !== 'union' || !('discriminator' in def)) return undefined;
  const propertyName = def.discriminator as string;
  const variants = (def.options as readonly z.ZodObject[]).map((option) => ({
    option,
    tag: option.shape[propertyName] as z.core.$ZodTypes,
  }));
  if (io === 'input' && variants.some(({ tag }) => tag._zod.optin !== undefined)) return undefined;
  const mapping = Object.fromEntries(
    variants.flatMap(({ option, tag }) => {
      const id = option.meta()?.id;
      return id === undefined
        ? []
        : [...(tag._zod.values ?? [])].flatMap((value) => (typeof value === 'string' ? [[value, `#/components/schemas/${id}`]] : []));
    }),
  );
  return { propertyName, mapping };
}

/** Moves the description of a value to a union of it and null, because it is said of both. */
function hoistDescription(schema: z.core.JSONSchema.BaseSchema): void {
  const [value, nothing, ...others] = schema.anyOf ?? [];
  if (typeof value !== 'object' || typeof nothing !== 'object' || nothing.type !== 'null' || others.length > 0) return;
  if (value.description === undefined || schema.description !== undefined) return;
  schema.description = value.description;
  delete value.description;
}

type Properties = Readonly<Record<string, OpenApiObject>>;

function withProperties(schema: OpenApiObject, properties: OpenApiObject): OpenApiObject {
  return schema['type'] === 'object' ? { ...schema, properties: { ...(schema['properties'] as OpenApiObject), ...properties } } : schema;
}

function withRefs(schema: OpenApiObject): OpenApiObject {
  const text = JSON.stringify(schema, (key: string, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? value.replace(/^#\/\$defs\//, '#/components/schemas/') : value,
  );
  return JSON.parse(text) as OpenApiObject;
}
