import { formatElement, serializeElement, type FieldSet, type PathElement } from '../../kube/fields.ts';
import type { KubeObject } from '../../kube/types.ts';
import { isObject, sameJson } from '../../platform/json.ts';

export type Path = readonly PathElement[];

export const field = (name: string): PathElement => ({ type: 'field', name });

/** Writes a path as the API server does in the causes of a conflict: `.spec.dynamicData[name="a"].url`. */
export const formatPath = (path: Path): string => path.map(formatElement).join('');

/** Returns the managers other than `except` (server-side apply) that own the value at `path` or a part of it. */
export function ownersOf(object: KubeObject, path: Path, except: string): readonly string[] {
  const owners = (object.metadata.managedFields ?? [])
    .filter((entry) => (entry.subresource ?? '') === '' && !(entry.manager === except && entry.operation === 'Apply'))
    .filter((entry) => holds(entry.fieldsV1 ?? {}, path))
    .map((entry) => entry.manager ?? 'unknown');
  return [...new Set(owners)];
}

function holds(set: FieldSet, path: Path): boolean {
  const [element, ...rest] = path;
  if (element === undefined) return true;
  const member = memberOf(set, element);
  const below = member === undefined ? undefined : set[member];
  return isObject(below) && holds(below, rest);
}

/** Returns the name of `element` in `set`; undefined where it isn't in it. */
export function memberOf(set: FieldSet, element: PathElement): string | undefined {
  const member = serializeElement(element);
  return Object.hasOwn(set, member) ? member : Object.keys(set).find((name) => sameElement(name, element));
}

/** Compares keys, whose fields may be in another order. */
function sameElement(member: string, element: PathElement): boolean {
  return element.type === 'key' && member.startsWith('k:') && sameJson(JSON.parse(member.slice(2)), element.key);
}
