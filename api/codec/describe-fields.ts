/** The texts of REST fields come from the schema of the resource, so that both say the same. Pure. */
import { z } from 'zod';

import { milliseconds, seconds, secret } from './conversions.ts';
import type { Conversion, Field, Fields, Group } from './fields.ts';
import { masked } from './secrets.ts';

type Schema = z.core.$ZodTypes;

/**
 * Gives every field that has a path in the spec, and no text of its own, the text of the resource with what REST adds: the unit, the
 * default, how secrets are shown. Of a field whose text names fields of the resource, the table has one in the words of REST.
 * @param spec the schema of the resource, or of the item that the fields are in
 */
export function describeFields<const F extends Fields>(spec: z.ZodType, fields: F): F {
  for (const each of Object.values<Field | Group>(fields)) describeField(spec as unknown as Schema, each);
  return fields;
}

function describeField(spec: Schema, each: Field | Group): void {
  if ('fields' in each) {
    for (const below of Object.values<Field | Group>(each.fields)) describeField(spec, below);
  }
  if (each.path === undefined) return;
  const found = find(spec, each.path.split('.'));
  if (found === undefined) return;
  const as = 'fields' in each ? undefined : each.as;
  if (as?.items !== undefined && found.element !== undefined) describeFields(found.element as unknown as z.ZodType, as.items);
  if (found.text === undefined) return;
  const about = [found.text, unitOf(as)].filter((part) => part !== undefined).join(' ');
  const standard = defaultOf(found.standard, as);
  const sent = [about, standard !== undefined && `Default: \`${standard}\`.`].filter((part) => typeof part === 'string').join(' ');
  describeSchema(each.create, sent);
  describeSchema(each.update, sent);
  describeSchema(each.answer, as === secret ? `${about} ${MASKED}` : about);
}

const MASKED = '`"********"` unless the key names the permission `secrets:read`.';

/** In the schema itself: a copy would lose the rules of requests, and groups hold these already. */
function describeSchema(schema: z.ZodType | undefined, description: string): void {
  if (schema === undefined || unwrapped(schema as unknown as Schema).text !== undefined) return;
  z.globalRegistry.add(schema, { ...schema.meta(), description });
}

interface Found {
  readonly text: string | undefined;
  readonly standard: unknown;
  /** Of a list. */
  readonly element: Schema | undefined;
}

function find(spec: Schema, path: readonly string[]): Found | undefined {
  let at: Schema | undefined = spec;
  for (const name of path) {
    const inner: Schema = unwrapped(at).schema;
    at = inner._zod.def.type === 'object' ? (inner._zod.def.shape[name] as Schema | undefined) : undefined;
    if (at === undefined) return undefined;
  }
  const { schema, text, standard } = unwrapped(at);
  const element = schema._zod.def.type === 'array' ? (schema._zod.def.element as Schema) : undefined;
  return { text, standard, element };
}

/** The schema within optional, default and the like, with the first text and default on the way to it. */
function unwrapped(outer: Schema): { readonly schema: Schema; readonly text: string | undefined; readonly standard: unknown } {
  let schema = outer;
  let text: string | undefined;
  let standard: unknown;
  for (;;) {
    text ??= (schema as unknown as z.ZodType).description;
    const { def } = schema._zod;
    if (def.type === 'default' || def.type === 'prefault') standard ??= def.defaultValue;
    if (!('innerType' in def)) return { schema, text, standard };
    schema = def.innerType as Schema;
  }
}

function unitOf(as: Conversion | undefined): string | undefined {
  if (as === seconds) return 'In seconds.';
  return as === milliseconds ? 'In milliseconds.' : undefined;
}

/** As REST writes it. Undefined where there is none, or where it is an empty object or list. */
function defaultOf(standard: unknown, as: Conversion | undefined): string | undefined {
  if (standard === undefined || typeof standard === 'object') return undefined;
  const read = as === undefined ? standard : as.read(standard, { secrets: masked });
  return typeof read === 'string' || typeof read === 'number' || typeof read === 'boolean' ? String(read) : undefined;
}
