/**
 * The kinds of change that a v1 may bring, as a table: each has a way up and a way down that are the inverse of each other. What the other
 * version has no place for travels in an annotation.
 */
import { isObject, parseJson } from '../../../platform/json.ts';

/** Steps from `spec` to an object: names of fields, and `[]` for each item of a list. */
export type Steps = readonly string[];

/** One change from v1beta1 to v1. */
export type Change =
  | { readonly type: 'rename'; readonly at: Steps; readonly field: string; readonly to: string }
  /** The field leaves the object `from`, next to it. */
  | { readonly type: 'move'; readonly at: Steps; readonly from: string; readonly field: string; readonly to: string }
  /** One text becomes two: what stands before the first space, and what stands behind it. */
  | { readonly type: 'split'; readonly at: Steps; readonly field: string; readonly into: readonly [string, string] }
  | { readonly type: 'listToMap'; readonly at: Steps; readonly field: string; readonly key: string }
  | { readonly type: 'remove'; readonly at: Steps; readonly field: string }
  | { readonly type: 'newValue'; readonly at: Steps; readonly field: string; readonly value: string }
  | { readonly type: 'newMember'; readonly at: Steps; readonly discriminator: string; readonly value: string; readonly member: string };

export type Fields = Record<string, unknown>;

/** What the version at hand has no place for, by the path of the field. */
type Kept = Record<string, unknown>;

export interface ConvertedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined } & Readonly<Record<string, unknown>>;
  readonly spec: Fields;
  readonly [part: string]: unknown;
}

/** What only v1beta1 has, on objects of v1; and what only v1 has, on objects of v1beta1. */
export const KEPT = { up: 'parley.dev/v1beta1-fields', down: 'parley.dev/v1-fields' } as const;

export type Direction = keyof typeof KEPT;

/** Converts an object; the given one stays as it is. Only annotations of the metadata change, as the API server wants it. */
export function convert(object: ConvertedObject, changes: readonly Change[], direction: Direction, apiVersion: string): ConvertedObject {
  const spec = structuredClone(object.spec);
  const { [KEPT.up]: above = '{}', [KEPT.down]: beneath = '{}', ...others } = object.metadata.annotations ?? {};
  const came = keptIn(direction === 'up' ? beneath : above);
  const kept: Kept = {};
  for (const change of direction === 'up' ? changes : changes.toReversed())
    for (const parent of objectsAt(spec, change.at)) ways[change.type][direction](parent, change as never, came, kept);
  const annotations = Object.keys(kept).length === 0 ? others : { ...others, [KEPT[direction]]: JSON.stringify(kept) };
  const { annotations: _former, ...metadata } = object.metadata;
  return { ...object, apiVersion, metadata: { ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) }, spec };
}

/** Somebody may have written nonsense into the annotation: it must not keep an object from being read. */
function keptIn(text: string): Kept {
  const kept = parseJson(text);
  return isObject(kept) ? kept : {};
}

function objectsAt(value: unknown, [step, ...rest]: Steps): readonly Fields[] {
  if (step === undefined) return isObject(value) ? [value] : [];
  if (step === '[]') return Array.isArray(value) ? value.flatMap((item) => objectsAt(item, rest)) : [];
  return isObject(value) ? objectsAt(value[step], rest) : [];
}

type Way<C> = (parent: Fields, change: C, came: Kept, kept: Kept) => void;
type Ways = {
  readonly [T in Change['type']]: { readonly up: Way<Extract<Change, { type: T }>>; readonly down: Way<Extract<Change, { type: T }>> };
};

const pathOf = (at: Steps, field: string): string => [...at, field].join('.');

function put(fields: Fields, name: string, value: unknown): void {
  if (value !== undefined) fields[name] = value;
}

function take(fields: Fields, name: string): unknown {
  const value = fields[name];
  delete fields[name];
  return value;
}

const ways: Ways = {
  rename: {
    up: (parent, { field, to }) => put(parent, to, take(parent, field)),
    down: (parent, { field, to }) => put(parent, field, take(parent, to)),
  },
  move: {
    up(parent, { from, field, to }) {
      const source = parent[from];
      if (isObject(source)) put(parent, to, take(source, field));
    },
    down(parent, { from, field, to }) {
      const value = take(parent, to);
      if (value !== undefined) parent[from] = { ...(parent[from] as Fields | undefined), [field]: value };
    },
  },
  split: {
    up(parent, { field, into: [head, tail] }) {
      const text = take(parent, field);
      if (typeof text !== 'string') return;
      const space = text.indexOf(' ');
      parent[head] = space === -1 ? text : text.slice(0, space);
      if (space !== -1) parent[tail] = text.slice(space + 1);
    },
    down(parent, { field, into: [head, tail] }) {
      const [before, behind] = [take(parent, head), take(parent, tail)];
      put(parent, field, typeof before === 'string' && typeof behind === 'string' ? `${before} ${behind}` : before);
    },
  },
  listToMap: {
    up(parent, { at, field, key }, _came, kept) {
      const items = parent[field] as readonly Fields[] | undefined;
      if (items === undefined) return;
      const names = items.map((item) => String(item[key]));
      parent[field] = Object.fromEntries(items.map(({ [key]: name, ...item }) => [String(name), item]));
      // A map has no order: JSON of the API server sorts it.
      if (names.some((name, index) => index > 0 && name < (names[index - 1] ?? ''))) kept[pathOf(at, field)] = names;
    },
    down(parent, { at, field, key }, came) {
      const map = parent[field] as Readonly<Record<string, Fields>> | undefined;
      if (map === undefined) return;
      const order = came[pathOf(at, field)];
      const places = new Map((Array.isArray(order) ? order : []).map((name, index) => [String(name), index]));
      const place = (name: string): number => places.get(name) ?? Infinity;
      parent[field] = Object.keys(map)
        .toSorted((one, other) => (place(one) === place(other) ? (one < other ? -1 : 1) : place(one) - place(other)))
        .map((name) => Object.assign({ [key]: name }, map[name]));
    },
  },
  remove: {
    up: (parent, { at, field }, _came, kept) => put(kept, pathOf(at, field), take(parent, field)),
    down: (parent, { at, field }, came) => put(parent, field, came[pathOf(at, field)]),
  },
  // A value passes as it is: v1beta1 answers one that it doesn't know, and leaves it alone.
  newValue: { up: () => undefined, down: () => undefined },
  newMember: {
    up(parent, { at, discriminator, value, member }, came) {
      // A client of v1beta1 may have chosen another type meanwhile.
      if (parent[discriminator] === value) put(parent, member, came[pathOf(at, member)]);
    },
    down: (parent, { at, member }, _came, kept) => put(kept, pathOf(at, member), take(parent, member)),
  },
};
