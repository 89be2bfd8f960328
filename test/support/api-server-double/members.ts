/** Sets of fields as the server computes them from an object and its schema. Paths are JSON arrays of FieldsV1 members. */
import { serializeElement, type FieldSet } from '../../../kube/fields.ts';
import { fieldSchema, isAtomic, isObject, itemSchema, type Json, type JsonSchema } from './schema.ts';

export type Path = readonly string[];

/** Path (as JSON) → the value that is owned there; undefined for "it exists". */
export type Members = Map<string, string | undefined>;

/** Never owned by anyone. */
const unowned = new Set(
  [
    ['f:apiVersion'],
    ['f:kind'],
    ['f:metadata'],
    ...[
      'name',
      'namespace',
      'uid',
      'resourceVersion',
      'generation',
      'creationTimestamp',
      'deletionTimestamp',
      'deletionGracePeriodSeconds',
      'selfLink',
      'managedFields',
    ].map((name) => ['f:metadata', `f:${name}`]),
  ].map((path) => JSON.stringify(path)),
);

export interface MemberOptions {
  /** Count maps and lists that exist as members of their own, as the server does for what an update adds. Default: false. */
  readonly containers?: boolean;
}

export function membersOf(object: Json, schema: JsonSchema, options: MemberOptions = {}): Members {
  const members: Members = new Map();
  const add = (path: Path, value?: unknown): void => {
    const key = JSON.stringify(path);
    if (!isUnowned(path)) members.set(key, value === undefined ? undefined : JSON.stringify(value));
  };
  const walk = (value: unknown, at: JsonSchema, path: Path): void => {
    if (isAtomic(at, value)) {
      add(path, value);
    } else if (Array.isArray(value)) {
      if (options.containers) add(path);
      for (const item of value) {
        const below = [...path, itemMember(item, at)];
        add(below);
        walk(item, itemSchema(at), below);
      }
    } else if (isObject(value)) {
      if (options.containers && path.length > 0) add(path);
      for (const [name, child] of Object.entries(value)) {
        const below = [...path, `f:${name}`];
        if (at.properties?.[name] === undefined || child === null || (isObject(child) && Object.keys(child).length === 0)) add(below);
        if (isObject(child) && Object.keys(child).length === 0) continue;
        walk(child, fieldSchema(at, name) ?? {}, below);
      }
    }
  };
  walk(object, schema, []);
  return members;
}

function isUnowned(path: Path): boolean {
  return unowned.has(JSON.stringify(path)) || (path[0] === 'f:metadata' && path[1] === 'f:managedFields');
}

/** How an item of a keyed list or a set is named. */
export function itemMember(item: unknown, list: JsonSchema): string {
  if (list['x-kubernetes-list-type'] !== 'map') return serializeElement({ type: 'value', value: item });
  const key: Record<string, unknown> = {};
  for (const name of [...(list['x-kubernetes-list-map-keys'] ?? [])].sort()) {
    const value = (item as Json)[name] ?? list.items?.properties?.[name]?.default;
    if (value !== undefined) key[name] = value;
  }
  return serializeElement({ type: 'key', key });
}

export function toFieldsV1(paths: Iterable<string>): FieldSet {
  const root: Record<string, Record<string, unknown>> = {};
  const sorted = [...paths].map((path) => JSON.parse(path) as string[]).sort((a, b) => (a.join('\u0000') < b.join('\u0000') ? -1 : 1));
  const members = new Set(sorted.map((path) => JSON.stringify(path)));
  for (const path of sorted) {
    let at: Record<string, unknown> = root;
    path.forEach((member, index) => {
      at = (at[member] ??= {}) as Record<string, unknown>;
      if (index < path.length - 1 && members.has(JSON.stringify(path.slice(0, index + 1)))) at['.'] ??= {};
    });
  }
  return root;
}

export function fromFieldsV1(fields: FieldSet): Set<string> {
  const paths = new Set<string>();
  const walk = (set: FieldSet, path: Path): void => {
    const children = Object.keys(set).filter((member) => member !== '.');
    if (path.length > 0 && ('.' in set || children.length === 0)) paths.add(JSON.stringify(path));
    for (const member of children) walk(set[member] as FieldSet, [...path, member]);
  };
  walk(fields, []);
  return paths;
}
