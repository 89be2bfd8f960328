/**
 * Reads back from an object what one manager has applied: client-go's Extract, without the schema.
 * Every partial update through server-side apply begins with it, because an apply replaces all that its manager owns.
 */
import { isDeepStrictEqual } from 'node:util';

import { isObject } from '../platform/json.ts';
import { childrenOf, isLeaf, serializeElement, type FieldSet, type PathElement } from './fields.ts';
import type { KubeObject, ManagedFieldsEntry } from './types.ts';

export interface OwnerSelector {
  readonly manager: string;
  readonly operation: 'Apply';
  /** `status` for what was applied to the status subresource; absent for what was applied to the object itself. */
  readonly subresource?: string;
}

/** Any part of an object, with the fields that name it. */
export type Extracted<T extends KubeObject> = Pick<T, 'apiVersion' | 'kind'> & {
  readonly metadata: { readonly name: string; readonly namespace?: string } & Partial<T['metadata']>;
} & { readonly [K in Exclude<keyof T, 'apiVersion' | 'kind' | 'metadata'>]?: DeepPartial<T[K]> };

export type DeepPartial<V> = V extends readonly unknown[] ? V : V extends object ? { readonly [K in keyof V]?: DeepPartial<V[K]> } : V;

/**
 * Returns the fields that `owner` owns, with their present values, and apiVersion, kind, name and namespace.
 *
 * A field that is owned whole (a value, an atomic list or map) is taken whole, but without what others own below it:
 * an empty map that was applied and filled by another manager comes back empty. Items of keyed lists keep their keys,
 * whoever owns those. A field that is owned and no longer there is left out.
 */
export function extractOwned<T extends KubeObject>(object: T, owner: OwnerSelector): Extracted<T> {
  const { name, namespace } = object.metadata;
  const identity = {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  };
  const own = object.metadata.managedFields?.find((entry) => matches(entry, owner))?.fieldsV1;
  if (own === undefined || isLeaf(own)) return identity as unknown as Extracted<T>;
  const others = (object.metadata.managedFields ?? []).filter((entry) => !matches(entry, owner)).map((entry) => entry.fieldsV1 ?? {});
  const fields = (take(object, own, others) ?? {}) as { readonly metadata?: object };
  return { ...fields, ...identity, metadata: { ...fields.metadata, ...identity.metadata } } as unknown as Extracted<T>;
}

function matches(entry: ManagedFieldsEntry, owner: OwnerSelector): boolean {
  return entry.manager === owner.manager && entry.operation === owner.operation && (entry.subresource ?? '') === (owner.subresource ?? '');
}

/** Returns the part of `value` that is in `own`; undefined where nothing of it is there. */
function take(value: unknown, own: FieldSet, others: readonly FieldSet[]): unknown {
  if (isLeaf(own)) return takeWhole(value, others);
  if (Array.isArray(value)) return takeItems(value, own, others);
  if (!isObject(value)) return value;
  const result: Record<string, unknown> = {};
  for (const { element, set } of childrenOf(own)) {
    if (element.type !== 'field' || !Object.hasOwn(value, element.name)) continue;
    const part = take(value[element.name], set, below(others, element));
    if (part !== undefined) define(result, element.name, part);
  }
  // A map that is a member of the set itself is kept, even when all of it is gone.
  return Object.keys(result).length > 0 || '.' in own ? result : undefined;
}

function takeItems(items: readonly unknown[], own: FieldSet, others: readonly FieldSet[]): unknown {
  const children = childrenOf(own);
  const result: unknown[] = [];
  items.forEach((item, index) => {
    const child = children.find(({ element }) => names(element, item, index));
    if (child === undefined) return;
    const part = take(item, child.set, below(others, child.element));
    if (child.element.type === 'key' && isObject(item)) {
      result.push({
        ...Object.fromEntries(
          Object.keys(child.element.key)
            .filter((key) => key in item)
            .map((key) => [key, item[key]]),
        ),
        ...(part as object),
      });
    } else if (part !== undefined) {
      result.push(part);
    }
  });
  return result.length > 0 || '.' in own ? result : undefined;
}

/** Takes a whole value, without what others own below it: such a value is not atomic, and only its being there is owned. */
function takeWhole(value: unknown, others: readonly FieldSet[]): unknown {
  if (others.every(isLeaf)) return value;
  if (Array.isArray(value))
    return value.filter((item, index) => !others.some((set) => childrenOf(set).some(({ element }) => names(element, item, index))));
  if (!isObject(value)) return value;
  const theirs = new Set(others.flatMap((set) => childrenOf(set).map(({ element }) => (element.type === 'field' ? element.name : ''))));
  return Object.fromEntries(Object.entries(value).filter(([name]) => !theirs.has(name)));
}

function below(sets: readonly FieldSet[], element: PathElement): readonly FieldSet[] {
  const member = serializeElement(element);
  return sets.map((set) => set[member] as FieldSet | undefined).filter((set) => set !== undefined);
}

function names(element: PathElement, item: unknown, index: number): boolean {
  switch (element.type) {
    case 'key':
      return isObject(item) && Object.entries(element.key).every(([key, value]) => isDeepStrictEqual(item[key], value));
    case 'value':
      return isDeepStrictEqual(item, element.value);
    case 'index':
      return index === element.index;
    default:
      return false;
  }
}

/** Defines a member without assigning it: a key `__proto__` in a free-form map is data. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}
