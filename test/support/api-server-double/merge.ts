/** Merging, as server-side apply and merge patches do it. */
import { itemMember } from './members.ts';
import { fieldSchema, isAtomic, isObject, itemSchema, type JsonSchema } from './schema.ts';

/** What was applied on top of what there is: maps are joined, keyed lists and sets by item, everything else is replaced. */
export function mergeApplied(live: unknown, applied: unknown, schema: JsonSchema): unknown {
  if (applied === undefined) return live;
  if (isAtomic(schema, applied) || live === undefined || live === null) return applied;
  if (Array.isArray(applied)) return Array.isArray(live) ? mergeLists(live, applied, schema) : applied;
  if (!isObject(applied) || !isObject(live)) return applied;
  const result: Record<string, unknown> = { ...live };
  for (const [name, value] of Object.entries(applied)) result[name] = mergeApplied(live[name], value, fieldSchema(schema, name) ?? {});
  return result;
}

/** Items that both have stand in the order of the applied list, in the places of the live one; new ones come last. */
function mergeLists(live: readonly unknown[], applied: readonly unknown[], schema: JsonSchema): readonly unknown[] {
  const liveByMember = new Map(live.map((item) => [itemMember(item, schema), item]));
  const merged = applied.map((item) => ({
    known: liveByMember.has(itemMember(item, schema)),
    item: mergeApplied(liveByMember.get(itemMember(item, schema)), item, itemSchema(schema)),
  }));
  const known = merged.filter((entry) => entry.known).map((entry) => entry.item);
  const appliedMembers = new Set(applied.map((item) => itemMember(item, schema)));
  const kept = live.map((item) => (appliedMembers.has(itemMember(item, schema)) ? known.shift() : item));
  return [...kept, ...merged.filter((entry) => !entry.known).map((entry) => entry.item)];
}

/** Takes the value at a path of FieldsV1 members out of an object, with the list item it may be. */
export function removePath(value: unknown, path: readonly string[], schema: JsonSchema): unknown {
  const [member, ...rest] = path;
  if (member === undefined) return value;
  if (Array.isArray(value)) {
    if (rest.length === 0) return value.filter((item) => itemMember(item, schema) !== member);
    return value.map((item: unknown) => (itemMember(item, schema) === member ? removePath(item, rest, itemSchema(schema)) : item));
  }
  if (!isObject(value)) return value;
  const name = member.slice(2);
  if (!Object.hasOwn(value, name)) return value;
  const copy: Record<string, unknown> = { ...value };
  if (rest.length === 0) delete copy[name];
  else copy[name] = removePath(value[name], rest, fieldSchema(schema, name) ?? {});
  return copy;
}

/** RFC 7386. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = mergePatch(result[name], value);
  }
  return result;
}

/** Fills in defaults, in place of absent fields, and of nulls where null isn't allowed. */
export function withDefaults(value: unknown, schema: JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withDefaults(item, itemSchema(schema)));
  if (!isObject(value)) return value;
  const result: Record<string, unknown> = { ...value };
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (field.default !== undefined && (result[name] === undefined || (result[name] === null && !field.nullable)))
      result[name] = structuredClone(field.default);
  }
  for (const [name, child] of Object.entries(result)) result[name] = withDefaults(child, fieldSchema(schema, name) ?? {});
  return result;
}

/** Without the fields that the schema doesn't declare; `unknown` gets their paths. */
export function pruned(value: unknown, schema: JsonSchema, path: string, unknown: string[]): unknown {
  if (Array.isArray(value)) return value.map((item: unknown, index) => pruned(item, itemSchema(schema), `${path}[${index}]`, unknown));
  if (!isObject(value)) return value;
  const result: Record<string, unknown> = {};
  for (const [name, child] of Object.entries(value)) {
    const below = path === '' ? name : `${path}.${name}`;
    const field = fieldSchema(schema, name);
    if (field === undefined) unknown.push(below);
    else result[name] = pruned(child, field, below, unknown);
  }
  return result;
}

/** Equal but for the order of keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}
