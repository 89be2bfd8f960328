/** Breaks valid objects in one place each, in every way that the schemas of the kinds forbid, and says what the API server has to answer. */
import { millisecondsOf } from '../../../crds/duration.ts';
import { customResourceDefinitions, type StructuralSchema } from '../../../crds/generate.ts';
import { DURATION } from '../../../crds/schema.ts';
import { boundsOf, choicesOf, durationText, unionsOf, ValueGenerator, type Steps } from '../../support/generated-objects.ts';
import { manifestOf, type ManifestFields, type StoredManifest } from './support.ts';

export interface BrokenObject {
  readonly kind: string;
  /** The way in which it is broken. */
  readonly defect: string;
  /** Node that is broken, e.g. `Agent.spec.llm.fallbacks[].model`. */
  readonly node: string;
  readonly object: StoredManifest;
  /** The object before the change that is forbidden. */
  readonly before?: StoredManifest;
  /** The faulty field in the answer. */
  readonly field: string;
  /** Texts that say what is allowed. */
  readonly allowed: readonly string[];
}

interface Node {
  readonly kind: string;
  readonly spec: StructuralSchema;
  readonly schema: StructuralSchema;
  readonly steps: Steps;
}

/** One way to break the value of a node. */
interface Break {
  readonly defect: string;
  /** Fields below the node that the valid object has. */
  readonly with?: readonly string[];
  /** Returns what stands in place of the value; undefined takes it out. */
  readonly change: (value: unknown) => unknown;
  /** Path below the node to the faulty field. */
  readonly field?: string;
  readonly allowed: readonly string[];
}

/** Returns all of them, with the same seed the same ones. */
export function brokenObjects(seed: number): readonly BrokenObject[] {
  const generator = new ValueGenerator(seed);
  return nodes().flatMap((node) =>
    breaksOf(node.schema, generator)
      .map((each) => broken(node, each, generator))
      .concat(forbiddenChanges(node, generator)),
  );
}

function nodes(): readonly Node[] {
  return customResourceDefinitions().flatMap((crd) => {
    const spec = crd.spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec'] ?? {};
    return Array.from(walk(spec, []), ({ schema, steps }) => ({ kind: crd.spec.names.kind, spec, schema, steps }));
  });
}

function* walk(schema: StructuralSchema, steps: Steps): Generator<Pick<Node, 'schema' | 'steps'>> {
  yield { schema, steps };
  for (const [name, child] of Object.entries(schema.properties ?? {})) yield* walk(child, [...steps, name]);
  if (schema.items !== undefined) yield* walk(schema.items, [...steps, '[]']);
  if (schema.additionalProperties !== undefined) yield* walk(schema.additionalProperties, [...steps, '{}']);
}

function broken(
  { kind, spec, steps }: Node,
  { defect, change, field = '', allowed, with: present = [] }: Break,
  generator: ValueGenerator,
): BrokenObject {
  const valid = generator.value(spec, { share: 0, with: present.length === 0 ? [steps] : present.map((name) => [...steps, name]) });
  const { value, path } = changed(valid, steps, change);
  return {
    kind,
    defect,
    node: nodeName(kind, steps),
    object: manifestOf(kind, 'broken', value as ManifestFields),
    field: `spec${path}${field}`,
    allowed,
  };
}

const nodeName = (kind: string, steps: Steps): string =>
  steps.reduce((name, step) => (step === '[]' || step === '{}' ? `${name}${step}` : `${name}.${step}`), `${kind}.spec`);

/** Changes the value at the first node to which the steps lead. */
function changed(value: unknown, [step, ...rest]: Steps, change: Break['change']): { readonly value: unknown; readonly path: string } {
  if (step === undefined) return { value: change(value), path: '' };
  if (step === '[]') {
    const [first, ...others] = value as readonly unknown[];
    const inner = changed(first, rest, change);
    return { value: [inner.value, ...others], path: `[0]${inner.path}` };
  }
  const fields = value as ManifestFields;
  const name = step === '{}' ? (Object.keys(fields)[0] ?? '') : step;
  const inner = changed(fields[name], rest, change);
  return { value: withField(fields, name, inner.value), path: `.${name}${inner.path}` };
}

function withField(fields: ManifestFields, name: string, value: unknown): ManifestFields {
  const { [name]: _former, ...others } = fields;
  return value === undefined ? others : { ...others, [name]: value };
}

const constant = (defect: string, value: unknown, ...allowed: readonly string[]): Break => ({ defect, change: () => value, allowed });

function breaksOf(schema: StructuralSchema, generator: ValueGenerator): readonly Break[] {
  return [
    ...wrongTypes(schema),
    ...(schema.type === 'string' ? brokenTexts(schema, generator) : []),
    ...(schema.type === 'integer' || schema.type === 'number' ? brokenNumbers(schema) : []),
    ...(schema.type === 'array' ? brokenLists(schema, generator) : []),
    ...(schema.type === 'object' ? brokenObject(schema, generator) : []),
  ];
}

function wrongTypes({ type }: StructuralSchema): readonly Break[] {
  if (type === undefined) return [];
  const values: Readonly<Record<string, unknown>> = {
    object: 'text',
    array: 'text',
    string: 7,
    integer: 'text',
    number: 'text',
    boolean: 'yes',
  };
  return [constant('another type', values[type], `must be of type ${type}`)];
}

function brokenTexts(schema: StructuralSchema, generator: ValueGenerator): readonly Break[] {
  if (schema.enum !== undefined)
    return [constant('a value that is none', 'neverAValue', ...schema.enum.map((value) => JSON.stringify(value)))];
  if (schema.format !== undefined) return [constant('no time', 'tomorrow', 'must be of type date-time')];
  const { minLength = 0, maxLength, pattern } = schema;
  const bounds = boundsOf(schema);
  const outside = ['', ' ', '!', 'ä ö', '\u0007', 'a\nb', '0'].find(
    (each) =>
      pattern !== undefined && !new RegExp(pattern).test(each) && each.length >= minLength && each.length <= (maxLength ?? Infinity),
  );
  return [
    ...(minLength > 0 ? [constant('too short', '', `should be at least ${minLength} chars long`)] : []),
    ...(maxLength === undefined ? [] : [constant('too long', 'x'.repeat(maxLength + 1), `may not be more than ${maxLength} bytes`)]),
    ...(outside === undefined ? [] : [constant('another form', outside, `should match '${pattern}'`)]),
    ...(bounds === undefined ? [] : outOfRange(bounds, pattern === DURATION.source, generator)),
  ];
}

function outOfRange(
  { min, max }: { readonly min: string; readonly max: string },
  isDuration: boolean,
  generator: ValueGenerator,
): readonly Break[] {
  const message = `must be between ${min} and ${max}`;
  if (!isDuration)
    return [String(Number(min) - 1), String(Number(max) + generator.integer(1, 9))].map((value) =>
      constant('out of range', value, message),
    );
  const least = millisecondsOf(min);
  return [
    ...(least > 0 ? [constant('out of range', durationText(least - 1), message)] : []),
    constant('out of range', durationText(millisecondsOf(max) + generator.integer(1, 1000)), message),
  ];
}

function brokenNumbers({ minimum, maximum }: StructuralSchema): readonly Break[] {
  return [
    ...(minimum === undefined ? [] : [constant('too small', minimum - 1, `should be greater than or equal to ${minimum}`)]),
    ...(maximum === undefined ? [] : [constant('too large', maximum + 1, `should be less than or equal to ${maximum}`)]),
  ];
}

function brokenLists(schema: StructuralSchema, generator: ValueGenerator): readonly Break[] {
  const { items = {}, minItems = 0, maxItems = 0 } = schema;
  const many = generator.items(schema, maxItems + 1, () => generator.value(items, { share: 0 }));
  return [
    ...(minItems > 0 ? [constant('too few items', [], `should have at least ${minItems} items`)] : []),
    // Of a list of distinct values there may be too few different ones.
    ...(many.length > maxItems ? [constant('too many items', many, `must have at most ${maxItems} items`)] : []),
  ];
}

function brokenObject(schema: StructuralSchema, generator: ValueGenerator): readonly Break[] {
  const { properties, required = [], additionalProperties, maxProperties = 0 } = schema;
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return [];
  if (additionalProperties !== undefined) {
    const many = Array.from({ length: maxProperties + 1 }, (_, index) => [
      `key${index}`,
      generator.value(additionalProperties, { share: 0 }),
    ]);
    return [constant('too many entries', Object.fromEntries(many), `must have at most ${maxProperties} items`)];
  }
  return [
    {
      defect: 'an unknown field',
      change: (value) => withField(value as ManifestFields, 'nonsense', 1),
      field: '.nonsense',
      allowed: ['field not declared in schema'],
    },
    ...required.map((name): Break => ({
      defect: 'a field missing',
      change: (value) => withField(value as ManifestFields, name, undefined),
      field: `.${name}`,
      allowed: ['Required value'],
    })),
    ...unionsOf(schema).flatMap((union) => brokenUnion(union, properties ?? {}, generator)),
    ...choicesOf(schema).flatMap((fields) => brokenChoice(fields, schema, generator)),
  ];
}

function brokenUnion(
  { discriminator, members }: ReturnType<typeof unionsOf>[number],
  properties: Readonly<Record<string, StructuralSchema>>,
  generator: ValueGenerator,
): readonly Break[] {
  return members.flatMap((member): readonly Break[] => {
    const other = members.find(({ field }) => field !== member.field);
    const allowed = [member.message];
    const value = generator.value(properties[member.field] ?? {}, { share: 0 });
    return [
      ...(member.optional
        ? []
        : [
            {
              defect: 'a type without its member',
              with: [member.field],
              change: (fields: unknown) => withField(fields as ManifestFields, member.field, undefined),
              allowed,
            },
          ]),
      ...(other === undefined
        ? []
        : [
            {
              defect: 'a member of another type',
              with: [other.field],
              change: (fields: unknown) => withField(fields as ManifestFields, member.field, value),
              allowed,
            },
            {
              defect: 'another type than the member',
              with: [member.field],
              change: (fields: unknown) => withField(fields as ManifestFields, discriminator, other.type),
              allowed,
            },
          ]),
    ];
  });
}

function brokenChoice(fields: readonly string[], schema: StructuralSchema, generator: ValueGenerator): readonly Break[] {
  const [first = '', second = ''] = fields;
  const both = generator.value(schema.properties?.[second] ?? {}, { share: 0 });
  return [
    { defect: 'two members', with: [first], change: (value) => withField(value as ManifestFields, second, both), allowed: fields },
    { defect: 'no member', with: [first], change: (value) => withField(value as ManifestFields, first, undefined), allowed: fields },
  ];
}

/** Changes what a rule calls immutable: the field that it is about gets another value. */
function forbiddenChanges({ kind, spec, schema, steps }: Node, generator: ValueGenerator): readonly BrokenObject[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap(({ rule, message, fieldPath = '' }): readonly BrokenObject[] => {
    if (!rule.includes('oldSelf')) return [];
    // Some rules are about whether a field is set, others about its value.
    const isAboutValues = rule.replaceAll(/has\(\w+\.\w+\)/g, '').includes('oldSelf');
    const fields = Array.from(new Set(Array.from(rule.matchAll(/\boldSelf\.(\w+)/g), ([, name = '']) => name)));
    const stored = (name: string): unknown => generator.value(spec, { share: 0.5, with: [[...steps, name]] });
    const [before, after] = Array.from({ length: 200 }, () => [stored(generator.pick(fields)), stored(generator.pick(fields))]).find(
      ([one, other]) =>
        fields.some((name) => {
          const [was, is] = [at(one, [...steps, name]), at(other, [...steps, name])];
          return isAboutValues ? JSON.stringify(was) !== JSON.stringify(is) : (was === undefined) !== (is === undefined);
        }),
    ) ?? [undefined, undefined];
    if (before === undefined) throw new Error(`${nodeName(kind, steps)}: found no change that ${JSON.stringify(rule)} forbids`);
    return [
      {
        kind,
        defect: 'a forbidden change',
        node: nodeName(kind, steps),
        object: manifestOf(kind, 'stored', after as ManifestFields),
        before: manifestOf(kind, 'stored', before as ManifestFields),
        field: `spec${steps.map((step) => `.${step}`).join('')}${fieldPath}`,
        allowed: [message],
      },
    ];
  });
}

const at = (value: unknown, steps: Steps): unknown =>
  steps.reduce<unknown>((inner, step) => (inner as ManifestFields | undefined)?.[step], value);
