/** Brings values that clients write in more than one way into the one that the schemas know. */
import { z } from 'zod';

type Schema = z.core.$ZodType;

interface Marks {
  readonly keepsEmpty?: true;
  readonly anyCase?: true;
  readonly trimmed?: true;
}

const marks = z.registry<Marks>();

function mark<T extends z.ZodType>(schema: T, more: Marks): T {
  marks.add(schema, { ...marks.get(schema), ...more });
  return schema;
}

/** Marks a field for which `""` is a value and not a way to leave it unset. */
export function keepingEmpty<T extends z.ZodType>(schema: T): T {
  return mark(schema, { keepsEmpty: true });
}

/** Marks an enum of upper-case values that clients may write in any case. */
export function inAnyCase<T extends z.ZodEnum>(schema: T): T {
  return mark(schema, { anyCase: true });
}

/** Marks a text around which spaces don't count, and of which spaces alone are none. */
export function trimmed<T extends z.ZodType>(schema: T): T {
  return mark(schema, { trimmed: true });
}

/**
 * Changes a parsed body in place: `""` becomes null where null leaves a text, number, boolean or choice unset, as forms send it, and values
 * that may be written {@link inAnyCase} become upper case. Texts are {@link trimmed} before.
 */
export function normalize(schema: Schema, input: unknown): void {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (typeof input !== 'object' || input === null) return;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
      return normalize(def.innerType, input);
    case 'array':
      if (Array.isArray(input)) for (const item of input) normalize(def.element, item);
      return;
    case 'record':
      for (const item of Object.values(input)) normalize(def.valueType, item);
      return;
    case 'union':
      for (const option of def.options) normalize(option, input);
      return;
    case 'object':
      for (const [name, field] of Object.entries(def.shape)) {
        if (Object.hasOwn(input, name)) normalizeField(field, input as Record<string, unknown>, name);
      }
      return;
    default:
  }
}

const scalars: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'enum', 'literal']);

function normalizeField(schema: Schema, object: Record<string, unknown>, name: string): void {
  const { nullable, inner } = unwrapped(schema);
  const { keepsEmpty, anyCase, trimmed: isTrimmed } = marks.get(inner) ?? {};
  const sent = object[name];
  const value = typeof sent === 'string' && isTrimmed === true ? (object[name] = sent.trim()) : sent;
  if (value === '' && nullable && keepsEmpty !== true && scalars.has((inner as z.core.$ZodTypes)._zod.def.type)) object[name] = null;
  else if (typeof value === 'string' && anyCase === true) object[name] = value.toUpperCase();
  else normalize(schema, value);
}

function unwrapped(schema: Schema, nullable = false): { readonly nullable: boolean; readonly inner: Schema } {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'nullable') return unwrapped(def.innerType, true);
  return def.type === 'optional' || def.type === 'default' ? unwrapped(def.innerType, nullable) : { nullable, inner: schema };
}
