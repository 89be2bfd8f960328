/**
 * Finds the changes between two states of a spec, in the units in which the API server knows owners, and makes them to the part that one
 * manager has applied. Every partial update through server-side apply rests on this.
 */
import type { PathElement } from '../../kube/fields.ts';
import { isObject, sameJson, type JsonObject } from '../../platform/json.ts';
import { field, type Path } from './path.ts';
import { fieldShape, type Shape } from './shape.ts';

export interface Changes {
  readonly sets: readonly { readonly path: Path; readonly value: unknown }[];
  readonly clears: readonly Path[];
}

/** Returns the fewest sets and clears that lead from `before` to `after`. */
export function changesBetween(shape: Shape, before: unknown, after: unknown, path: Path = []): Changes {
  if (sameJson(before, after)) return { sets: [], clears: [] };
  if (after === undefined) return { sets: [], clears: [path] };
  if (before === undefined) return { sets: [{ path, value: after }], clears: [] };
  if (shape.type === 'keyed' && Array.isArray(before) && Array.isArray(after)) {
    return merge(
      [...itemSteps(shape.keys, before, after)].map(({ element, from, to }) => changesBetween(shape.item, from, to, [...path, element])),
    );
  }
  if (shape.type === 'set' && Array.isArray(before) && Array.isArray(after)) {
    const steps = [...new Set([...before, ...after])].map((value) => ({
      element: { type: 'value', value } as const,
      from: before.includes(value) ? value : undefined,
      to: after.includes(value) ? value : undefined,
    }));
    return merge(steps.map(({ element, from, to }) => changesBetween({ type: 'whole' }, from, to, [...path, element])));
  }
  const divided = shape.type === 'object' || shape.type === 'dictionary' || shape.type === 'free';
  if (divided && isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return merge(names.map((name) => changesBetween(fieldShape(shape, name), own(before, name), own(after, name), [...path, field(name)])));
  }
  return { sets: [{ path, value: after }], clears: [] };
}

function merge(parts: readonly Changes[]): Changes {
  return { sets: parts.flatMap((part) => part.sets), clears: parts.flatMap((part) => part.clears) };
}

function* itemSteps(
  keys: readonly string[],
  before: readonly unknown[],
  after: readonly unknown[],
): Generator<{ element: PathElement; from: unknown; to: unknown }> {
  const keyOf = (item: unknown): Record<string, unknown> =>
    Object.fromEntries(keys.map((key) => [key, isObject(item) ? item[key] : undefined]));
  const index = (items: readonly unknown[]): Map<string, unknown> => new Map(items.map((item) => [JSON.stringify(keyOf(item)), item]));
  const [from, to] = [index(before), index(after)];
  for (const key of new Set([...from.keys(), ...to.keys()])) {
    yield { element: { type: 'key', key: JSON.parse(key) as Record<string, unknown> }, from: from.get(key), to: to.get(key) };
  }
}

/** Makes the changes to `owned`. A container that loses its last field to a clear goes too. */
export function applyChanges(owned: unknown, changes: Changes): unknown {
  let result = owned;
  for (const path of changes.clears) result = without(result, path);
  for (const { path, value } of changes.sets) result = withValue(result, path, value);
  return result;
}

function withValue(target: unknown, path: Path, value: unknown): unknown {
  const [element, ...rest] = path;
  if (element === undefined) return value;
  if (element.type === 'field') {
    const object = isObject(target) ? target : {};
    return withField(object, element.name, withValue(own(object, element.name), rest, value));
  }
  const items = Array.isArray(target) ? (target as unknown[]) : [];
  const at = items.findIndex((item) => isItem(item, element));
  const key = element.type === 'key' ? element.key : {};
  if (at < 0) return [...items, merged(key, withValue(element.type === 'key' ? key : undefined, rest, value))];
  return items.with(at, merged(key, withValue(items[at], rest, value)));
}

function merged(key: JsonObject, item: unknown): unknown {
  return isObject(item) ? { ...key, ...item } : item;
}

function without(target: unknown, path: Path): unknown {
  const [element, ...rest] = path;
  if (element === undefined || target === undefined) return undefined;
  if (element.type === 'field') {
    if (!isObject(target) || !Object.hasOwn(target, element.name)) return target;
    const below = without(target[element.name], rest);
    const result = below === undefined ? omit(target, element.name) : withField(target, element.name, below);
    return Object.keys(result).length === 0 ? undefined : result;
  }
  if (!Array.isArray(target)) return target;
  const items = target.flatMap((item: unknown) => {
    if (!isItem(item, element)) return [item];
    const below = without(item, rest);
    return below === undefined ? [] : [below];
  });
  return items.length === 0 ? undefined : items;
}

function isItem(item: unknown, element: PathElement): boolean {
  if (element.type === 'value') return sameJson(item, element.value);
  return element.type === 'key' && isObject(item) && Object.entries(element.key).every(([name, value]) => sameJson(item[name], value));
}

/** Puts the items of lists in `owned` into their order in `wanted`. */
export function inOrderOf(shape: Shape, owned: unknown, wanted: unknown): unknown {
  if ((shape.type === 'keyed' || shape.type === 'set') && Array.isArray(owned) && Array.isArray(wanted)) {
    const rank = (item: unknown): number => {
      const at = wanted.findIndex((other) =>
        shape.type === 'set' ? other === item : isObject(item) && shape.keys.every((key) => isObject(other) && other[key] === item[key]),
      );
      return at < 0 ? wanted.length : at;
    };
    return owned.toSorted((a, b) => rank(a) - rank(b));
  }
  if (!isObject(owned) || !isObject(wanted) || shape.type === 'free') return owned;
  return Object.fromEntries(Object.entries(owned).map(([name, value]) => [name, inOrderOf(fieldShape(shape, name), value, wanted[name])]));
}

function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Sets a field by defining it, not assigning: `__proto__` may be a name in a user's data. */
function withField(object: JsonObject, name: string, value: unknown): JsonObject {
  return Object.fromEntries([...Object.entries(object).filter(([other]) => other !== name), [name, value]]);
}

function omit(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([other]) => other !== name));
}
