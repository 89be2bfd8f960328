/**
 * Opens choices in answers: a client that knows today's has to read tomorrow's. Pure.
 *
 * A closed `enum` makes generated clients refuse the whole answer for one new value, and a union of `enum` and text makes a class for each
 * field of them. A text with `x-extensible-enum` (Zalando's guidelines, rule 112) is a text to every generator.
 */
export interface OpenApiObject {
  [name: string]: unknown;
}

/** @returns the schema in which each `enum`, referred to or not, is a text that names today's values; `definitions` are by their reference */
export function openChoices(schema: OpenApiObject, definitions: ReadonlyMap<string, OpenApiObject>): OpenApiObject {
  const { $ref: ref, ...besides } = schema;
  const choice = typeof ref === 'string' ? definitions.get(ref) : undefined;
  if (choice !== undefined && isChoice(choice)) return openChoice({ ...choice, ...besides });
  if (isChoice(schema)) return openChoice(schema);
  const open = (each: OpenApiObject): OpenApiObject => openChoices(each, definitions);
  const { properties, anyOf, items, additionalProperties } = schema as {
    readonly properties?: Readonly<Record<string, OpenApiObject>>;
    readonly anyOf?: readonly OpenApiObject[];
    readonly items?: OpenApiObject;
    readonly additionalProperties?: OpenApiObject | boolean;
  };
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, open(each)])) }),
    ...(anyOf && { anyOf: anyOf.map(open) }),
    ...(items && { items: open(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: open(additionalProperties) }),
  };
}

export function isChoice({ enum: values }: OpenApiObject): boolean {
  return Array.isArray(values) && values.every((value) => typeof value === 'string');
}

function openChoice({ enum: values, description, ...others }: OpenApiObject): OpenApiObject {
  const choices = `One of ${(values as readonly string[]).map((value) => `\`${value}\``).join(', ')}; others may be added.`;
  const said = typeof description === 'string' ? `${description} ${choices}` : choices;
  return { ...others, type: 'string', description: said, 'x-extensible-enum': values };
}
