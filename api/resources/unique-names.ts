/** Keeps names unique: of several objects that want one at the same moment one gets it, and the others keep all that they have. */
import type { KubeObject, Stored } from '../../kube/types.ts';
import type { ApiError } from '../http/api-error.ts';
import type { Specified } from '../partial/partial-update.ts';
import { cameFirst, isTaken, type FirstCome } from './first-come.ts';
import type { ResourceChange, ResourceWriter, Updated, WriteMode } from './resource-writer.ts';
import { runSteps, type Step } from './write-steps.ts';

export interface NameClaim<T extends KubeObject> extends FirstCome<T> {
  readonly refusal: () => ApiError;
}

/** @throws ApiError where a name is taken already, as far as this process knows */
export async function requireFree<T extends KubeObject>(claims: readonly NameClaim<T>[]): Promise<void> {
  for (const claim of claims) if (await isTaken(claim)) throw claim.refusal();
}

/**
 * @param written the API server's answer to the write that gave it the name
 * @throws ApiError where another object had the name before
 */
export async function requireFirst<T extends KubeObject>(written: Stored<T>, claims: readonly NameClaim<T>[]): Promise<void> {
  for (const claim of claims) if (!(await cameFirst(written, claim))) throw claim.refusal();
}

export interface NamedUpdate<T extends Specified, R> {
  readonly writer: ResourceWriter<T>;
  readonly org: string;
  readonly name: string;
  /** The request's new name, which must be unique; undefined where it has none. */
  readonly to: string | undefined;
  readonly nameOf: (object: Stored<T>) => string | undefined;
  readonly withName: (spec: T['spec'], name: string) => T['spec'];
  readonly claims: (name: string, object: Stored<T>) => readonly NameClaim<T>[];
  /** Makes the whole change, the name included. @returns undefined where there is nothing to update */
  readonly update: (mode: WriteMode) => Promise<R | undefined>;
}

interface Renaming<T extends Specified> extends ResourceChange {
  readonly claims: readonly NameClaim<T>[];
}

/** Gives an object its new name in a write of its own, which can be taken back whole, before it carries out the rest. */
export async function updateNamed<T extends Specified, R>(request: NamedUpdate<T, R>, mode: WriteMode): Promise<R | undefined> {
  const { writer, org, name, to, nameOf, withName, claims: claimsOf, update } = request;
  const stored = to === undefined || mode.dryRun ? undefined : await writer.find(org, name);
  if (to === undefined || stored === undefined || nameOf(stored) === to) return update(mode);
  // A dry run finds every refusal before the name is taken.
  if ((await update({ ...mode, dryRun: true })) === undefined) return undefined;
  const { requireState: _, ...again } = mode;
  const rename = async (present: Stored<T>): Promise<Renaming<T>> => {
    const claims = claimsOf(to, present);
    await requireFree(claims);
    return { spec: withName(present.spec, to), claims };
  };
  const renamed: Step<Updated<T, Renaming<T>> | undefined> = {
    run: () => writer.update(org, name, rename, mode),
    undo: async (written) => {
      const before = written && nameOf(written.previous);
      if (before === undefined) return;
      const back = async (present: Stored<T>) => (nameOf(present) === to ? { spec: withName(present.spec, before) } : undefined);
      await writer.update(org, name, back, again);
    },
  };
  const claimed: Step = {
    run: async (resultOf) => {
      const written = resultOf(renamed);
      if (written !== undefined) await requireFirst(written.object, written.change.claims);
    },
    isCheck: true,
  };
  const updated: Step<R | undefined> = { run: () => update(again) };
  return (await runSteps([renamed, claimed, updated]))(updated);
}
