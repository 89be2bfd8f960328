/** Computes who owns which fields once one manager has taken some of them from all others. Pure. */
import { serializeElement, type FieldSet } from '../../kube/fields.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../kube/types.ts';
import { memberOf, type Path } from './path.ts';

/** @returns the managedFields of `object`, changed so that `manager` alone owns, as by an apply, the values at `paths` and all below */
export function takeOver(object: KubeObject, paths: readonly Path[], manager: string): readonly ManagedFieldsEntry[] {
  const entries = object.metadata.managedFields ?? [];
  const [status, ofObject] = [entries.filter(hasSubresource), entries.filter((entry) => !hasSubresource(entry))];
  const own = ofObject.find((entry) => entry.manager === manager && entry.operation === 'Apply') ?? {
    manager,
    operation: 'Apply',
    apiVersion: object.apiVersion,
    fieldsType: 'FieldsV1',
  };
  const others = ofObject.flatMap((entry) => {
    const fieldsV1 = entry === own ? undefined : paths.reduce<FieldSet | undefined>(without, entry.fieldsV1);
    return fieldsV1 === undefined ? [] : [{ ...entry, fieldsV1 }];
  });
  return [...status, ...others, { ...own, fieldsV1: paths.reduce(including, own.fieldsV1 ?? {}) }];
}

const hasSubresource = ({ subresource = '' }: ManagedFieldsEntry): boolean => subresource !== '';

/** @returns undefined where nothing is left: an empty set would be a leaf, the field itself */
function without(set: FieldSet | undefined, path: Path): FieldSet | undefined {
  const [element, ...rest] = path;
  if (element === undefined || set === undefined) return undefined;
  const member = memberOf(set, element);
  if (member === undefined) return set;
  const { [member]: inside, ...others } = set;
  const left = without(inside as FieldSet, rest);
  if (left !== undefined) return { ...others, [member]: left };
  return Object.keys(others).length > 0 ? others : undefined;
}

function including(set: FieldSet, path: Path): FieldSet {
  const [element, ...rest] = path;
  if (element === undefined) return Object.keys(set).length === 0 ? set : { ...set, '.': {} };
  const member = memberOf(set, element) ?? serializeElement(element);
  const inside = set[member] as FieldSet | undefined;
  // A leaf with something below it stays a member of the set only by the mark.
  const marked = inside !== undefined && Object.keys(inside).length === 0 ? { '.': {} } : (inside ?? {});
  return { ...set, [member]: including(marked, rest) };
}
