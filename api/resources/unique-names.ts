/** Names that no two objects may have: of those who want one at the same moment one gets it, and the others keep all that they have. */
import type { KubeObject, Stored } from '../../kube/types.ts';
import type { ApiError } from '../http/api-error.ts';
import type { Specified } from '../partial/partial-update.ts';
import { cameFirst, isTaken, type FirstCome } from './first-come.ts';
import { isUncertain, type ResourceWriter, type WriteMode } from './resource-writer.ts';

export interface NameClaim<T extends KubeObject> extends FirstCome<T> {
  /** For who comes second. */
  readonly refusal: () => ApiError;
}

/** @throws ApiError where a name is taken already, as far as this process knows */
export async function requireFree<T extends KubeObject>(claims: readonly NameClaim<T>[]): Promise<void> {
  for (const claim of claims) if (await isTaken(claim)) throw claim.refusal();
}

/**
 * @param written as the server answered the write that gave it the name
 * @throws ApiError where another object had the name before
 */
export async function requireFirst<T extends KubeObject>(written: Stored<T>, claims: readonly NameClaim<T>[]): Promise<void> {
  for (const claim of claims) if (!(await cameFirst(written, claim))) throw claim.refusal();
}

export interface NamedUpdate<T extends Specified, R> {
  readonly writer: ResourceWriter<T>;
  readonly org: string;
  /** Of the resource. */
  readonly name: string;
  /** The name that must be unique, as the request has it; undefined where it has none. */
  readonly to: string | undefined;
  readonly nameOf: (object: Stored<T>) => string | undefined;
  readonly withName: (spec: T['spec'], name: string) => T['spec'];
  readonly claims: (name: string, object: Stored<T>) => readonly NameClaim<T>[];
  /** The whole change, the name included. @returns undefined where there is nothing to update */
  readonly update: (mode: WriteMode) => Promise<R | undefined>;
}

/** Gives an object its new name in a write of its own, which can be taken back whole, before it carries out the rest. */
export async function updateNamed<T extends Specified, R>(request: NamedUpdate<T, R>, mode: WriteMode): Promise<R | undefined> {
  const { writer, org, name, to, nameOf, update } = request;
  const stored = to === undefined || mode.dryRun ? undefined : await writer.find(org, name);
  if (to === undefined || stored === undefined || nameOf(stored) === to) return update(mode);
  // Whatever may be refused is, before the name is taken.
  if ((await update({ ...mode, dryRun: true })) === undefined) return undefined;
  const takeBack = await rename(request, to, mode);
  const { requireState: _, ...again } = mode;
  try {
    return await update(again);
  } catch (error) {
    // Something was changed since the dry run.
    if (!isUncertain(error)) await takeBack();
    throw error;
  }
}

/** @returns takes the new name back */
async function rename<T extends Specified>(
  { writer, org, name, nameOf, withName, claims: claimsOf }: NamedUpdate<T, unknown>,
  to: string,
  mode: WriteMode,
): Promise<() => Promise<void>> {
  let before: string | undefined;
  let claims: readonly NameClaim<T>[] = [];
  const change = async (stored: Stored<T>) => {
    before = nameOf(stored);
    claims = claimsOf(to, stored);
    await requireFree(claims);
    return { spec: withName(stored.spec, to) };
  };
  const renamed = await writer.update(org, name, change, mode);
  const takeBack = async (): Promise<void> => {
    const back = async (stored: Stored<T>) => ({
      spec: nameOf(stored) === to && before !== undefined ? withName(stored.spec, before) : stored.spec,
    });
    const { requireState: _, ...again } = mode;
    await writer.update(org, name, back, again);
  };
  try {
    if (renamed !== undefined) await requireFirst(renamed, claims);
  } catch (error) {
    await takeBack();
    throw error;
  }
  return takeBack;
}
