/**
 * Carries out one partial update through server-side apply: everything the facade applied before, with the difference made. Fields that the
 * request leaves as they are stay with their owners.
 */
import { traceAnnotation } from '../../crds/trace-annotation.ts';
import { KubeError } from '../../kube/error.ts';
import { extractOwned } from '../../kube/extract.ts';
import type { ResourceClient } from '../../kube/resource-client.ts';
import type { KubeObject, Stored } from '../../kube/types.ts';
import { currentSampledTrace } from '../../platform/telemetry/tracing.ts';
import { ApiError, type FieldConflict } from '../http/api-error.ts';
import { applyChanges, changesBetween, inOrderOf, type Changes } from './changes.ts';
import { field, formatPath, ownersOf, type Path } from './path.ts';
import type { Shape } from './shape.ts';
import { takeOver } from './take-over.ts';

/** The field manager of everything that the facade applies. */
export const MANAGER = 'parley-api';

export interface Specified extends KubeObject {
  readonly spec: unknown;
}

export interface PartialUpdate<T extends Specified> {
  readonly client: ResourceClient<T>;
  /** The object as it was just read, with managedFields. */
  readonly stored: Stored<T>;
  readonly desired: unknown;
  readonly shape: Shape;
  /** Takes fields from other managers. */
  readonly force: boolean;
  readonly dryRun: boolean;
  /** Turns `.spec.llm.model` into the client's name for the field. */
  readonly nameOf: (path: string) => string;
}

/**
 * @returns the object as the server answered it; `stored` itself when there is nothing to do
 * @throws ApiError `conflict` naming each field that another manager owns; nothing is written then
 * @throws KubeError `staleConflict` when the object changed since it was read
 */
export async function updatePartially<T extends Specified>(update: PartialUpdate<T>): Promise<Stored<T>> {
  const { stored, desired, shape } = update;
  const changes = changesBetween(shape, stored.spec, desired, [field('spec')]);
  if (changes.sets.length === 0 && changes.clears.length === 0) return stored;
  const held = changes.clears.filter((path) => ownersOf(stored, path, MANAGER).length > 0);
  const { client, force, dryRun } = update;
  if (held.length === 0) return applyOwned(update, stored, changes, { force, dryRun });
  const conflicts = force ? [] : [...held.flatMap((path) => conflictsAt(update, path)), ...(await conflictsOfSets(update, changes))];
  if (conflicts.length > 0) throw conflictError(conflicts);
  // The whole spec is checked before anything is written: rules of the schema may tie cleared fields to set ones.
  const checked = await client.update({ ...stored, spec: desired }, { dryRun: true });
  return dryRun ? checked : takeAndApply(update, held, changes);
}

function conflictsAt<T extends Specified>({ stored, nameOf }: PartialUpdate<T>, path: Path): readonly FieldConflict[] {
  return ownersOf(stored, path, MANAGER)
    .filter((owner) => owner !== MANAGER)
    .map((owner) => ({ field: nameOf(formatPath(path)), manager: owner }));
}

/** Returns all conflicts of the sets at once, also those that only the server can detect. */
async function conflictsOfSets<T extends Specified>(update: PartialUpdate<T>, changes: Changes): Promise<readonly FieldConflict[]> {
  try {
    await applyOwned(update, update.stored, { sets: changes.sets, clears: [] }, { force: false, dryRun: true });
  } catch (error) {
    if (error instanceof ApiError && error.conflicts !== undefined) return error.conflicts;
  }
  return [];
}

/**
 * Takes the fields that others hold away from them by an update of its own, with their values as they are, before the apply: an apply can
 * only add an owner to a field, so that leaving it out would change nothing. The spec changes in one step, by the apply.
 */
async function takeAndApply<T extends Specified>(update: PartialUpdate<T>, held: readonly Path[], changes: Changes): Promise<Stored<T>> {
  const { client, stored, force } = update;
  const managedFields = takeOver(stored, held, MANAGER);
  const taken = await client.update({ ...stored, metadata: { ...stored.metadata, managedFields } });
  // The server removes an object with its last owned field. Where the object is to stay, an undefined field keeps it.
  const last = held.filter((path) => path.at(-1)?.type === 'field' && ownersOf(taken, path.slice(0, -1), MANAGER).length === 0);
  const sets = [...last.map((path) => ({ path, value: undefined })), ...changes.sets];
  // The former owners stay here, so that the taken fields are left out.
  const from = { ...stored, metadata: { ...stored.metadata, resourceVersion: taken.metadata.resourceVersion } };
  return applyOwned(update, from, { ...changes, sets }, { force, dryRun: false });
}

async function applyOwned<T extends Specified>(
  { client, desired, shape, nameOf }: PartialUpdate<T>,
  from: Stored<T>,
  changes: Changes,
  options: { readonly force: boolean; readonly dryRun: boolean },
): Promise<Stored<T>> {
  const owned = extractOwned(from, { manager: MANAGER, operation: 'Apply' });
  const { uid, resourceVersion } = from.metadata;
  const changed = applyChanges(owned, changes) as T & { spec?: unknown };
  const object = {
    ...changed,
    metadata: { ...owned.metadata, ...(!options.dryRun && annotationsWithTrace(owned.metadata.annotations, from)), uid, resourceVersion },
    ...(changed.spec !== undefined && { spec: inOrderOf(shape, changed.spec, desired) }),
  };
  try {
    return await client.apply(object, options);
  } catch (error) {
    if (!(error instanceof KubeError) || !error.ownershipConflict) throw error;
    const conflicts = conflictsOf(error, nameOf);
    // The facade may have written a field in another way than by apply: it owns that field all the same.
    if (conflicts.every((conflict) => conflict.manager === MANAGER)) return client.apply(object, { ...options, force: true });
    throw conflictError(
      conflicts.filter((conflict) => conflict.manager !== MANAGER),
      error,
    );
  }
}

/** Adds the trace to the facade's own annotations, which an apply has to repeat. The next write makes the next generation. */
function annotationsWithTrace(owned: object | undefined, { metadata: { generation = 0 } }: Stored<KubeObject>) {
  const trace = traceAnnotation(currentSampledTrace(), generation + 1);
  return Object.keys(trace).length > 0 && { annotations: { ...owned, ...trace } };
}

function conflictsOf(error: KubeError, nameOf: (path: string) => string): readonly FieldConflict[] {
  return error.causes
    .filter(({ reason }) => reason === 'FieldManagerConflict')
    .map(({ field: path, message }) => ({
      field: nameOf(path),
      manager: /conflict with "((?:[^"\\]|\\.)*)"/.exec(message)?.[1] ?? 'unknown',
    }));
}

function conflictError(conflicts: readonly FieldConflict[], cause?: unknown): ApiError {
  const distinct = [...new Map(conflicts.map((conflict) => [JSON.stringify(conflict), conflict])).values()];
  const list = distinct.map(({ field: name, manager: owner }) => `${name} is owned by "${owner}"`).join(', ');
  return new ApiError('conflict', `${list}; change it there, or take it over with ?force=true`, { conflicts: distinct, cause });
}
