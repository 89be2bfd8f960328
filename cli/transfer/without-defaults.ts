import { isDeepStrictEqual } from 'node:util';

import { z } from 'zod';

import { isObject } from '../../platform/json.ts';

/**
 * Drops the values of a spec that the server would fill in again by itself: in a file they would be read as wishes, and the client that
 * applies it would own them. Items of lists have no defaults and stay whole.
 *
 * @returns the spec itself when leaving something out would change what it means
 */
export function withoutDefaults<T>(schema: z.ZodType, spec: T): Partial<T> {
  const lean = strip(schema, spec);
  // Where a default is an empty object, only the server knows it.
  const read = (value: unknown): unknown => withoutEmpty(schema.safeParse(value).data);
  return isDeepStrictEqual(read(lean), read(spec)) ? (lean as Partial<T>) : spec;
}

/** Returns undefined for a value that can be left out altogether. */
function strip(schema: z.core.$ZodType, value: unknown): unknown {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'optional': {
      const inner = strip(def.innerType, value);
      return isDeepStrictEqual(inner, z.globalRegistry.get(schema)?.['default']) ? undefined : inner;
    }
    case 'default':
    case 'prefault':
      if (isDeepStrictEqual(value, def.defaultValue)) return undefined;
      return unlessEmpty(strip(def.innerType, value));
    case 'nullable':
      return value === null ? null : strip(def.innerType, value);
    case 'object':
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value).flatMap(([name, field]) => {
          const known = def.shape[name];
          const kept: unknown = known === undefined ? field : strip(known, field);
          return kept === undefined ? [] : [[name, kept]];
        }),
      );
    default:
      return value;
  }
}

function unlessEmpty(value: unknown): unknown {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0 ? undefined : value;
}

function withoutEmpty(value: unknown): unknown {
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, unlessEmpty(withoutEmpty(field))] as const);
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}
