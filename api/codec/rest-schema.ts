/** Derives schemas of REST fields from those of the resources, which alone state types, bounds, defaults and texts. Pure. */
import { z } from 'zod';

import { MAP_KEY_LENGTH, text } from '../../crds/schema.ts';
import { issues, type Loc, type ValidationIssue } from '../validation/issue.ts';
import { withRule } from '../validation/validate.ts';

type Types = z.core.$ZodTypes;

/** A schema without the wrappers that allow an absent value or fill it in. */
export type Unwrapped<S> = S extends z.ZodOptional<infer I> | z.ZodDefault<infer I> | z.ZodPrefault<infer I> ? Unwrapped<I> : S;

type Step<S, K> =
  S extends z.ZodObject<infer Shape>
    ? K extends keyof Shape
      ? Shape[K]
      : never
    : K extends '*'
      ? S extends z.ZodArray<infer Item>
        ? Item
        : S extends z.ZodRecord<z.ZodString, infer Item>
          ? Item
          : never
      : never;

/** The schema at a path, whose `*` is an item of a list or map; `never` where there is none. */
export type SchemaAt<S, P extends string> = P extends `${infer Head}.${infer Rest}`
  ? SchemaAt<Step<Unwrapped<S>, Head>, Rest>
  : Step<Unwrapped<S>, P>;

export type ValueAt<S, P extends string> = z.output<Unwrapped<SchemaAt<S, P>>>;

/** A path that the schema has; `never` for any other. */
export type PathOf<S, P extends string> = [SchemaAt<S, P>] extends [never] ? never : P;

/** Returns the schema at a path. @throws TypeError where there is none */
export function schemaAt<S extends z.ZodType, const P extends string>(schema: S, path: P & PathOf<S, P>): SchemaAt<S, P> {
  let at = schema as unknown as Types | undefined;
  for (const name of path.split('.')) {
    const def = at === undefined ? undefined : unwrapped(at).inner._zod.def;
    if (def?.type === 'object') at = def.shape[name] as Types | undefined;
    else at = (def?.type === 'array' ? def.element : def?.type === 'record' ? def.valueType : undefined) as Types | undefined;
  }
  if (at === undefined) throw new TypeError(`the resource has no field ${path}`);
  return at as unknown as SchemaAt<S, P>;
}

/** Returns the schema within optional, default and the like, with the first text and default on the way to it. */
export function unwrapped(outer: z.core.$ZodType): {
  readonly inner: Types;
  readonly text: string | undefined;
  readonly standard: unknown;
} {
  let inner = outer as Types;
  let description: string | undefined;
  let standard: unknown;
  for (;;) {
    description ??= z.globalRegistry.get(inner)?.description;
    const { def } = inner._zod;
    if (def.type === 'default' || def.type === 'prefault') standard ??= def.defaultValue;
    if (!('innerType' in def)) return { inner, text: description, standard };
    inner = def.innerType as Types;
  }
}

/** Makes the schema of a request's value: it has all bounds of the stored one, and no text. */
export function bodySchema<T>(stored: z.ZodType<T>): z.ZodType<T> {
  return derived(stored, { bounded: true }) as z.ZodType<T>;
}

/** Makes the schema of an answer's value. Bounds may move, so answers have none. */
export function answerSchema<T>(stored: z.ZodType<T>): z.ZodType<T> {
  return derived(stored, { bounded: false }) as z.ZodType<T>;
}

function derived(stored: z.core.$ZodType, { bounded }: { readonly bounded: boolean }): z.ZodType {
  const { inner } = unwrapped(stored);
  const { def } = inner._zod;
  const meta = z.globalRegistry.get(inner) ?? {};
  const below = (schema: z.core.$ZodType): z.ZodType => derived(schema, { bounded });
  switch (def.type) {
    case 'array': {
      const list = copyWith(inner, { ...def, element: below(def.element), ...(!bounded && { checks: [] }) });
      return bounded && meta['x-kubernetes-list-type'] === 'set'
        ? withRule(
            list as z.ZodType<string[]>,
            distinct('items', (item) => item),
          )
        : list;
    }
    case 'record': {
      const isFree = meta['x-kubernetes-preserve-unknown-fields'] === true;
      const map = z.record(bounded && !isFree ? text(MAP_KEY_LENGTH) : z.string(), below(def.valueType));
      return bounded ? map.meta({ maxProperties: meta['maxProperties'] }) : map;
    }
    case 'union':
      return z.union(def.options.map(below));
    case 'string':
    case 'number':
    case 'boolean':
    case 'enum':
    case 'unknown':
      return copyWith(inner, bounded ? def : { ...def, checks: [] });
    default:
      throw new TypeError(`no REST schema follows from a zod ${def.type}: give the field a conversion`);
  }
}

/** Copies a schema without the texts and keywords that zod would pass on. */
function copyWith(schema: Types, def: Types['_zod']['def']): z.ZodType {
  return z.clone(schema as unknown as z.ZodType, def);
}

export function propertyOf<T extends object, K extends keyof T & string>(schema: z.ZodType<T>, name: K): z.ZodType<Required<T>[K]> {
  return schemaAt(schema as unknown as z.ZodObject<Record<K, z.ZodType<Required<T>[K]>>>, name as never) as z.ZodType<Required<T>[K]>;
}

export function itemOf<T>(schema: z.ZodType<readonly T[]>): z.ZodType<T> {
  return schemaAt(schema as unknown as z.ZodArray<z.ZodType<T>>, '*' as never) as z.ZodType<T>;
}

/** Makes a list with the bounds of a stored one. Each item's key must be unique, where REST has a field for it. */
export function listLike<T extends z.ZodType>(stored: z.ZodType, item: T, keyNames: Readonly<Record<string, string>> = {}): z.ZodArray<T> {
  const { inner } = unwrapped(stored);
  const list = z.array(item).check(...((inner._zod.def.checks ?? []) as z.core.$ZodCheck<unknown[]>[]));
  const keys = (z.globalRegistry.get(inner)?.['x-kubernetes-list-map-keys'] ?? []) as readonly string[];
  const [key] = keys.flatMap((path) => keyNames[path] ?? []);
  if (key === undefined) return list;
  return withRule(
    list,
    distinct<unknown>(`${key}s`, (each) => (each as Readonly<Record<string, string>>)[key]),
  );
}

/** Removes one bound of a schema: for a list that may be sent empty, or a text whose form is judged in other words than by its pattern. */
export function without<T extends z.ZodType>(schema: T, bound: 'min_length' | 'string_format'): T {
  const { def } = schema._zod;
  return z.clone(schema, { ...def, checks: def.checks?.filter((check) => check._zod.def.check !== bound) ?? [] }, { parent: true });
}

/** Makes a map with the bounds of a stored one, or of a list whose items have its keys as names. */
export function mapLike<T extends z.ZodType>(stored: z.ZodType, value: T): z.ZodRecord<z.ZodString, T> {
  const { inner } = unwrapped(stored);
  const { def } = inner._zod;
  const isList = def.type === 'array';
  const key = isList ? bodySchema(schemaAt(def.element as z.ZodType, 'name' as never)) : text(MAP_KEY_LENGTH);
  const [most] = (def.checks ?? []).map((check) => check._zod.def as z.core.$ZodCheckMaxLengthDef);
  return z
    .record(key as z.ZodString, value)
    .meta({ maxProperties: isList ? most?.maximum : z.globalRegistry.get(inner)?.['maxProperties'] });
}

/** Makes a rule for lists: it reports every item whose `key` an earlier one has. */
export function distinct<T>(
  what: string,
  key: (item: T) => string | undefined | null,
): (items: readonly T[], loc: Loc) => ValidationIssue[] {
  return (items, loc) => {
    const seen = new Set<string>();
    return items.flatMap((item, index) => {
      const value = key(item);
      if (value === undefined || value === null) return [];
      if (seen.has(value)) return [issues.value([...loc, index], `${what} must differ, and ${JSON.stringify(value)} is there twice`)];
      seen.add(value);
      return [];
    });
  };
}
