/** New values of an object in its Secret or ConfigMap: written next to those in use, and in use once the object refers to them. */
import { wellKnown } from '../../crds/index.ts';
import { KubeError } from '../../kube/error.ts';
import type { KubeObject, Stored } from '../../kube/types.ts';
import { companionName, ownCompanionName, refId, type KeyRef } from '../codec/secrets.ts';
import { isAway } from './api-server-availability.ts';
import { orUndefined } from './companions.ts';
import type { ResourceContext } from './context.ts';
import { companionClient, type CompanionKind } from './core-clients.ts';
import { mergePatch, type MergePatchTarget } from './merge-patch.ts';
import { belongsTo, isStagedFor, ownerReferenceTo, stageMarks, stageOf, withoutMarks, type Stage } from './staging.ts';
import type { Step } from './write-steps.ts';

export interface NewValues {
  readonly kind: CompanionKind;
  readonly namespace: string;
  /** Of the Secret or ConfigMap. */
  readonly name: string;
  readonly values: ReadonlyMap<string, string>;
  /** Keys that the object refers to now and won't any more. */
  readonly replaced: readonly string[];
  readonly for: Stage['for'];
  /** Absent while the object itself isn't there yet. */
  readonly owner?: Stored<KubeObject> | undefined;
  /**
   * For a key that every request names alike: the resource version in which the Secret or ConfigMap must still be, null where there must be none.
   * Read before the state of the object is checked, it keeps who is late from writing over a value that is in use.
   */
  readonly expected?: { readonly key: string; readonly version: string | null } | undefined;
}

/** What a new state of an object means for the Secrets (or ConfigMaps) it refers to. */
export interface Replacement extends Omit<NewValues, 'replaced'> {
  readonly before: readonly KeyRef[];
  readonly after: readonly KeyRef[];
}

/** The writes that `replacement` takes: new values in one place, and each place rid of the keys that nothing refers to any more. */
export function valueWrites({ before, after, name, values, expected, ...common }: Replacement): readonly NewValues[] {
  if (values.size === 0 && before.length === 0) return [];
  const { for: whose, owner } = common;
  const usual = companionName(whose.kind, whose.name);
  const places = owner === undefined ? [usual] : [usual, ownCompanionName(whose.kind, whose.name, owner.metadata.uid)];
  const used = new Set(after.map(refId));
  const writes: NewValues[] = [];
  for (const place of places) {
    const arriving = place === name ? values : new Map<string, string>();
    const replaced = before.filter((ref) => ref.name === place && !used.has(refId(ref))).map(({ key }) => key);
    if (arriving.size > 0 || replaced.length > 0)
      writes.push({ ...common, name: place, values: arriving, replaced, ...(arriving.size > 0 && { expected }) });
  }
  return writes;
}

interface Staged {
  readonly object: Stored<KubeObject>;
  /** Shared: another request that makes an object of the same name has created it, and hasn't finished. */
  readonly origin: 'created' | 'shared' | 'existing';
}

/** Undefined where there is nothing to write, and nothing to mark either. */
export type StageStep = Step<Staged | undefined>;

type StagingContext = Pick<ResourceContext, 'clients' | 'transport' | 'clock'>;

/** Before the object refers to the values: writes them, marked as staged. */
export function stageValues(context: StagingContext, values: NewValues): StageStep {
  return {
    dryRun: () => stage(context, values, true),
    run: () => stage(context, values, false),
    undo: async (staged) => staged && discard(context, values, staged),
  };
}

/**
 * Once the object refers to them: takes the marks off, and the replaced keys away.
 * @returns the resource version of the Secret or ConfigMap, where there was something to write
 */
export function commitValues(
  context: StagingContext,
  values: NewValues,
  staging: StageStep,
  object: Step<Stored<KubeObject>>,
): Step<string | undefined> {
  return {
    run: async (resultOf) => {
      const staged = resultOf(staging);
      if (staged === undefined) return undefined;
      const metadata = staged.origin === 'existing' ? {} : { ownerReferences: [ownerReferenceTo(resultOf(object))] };
      // What others have staged over this value they will never use: the object refers to it.
      const own = Object.entries(encoded(values)).filter(([key]) => key === values.expected?.key);
      const dataOf = (now: Stored<KubeObject>): object => ({
        ...Object.fromEntries(own.filter(([key]) => stageOf(now)?.keys.includes(key))),
        ...withoutKeys(values.replaced),
      });
      try {
        return (await unmark(context, values, staged, dataOf, metadata)).metadata.resourceVersion;
      } catch (error) {
        // A new object is there with its values, and who tries again would make a second one: the sweeper does the rest.
        if (values.owner !== undefined || !isAway(error)) throw error;
        return staged.object.metadata.resourceVersion;
      }
    },
  };
}

async function stage(context: StagingContext, values: NewValues, dryRun: boolean): Promise<Staged | undefined> {
  const { kind, namespace, name, owner } = values;
  const expected = values.expected?.version;
  const client = companionClient(context.clients, kind);
  const data = encoded(values);
  const marks = stageMarks({
    for: values.for,
    at: new Date(context.clock.now()).toISOString(),
    keys: [...values.values.keys(), ...values.replaced],
  });
  if (owner !== undefined && values.values.size === 0) {
    const existing = await orUndefined(client.get({ namespace, name }));
    if (existing === undefined || !belongsTo(existing, owner)) return undefined;
  }
  const state = typeof expected === 'string' ? { resourceVersion: expected } : {};
  const patch = (): Promise<Stored<KubeObject>> =>
    mergePatch(context.transport, targetOf(context, values), { data, metadata: { ...marks, ...state } }, { dryRun });
  const patched = owner === undefined || expected === null ? undefined : await orUndefined(patch());
  if (patched !== undefined) return { object: patched, origin: 'existing' };
  if (values.values.size === 0) return undefined;
  const labels = { ...marks.labels, [wellKnown.companionOf]: values.for.kind.toLowerCase() };
  const metadata = { namespace, name, ...marks, labels, ...(owner && { ownerReferences: [ownerReferenceTo(owner)] }) };
  try {
    return { object: await client.create({ apiVersion: 'v1', kind, metadata, data }, { dryRun }), origin: 'created' };
  } catch (error) {
    if (!(error instanceof KubeError && error.reason === 'AlreadyExists')) throw error;
    if (expected !== undefined) throw new KubeError({ code: 409, reason: 'Conflict', message: error.message, cause: error });
    const isShared = owner === undefined && isStagedFor(await client.get({ namespace, name }), values.for);
    return { object: await patch(), origin: isShared ? 'shared' : 'existing' };
  }
}

/** This request will never use what it has staged. */
async function discard(context: StagingContext, values: NewValues, staged: Staged): Promise<void> {
  const { namespace, name, expected } = values;
  const { uid, resourceVersion } = staged.object.metadata;
  // Of the key that others name alike the sweeper asks the object whether it is in use.
  const data = withoutKeys([...values.values.keys()].filter((key) => key !== expected?.key));
  if (expected !== undefined && Object.keys(data).length === 0) return;
  if (expected === undefined && staged.origin === 'existing') return void (await unmark(context, values, staged, () => data));
  try {
    if (expected === undefined && staged.origin === 'created')
      return await companionClient(context.clients, values.kind).delete({ namespace, name }, { uid, resourceVersion });
  } catch (error) {
    if (!isStale(error)) throw error;
  }
  // Other requests make an object of this name as well: one of them takes the mark off, or the sweeper all that is left.
  await mergePatch(context.transport, targetOf(context, values), { data });
}

/** Takes the marks off, along with a change of the data. Where another request has staged values here meanwhile they are its own, and stay. */
async function unmark(
  context: StagingContext,
  values: NewValues,
  { object }: Staged,
  dataOf: (now: Stored<KubeObject>) => object,
  metadata: object = {},
): Promise<Stored<KubeObject>> {
  const { namespace, name } = values;
  for (let now = object; ; now = await companionClient(context.clients, values.kind).get({ namespace, name })) {
    const marks = now === object ? withoutMarks : {};
    const patch = { data: dataOf(now), metadata: { ...metadata, ...marks, resourceVersion: now.metadata.resourceVersion } };
    try {
      return await mergePatch(context.transport, targetOf(context, values), patch);
    } catch (error) {
      if (!isStale(error)) throw error;
    }
  }
}

function targetOf({ clients }: StagingContext, { kind, namespace, name }: NewValues): MergePatchTarget {
  return { descriptor: companionClient(clients, kind).descriptor, namespace, name };
}

/** As the API has them: of a Secret in base64. */
function encoded({ kind, values }: NewValues): Readonly<Record<string, string>> {
  return Object.fromEntries([...values].map(([key, value]) => [key, kind === 'Secret' ? Buffer.from(value).toString('base64') : value]));
}

/** The object changed since it was read, or there is one where none was expected. */
export const isStale = (error: unknown): boolean => error instanceof KubeError && error.staleConflict;

/** For a merge patch. */
function withoutKeys(keys: readonly string[]): Readonly<Record<string, null>> {
  return Object.fromEntries(keys.map((key) => [key, null]));
}
