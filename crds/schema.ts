/**
 * Defines the vocabulary in which the six kinds are written: zod schemas that a structural OpenAPI schema can hold.
 * Every string, list and map takes its bound as an argument, so that nothing can be left unbounded.
 * Keywords of the CRD (`x-kubernetes-*`) travel in zod's metadata and are carried over by the generator.
 */
import { z } from 'zod';

/** A CEL validation rule. `message` is what `kubectl apply` prints; `fieldPath` points below the rule's own node, e.g. `.number`. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
}

export const MAP_KEY_LENGTH = 128;

/** Attaches CEL rules to a schema, after any it already has. */
export function cel<T extends z.ZodType>(schema: T, ...rules: readonly CelRule[]): T {
  const present = (schema.meta()?.['x-kubernetes-validations'] ?? []) as readonly CelRule[];
  return schema.meta({ ...schema.meta(), 'x-kubernetes-validations': [...present, ...rules] });
}

/** Text of at most `max` characters (Unicode code points, as the API server counts them). */
export const text = (max: number) => z.string().max(max);

export const name = (max: number) => z.string().min(1).max(max);

/** A list without identity of its items: replaced as a whole (`atomic`). */
export const list = <T extends z.ZodType>(item: T, max: number) => z.array(item).max(max).meta({ 'x-kubernetes-list-type': 'atomic' });

/** A list of distinct plain values, owned one by one. */
export const setOf = <T extends z.ZodType>(item: T, max: number) => z.array(item).max(max).meta({ 'x-kubernetes-list-type': 'set' });

/** A list of distinct plain values that keeps its order: replaced as a whole. */
export const distinctList = <T extends z.ZodType>(item: T, max: number) =>
  cel(list(item, max), { rule: 'self.all(x, self.exists_one(y, x == y))', message: 'must not name anything twice' });

/** A list whose items are identified by the fields `keys`, and owned one by one. */
export const mapOf = <T extends z.ZodObject>(item: T, keys: readonly (keyof z.infer<T> & string)[], max: number) =>
  z.array(item).max(max).meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });

/**
 * Gives an object one owner as a whole. Also for objects that may become empty: when an apply takes the last field out of an object that is
 * merged field by field, the server is left with `null` in its place and refuses it (where fields should keep owners of their own, see {@link emptyByDefault}).
 */
export const atomic = <T extends z.ZodType>(schema: T): T => schema.meta({ ...schema.meta(), 'x-kubernetes-map-type': 'atomic' });

/** Makes an object optional, and `{}` in what the server stores, so that the last of its fields, all optional, can be taken out again. */
export const emptyByDefault = <T extends z.ZodType>(schema: T) => schema.optional().meta({ default: {} });

/** `{key: item}` with at most `max` entries, owned as a whole. OpenAPI can't bound a key, so a CEL rule does. */
export const mapTo = <T extends z.ZodType>(item: T, max: number) =>
  cel(atomic(z.record(z.string(), item).meta({ maxProperties: max })), {
    rule: `self.all(key, key.size() <= ${MAP_KEY_LENGTH})`,
    message: `keys may have at most ${MAP_KEY_LENGTH} characters`,
  });

/** `{key: text}` with at most `max` entries of at most `length` characters. */
export const textMap = (max: number, length: number) => mapTo(text(length), max);

/**
 * A JSON object kept as it is; its size is checked by the operator and the facade (see `limits.ts`).
 * It has one owner as a whole (`atomic`): two managers merging into one JSON Schema or one request body would make a third that neither wrote.
 */
export const freeObject = (maxProperties: number) =>
  atomic(z.record(z.string(), z.unknown()).meta({ type: 'object', maxProperties, 'x-kubernetes-preserve-unknown-fields': true }));

/** Any JSON value, null too, kept as it is. It must stand in something atomic: merged field by field, `{}` would be stored as `null`. */
export const freeValue = () => z.unknown().meta({ nullable: true, 'x-kubernetes-preserve-unknown-fields': true });

/** The least and the most of a {@link duration}: no keyword of its schema says them. */
export const durationBounds = z.registry<{ readonly min: string; readonly max: string }>();

/** Matches a duration of the Gateway API (GEP-2257): up to four whole numbers of at most five digits, each with its unit. */
export const DURATION = /^([0-9]{1,5}(h|m|s|ms)){1,4}$/;

/**
 * A duration as typed (`500ms`, `10s`, `1h30m`) between `min` and `max`; never normalised.
 * The rule looks only at what the pattern accepts: the server evaluates rules even where a pattern failed, and would add a conversion error.
 */
export const duration = (min: string, max: string) =>
  cel(z.string().max(32).regex(DURATION).register(durationBounds, { min, max }), {
    rule: `!self.matches(r'${DURATION.source}') || (duration(self) >= duration('${min}') && duration(self) <= duration('${max}'))`,
    message: `must be between ${min} and ${max}`,
  });

/** The least and the most of a {@link decimal}: no keyword of its schema says them. */
export const decimalBounds = z.registry<{ readonly min: number; readonly max: number }>();

export const DECIMAL = /^-?[0-9]+(\.[0-9]+)?$/;

/** A decimal number as text (`"0.7"`) between `min` and `max`: floats don't survive every client, nor do managers agree on them. */
export const decimal = (min: number, max: number) =>
  cel(z.string().max(32).regex(DECIMAL).register(decimalBounds, { min, max }), {
    rule: `!self.matches(r'${DECIMAL.source}') || (double(self) >= ${min.toFixed(1)} && double(self) <= ${max.toFixed(1)})`,
    message: `must be between ${min} and ${max}`,
  });

export const URL_FORM = /^https?:\/\/.+/;

export const url = () => z.string().max(2048).regex(URL_FORM);

/** The name of an object: a DNS subdomain (RFC 1123), as the API server wants it. */
export const objectName = () => name(253).regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);

export const localRef = () => z.object({ name: objectName().describe('Its metadata.name, in the same namespace.') });

/** One key of a Secret or ConfigMap in the same namespace: half a reference means nothing. */
const keyRef = (kind: string) =>
  atomic(
    z
      .object({
        name: objectName().describe(`Name of the ${kind}, in the same namespace.`),
        key: name(253)
          .regex(/^[-._a-zA-Z0-9]+$/)
          .describe(`Key within the ${kind}.`),
      })
      .describe(`One key of a ${kind}.`),
  );

export const secretKeyRef = () => keyRef('Secret');
export const configMapKeyRef = () => keyRef('ConfigMap');

/** An HTTP header: a plain value or one read from a Secret. Values are what HTTP can carry: no line breaks, nothing beyond Latin-1. */
export const header = () =>
  cel(
    z.object({
      name: name(256)
        .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/)
        .describe('Name of the header.'),
      value: text(4096)
        .regex(/^[\t\x20-\x7e\x80-\xff]*$/)
        .optional()
        .describe('The value itself; for a credential use valueFrom.'),
      valueFrom: z.object({ secretKeyRef: secretKeyRef() }).optional().describe('Where the value is read from when it is sent.'),
    }),
    { rule: 'has(self.value) != has(self.valueFrom)', message: 'set exactly one of value and valueFrom' },
  );

/** Headers by their names, in whose case HTTP sees no difference. */
export const headerList = (item: ReturnType<typeof header> = header()) =>
  cel(mapOf(item, ['name'], 32), {
    rule: 'self.all(x, self.exists_one(y, x.name.lowerAscii() == y.name.lowerAscii()))',
    message: 'must not name a header twice: upper and lower case are the same',
  });

/**
 * Builds the rules of a discriminated union (KEP-1027): `type` says which member is set.
 *
 * @param members the field of each type; a type that needs none is left out
 * @param options.optional members that their type may do without
 */
export function unionOf(
  members: Readonly<Record<string, string>>,
  { discriminator = 'type', optional = [] }: { readonly discriminator?: string; readonly optional?: readonly string[] } = {},
): readonly CelRule[] {
  return Object.entries(members).map(([type, field]) =>
    optional.includes(field)
      ? {
          rule: `!has(self.${field}) || self.${discriminator} == '${type}'`,
          message: `${field} belongs to ${discriminator} ${type}: set the ${discriminator}, or remove ${field}`,
        }
      : {
          rule: `has(self.${field}) == (self.${discriminator} == '${type}')`,
          message: `set ${field} with ${discriminator} ${type}, and with no other ${discriminator}`,
        },
  );
}

/** Forbids to change or remove `field` once it is set. */
export function immutable(field: string): CelRule {
  return {
    rule: `!has(oldSelf.${field}) || (has(self.${field}) && self.${field} == oldSelf.${field})`,
    message: `${field} is immutable: delete the object and make a new one`,
    fieldPath: `.${field}`,
  };
}
