/** Reads from a kind's zod schema how the API server divides an object into fields that are owned one by one. */
import { z } from 'zod';

export type Shape =
  /** An object whose fields are owned one by one. `free` also covers what isn't declared. */
  | { readonly type: 'object'; readonly fields: Readonly<Record<string, Shape>> }
  | { readonly type: 'dictionary'; readonly item: Shape }
  /** A list whose items are identified by `keys`, and owned field by field. */
  | { readonly type: 'keyed'; readonly keys: readonly string[]; readonly item: Shape }
  /** A list of distinct plain values, owned one by one. */
  | { readonly type: 'set' }
  /** An undeclared value: objects are divided, everything else is whole. */
  | { readonly type: 'free' }
  /** A value that is owned whole. */
  | { readonly type: 'whole' };

const whole: Shape = { type: 'whole' };
const free: Shape = { type: 'free' };

export function shapeOf(schema: z.core.$ZodType): Shape {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (z.globalRegistry.get(schema)?.['x-kubernetes-map-type'] === 'atomic') return whole;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
      return shapeOf(def.innerType);
    case 'object':
      return { type: 'object', fields: Object.fromEntries(Object.entries(def.shape).map(([name, field]) => [name, shapeOf(field)])) };
    case 'record': {
      const item = shapeOf(def.valueType);
      return item.type === 'free' ? free : { type: 'dictionary', item };
    }
    case 'array': {
      const meta = z.globalRegistry.get(schema);
      const listType = meta?.['x-kubernetes-list-type'];
      if (listType === 'set') return { type: 'set' };
      if (listType !== 'map') return whole;
      return { type: 'keyed', keys: meta?.['x-kubernetes-list-map-keys'] as readonly string[], item: shapeOf(def.element) };
    }
    case 'unknown':
      return free;
    default:
      return whole;
  }
}

export function fieldShape(shape: Shape, name: string): Shape {
  if (shape.type === 'object') return shape.fields[name] ?? whole;
  if (shape.type === 'dictionary') return shape.item;
  return shape.type === 'free' ? free : whole;
}
