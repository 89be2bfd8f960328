/** Who owns which field: server-side apply with its conflicts, and what an ordinary write takes from others. */
import { fieldPathsOf } from '../../../kube/fields.ts';
import type { ManagedFieldsEntry } from '../../../kube/types.ts';
import { fromFieldsV1, membersOf, toFieldsV1, type MemberOptions } from './members.ts';
import { mergeApplied, removePath } from './merge.ts';
import { RefusalError } from './refusal.ts';
import type { Json, JsonSchema } from './schema.ts';

export interface Writer {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource?: string | undefined;
  readonly time: string;
}

interface Owner {
  readonly entry: ManagedFieldsEntry;
  paths: Set<string>;
}

export interface Written {
  readonly object: Json;
  readonly managedFields: readonly ManagedFieldsEntry[];
}

export interface ApplyInput {
  readonly live: Json;
  /** What is applied, already cut to what this endpoint may write. */
  readonly applied: Json;
  readonly schema: JsonSchema;
  readonly managedFields: readonly ManagedFieldsEntry[];
  readonly writer: Writer;
  readonly force: boolean;
}

/** @throws Refusal 409 with a cause for each field that somebody else owns with another value. */
export function applyFields(input: ApplyInput): Written {
  const { live, applied, schema, writer } = input;
  const owners = parse(input.managedFields);
  const mine = owners.find((owner) => isOf(owner.entry, writer, 'Apply'));
  const others = owners.filter((owner) => owner !== mine);
  const fresh = new Set(membersOf(applied, schema).keys());
  const merged = mergeApplied(live, applied, schema) as Json;
  const changed = changes(live, merged, schema);

  const conflicts = others
    .map((owner) => ({ owner, paths: [...owner.paths].filter((path) => changed.set.has(path)) }))
    .filter(({ paths }) => paths.length > 0);
  if (conflicts.length > 0 && !input.force) throw conflictRefusal(conflicts.map(({ owner, paths }) => ({ entry: owner.entry, paths })));
  for (const { owner, paths } of conflicts) for (const path of paths) owner.paths.delete(path);

  const object = prune(merged, mine?.paths ?? new Set(), fresh, others, schema);
  return {
    object,
    managedFields: serialize([...others, { entry: entryFor(writer, 'Apply', mine?.entry, fresh, mine?.paths), paths: fresh }]),
  };
}

/** What a create, update or merge patch leaves behind: the writer owns what it changed, nobody else does. */
export function updateFields(input: Omit<ApplyInput, 'applied' | 'force'> & { readonly updated: Json }): Written {
  const { live, updated, schema, writer } = input;
  const owners = parse(input.managedFields);
  const { set, removed } = changes(live, updated, schema, { containers: true });
  for (const owner of owners) {
    if (isOf(owner.entry, writer, 'Update')) continue;
    for (const path of [...set, ...removed]) owner.paths.delete(path);
  }
  const mine = owners.find((owner) => isOf(owner.entry, writer, 'Update'));
  const paths = new Set([...(mine?.paths ?? []), ...set].filter((path) => !removed.has(path)));
  const rest = owners.filter((owner) => owner !== mine);
  return {
    object: updated,
    managedFields: serialize([...rest, { entry: entryFor(writer, 'Update', mine?.entry, paths, mine?.paths), paths }]),
  };
}

/** Members that were added or got another value, and those that went. A map that was empty and is filled has not gone. */
function changes(
  before: Json,
  after: Json,
  schema: JsonSchema,
  options: MemberOptions = {},
): { readonly set: Set<string>; readonly removed: Set<string> } {
  const was = membersOf(before, schema, { containers: true });
  const is = membersOf(after, schema, { containers: true });
  return {
    set: new Set(
      [...membersOf(after, schema, options)].filter(([path, value]) => !was.has(path) || was.get(path) !== value).map(([path]) => path),
    ),
    removed: new Set([...membersOf(before, schema, options).keys()].filter((path) => !is.has(path))),
  };
}

/** Removes what this manager applied last time and left out now, unless somebody else owns it or something below it. */
function prune(merged: Json, last: ReadonlySet<string>, fresh: ReadonlySet<string>, others: readonly Owner[], schema: JsonSchema): Json {
  const keep = new Set([...withParents(fresh), JSON.stringify(['f:metadata'])]);
  const theirs = withParents(new Set(others.flatMap((owner) => [...owner.paths])));
  const left = [...withParents(last)].filter((path) => !keep.has(path) && !theirs.has(path)).map((path) => JSON.parse(path) as string[]);
  return left.sort((a, b) => a.length - b.length).reduce<unknown>((object, path) => removePath(object, path, schema), merged) as Json;
}

function withParents(paths: ReadonlySet<string>): Set<string> {
  const all = new Set<string>();
  for (const text of paths) {
    const path = JSON.parse(text) as string[];
    for (let length = 1; length <= path.length; length++) all.add(JSON.stringify(path.slice(0, length)));
  }
  return all;
}

function isOf(entry: ManagedFieldsEntry, writer: Writer, operation: 'Apply' | 'Update'): boolean {
  return (
    entry.manager === writer.manager &&
    entry.operation === operation &&
    (entry.subresource ?? '') === (writer.subresource ?? '') &&
    entry.apiVersion === writer.apiVersion
  );
}

/** The time changes only when the set of fields does. */
function entryFor(
  writer: Writer,
  operation: 'Apply' | 'Update',
  old: ManagedFieldsEntry | undefined,
  paths: ReadonlySet<string>,
  oldPaths: ReadonlySet<string> | undefined,
): ManagedFieldsEntry {
  const same =
    old !== undefined && oldPaths !== undefined && paths.size === oldPaths.size && [...paths].every((path) => oldPaths.has(path));
  return {
    manager: writer.manager,
    operation,
    apiVersion: writer.apiVersion,
    time: same ? (old.time ?? writer.time) : writer.time,
    ...(writer.subresource === undefined ? {} : { subresource: writer.subresource }),
  };
}

function parse(entries: readonly ManagedFieldsEntry[]): Owner[] {
  return entries.map((entry) => ({ entry, paths: fromFieldsV1(entry.fieldsV1 ?? {}) }));
}

const rank = (entry: ManagedFieldsEntry): string => `${entry.operation === 'Apply' ? 0 : 1} ${entry.time ?? ''} ${entry.manager ?? ''}`;

function serialize(owners: readonly Owner[]): readonly ManagedFieldsEntry[] {
  return owners
    .filter((owner) => owner.paths.size > 0)
    .map(({ entry, paths }) => Object.assign({}, entry, { fieldsType: 'FieldsV1' as const, fieldsV1: toFieldsV1(paths) }))
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

function conflictRefusal(conflicts: readonly { readonly entry: ManagedFieldsEntry; readonly paths: readonly string[] }[]): RefusalError {
  const causes = conflicts.flatMap(({ entry, paths }) =>
    fieldPathsOf(toFieldsV1(paths)).map((field) => ({
      reason: 'FieldManagerConflict',
      field,
      message: `conflict with ${describe(entry)}`,
    })),
  );
  const fields = causes.map((cause) => `${cause.message}: ${cause.field}`).join('\n- ');
  return new RefusalError({
    code: 409,
    reason: 'Conflict',
    message: `Apply failed with ${causes.length} conflict${causes.length === 1 ? '' : 's'}: ${fields}`,
    causes,
  });
}

function describe(entry: ManagedFieldsEntry): string {
  const subresource = entry.subresource === undefined ? '' : ` with subresource "${entry.subresource}"`;
  return `"${entry.manager}"${subresource}${entry.operation === 'Update' ? ` using ${entry.apiVersion}` : ''}`;
}
