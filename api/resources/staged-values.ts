/** Writes new values of an object into its Secret or ConfigMap: next to those in use, and in use once the object refers to them. */
import { wellKnown } from '../../crds/index.ts';
import { KubeError } from '../../kube/error.ts';
import type { ResourceClient } from '../../kube/resource-client.ts';
import type { KubeObject, Stored } from '../../kube/types.ts';
import type { Clock } from '../../platform/clock.ts';
import { companionName, ownCompanionName, refId, type KeyRef } from '../codec/secrets.ts';
import { isAway } from './api-server-availability.ts';
import { orUndefined } from './companions.ts';
import type { ResourceContext } from './context.ts';
import { companionClient, type CompanionKind, type ConfigMap, type Secret } from './core-clients.ts';
import { belongsTo, isStagedFor, ownerReferenceTo, stageMarks, stageOf, withoutMarks, type Stage } from './staging.ts';
import type { Step } from './write-steps.ts';

type OfEach<V> = Readonly<Partial<Record<CompanionKind, V>>>;

/** Keys of Secrets and ConfigMaps that a spec refers to. */
export type CompanionRefs = OfEach<readonly KeyRef[]>;

/** New values for a Secret or ConfigMap, by key. */
export interface NewValues {
  readonly name: string;
  readonly pending: ReadonlyMap<string, string>;
  /**
   * Resource version in which the Secret or ConfigMap must still be, null where there must be none. It is for a key that every request
   * names alike: read before the state of the object is checked, it keeps a late request from overwriting a value that is in use.
   */
  readonly expected?: { readonly key: string; readonly version: string | null } | undefined;
}

interface ValueWrite extends NewValues {
  readonly kind: CompanionKind;
  readonly namespace: string;
  /** Keys that the object refers to now and no longer will. */
  readonly replaced: readonly string[];
  readonly for: Stage['for'];
  /** Absent while the object itself isn't there yet. */
  readonly owner: Stored<KubeObject> | undefined;
}

export interface ValueChange extends Pick<ValueWrite, 'namespace' | 'for' | 'owner'> {
  readonly companions: OfEach<NewValues>;
  readonly before: CompanionRefs;
  readonly after: CompanionRefs;
}

/** Plans the new values in one place, and in each place the removal of keys that nothing refers to any more. */
export function planValueWrites({ companions, before, after, ...common }: ValueChange): readonly ValueWrite[] {
  const { for: whose, owner } = common;
  const usual = companionName(whose.kind, whose.name);
  const places = owner === undefined ? [usual] : [usual, ownCompanionName(whose.kind, whose.name, owner.metadata.uid)];
  return (['Secret', 'ConfigMap'] as const).flatMap((kind) => {
    const { name: destination = usual, pending = new Map<string, string>(), expected } = companions[kind] ?? {};
    const used = new Set(after[kind]?.map(refId));
    return places.flatMap((name): ValueWrite[] => {
      const replaced = (before[kind] ?? []).filter((ref) => ref.name === name && !used.has(refId(ref))).map(({ key }) => key);
      const arriving = name === destination ? { pending, expected } : { pending: new Map<string, string>() };
      return arriving.pending.size + replaced.length > 0 ? [{ ...common, kind, name, replaced, ...arriving }] : [];
    });
  });
}

interface Staged {
  readonly object: Stored<KubeObject>;
  /** `shared` where another request that makes an object of the same name has created it, and hasn't finished. */
  readonly origin: 'created' | 'shared' | 'existing';
}

/** Stages the values of one write before the object refers to them, and commits them after. */
export class StagedValues {
  readonly kind: CompanionKind;
  /** Writes the values, marked as staged. Undefined where there is nothing to write, and nothing to mark either. */
  readonly stage: Step<Staged | undefined>;
  /** Takes the marks off, and the replaced keys away. Results in the resource version of what was written, if anything was. */
  readonly commit: Step<string | undefined>;
  readonly #clock: Clock;
  readonly #client: ResourceClient<Secret & ConfigMap>;
  readonly #write: ValueWrite;
  /** Values in the API's form: those of a Secret in base64. */
  readonly #data: Readonly<Record<string, string>>;

  /** @param object the step that makes the object refer to them */
  constructor(context: Pick<ResourceContext, 'clients' | 'clock'>, write: ValueWrite, object: Step<Stored<KubeObject>>) {
    const { kind, pending } = write;
    this.kind = kind;
    this.stage = { run: (_, dryRun) => this.#stage(dryRun), undo: async (staged) => staged && this.#discard(staged) };
    this.commit = {
      run: async (resultOf) => {
        const staged = resultOf(this.stage);
        return staged && this.#commit(staged, resultOf(object));
      },
    };
    this.#clock = context.clock;
    this.#client = companionClient(context.clients, kind);
    this.#write = write;
    const text = (value: string): string => (kind === 'Secret' ? Buffer.from(value).toString('base64') : value);
    this.#data = Object.fromEntries([...pending].map(([key, value]) => [key, text(value)]));
  }

  async #stage(dryRun: boolean): Promise<Staged | undefined> {
    const { kind, namespace, name, owner, pending, replaced, for: whose, expected } = this.#write;
    const marks = stageMarks({ for: whose, at: new Date(this.#clock.now()).toISOString(), keys: [...pending.keys(), ...replaced] });
    if (owner !== undefined && pending.size === 0) {
      const existing = await orUndefined(this.#client.get({ namespace, name }));
      if (existing === undefined || !belongsTo(existing, owner)) return undefined;
    }
    const state = typeof expected?.version === 'string' ? { resourceVersion: expected.version } : {};
    const patch = () => this.#client.patch(this.#write, { data: this.#data, metadata: { ...marks, ...state } }, { dryRun });
    const patched = owner === undefined || expected?.version === null ? undefined : await orUndefined(patch());
    if (patched !== undefined) return { object: patched, origin: 'existing' };
    if (pending.size === 0) return undefined;
    const labels = { ...marks.labels, [wellKnown.companionOf]: whose.kind.toLowerCase() };
    const metadata = { namespace, name, ...marks, labels, ...(owner && { ownerReferences: [ownerReferenceTo(owner)] }) };
    try {
      return { object: await this.#client.create({ apiVersion: 'v1', kind, metadata, data: this.#data }, { dryRun }), origin: 'created' };
    } catch (error) {
      if (!(error instanceof KubeError && error.reason === 'AlreadyExists')) throw error;
      if (expected !== undefined) throw new KubeError({ code: 409, reason: 'Conflict', message: error.message, cause: error });
      const isShared = owner === undefined && isStagedFor(await this.#client.get({ namespace, name }), whose);
      return { object: await patch(), origin: isShared ? 'shared' : 'existing' };
    }
  }

  async #commit(staged: Staged, object: Stored<KubeObject>): Promise<string> {
    const { replaced, expected, owner } = this.#write;
    const metadata = staged.origin === 'existing' ? {} : { ownerReferences: [ownerReferenceTo(object)] };
    // The object refers to this value, so a value that others have staged over it will never be used.
    const own = Object.entries(this.#data).filter(([key]) => key === expected?.key);
    const dataOf = (now: Stored<KubeObject>): object => ({
      ...Object.fromEntries(own.filter(([key]) => stageOf(now)?.keys.includes(key))),
      ...withoutKeys(replaced),
    });
    try {
      return (await this.#unmark(staged, dataOf, metadata)).metadata.resourceVersion;
    } catch (error) {
      // A new object is there with its values, and a client that tries again would make a second one: the sweeper does the rest.
      if (owner !== undefined || !isAway(error)) throw error;
      return staged.object.metadata.resourceVersion;
    }
  }

  /** Removes values that this request has staged and will never use. */
  async #discard(staged: Staged): Promise<void> {
    const { namespace, name, pending, expected } = this.#write;
    const { uid, resourceVersion } = staged.object.metadata;
    // Others may name this key alike: the sweeper asks the object whether the key is in use.
    const data = withoutKeys([...pending.keys()].filter((key) => key !== expected?.key));
    if (expected === undefined && staged.origin === 'existing') return void (await this.#unmark(staged, () => data));
    if (expected === undefined && staged.origin === 'created')
      try {
        return await this.#client.delete({ namespace, name }, { uid, resourceVersion });
      } catch (error) {
        if (!isStale(error)) throw error;
      }
    // Other requests make an object of this name as well: one of them takes the mark off, or the sweeper removes the rest.
    if (Object.keys(data).length > 0) await this.#client.patch(this.#write, { data });
  }

  /** Takes the marks off, and changes the data in the same write. Values that another request has staged here meanwhile stay its own. */
  async #unmark({ object }: Staged, dataOf: (now: Stored<KubeObject>) => object, change: object = {}): Promise<Stored<KubeObject>> {
    const { namespace, name } = this.#write;
    for (let now = object; ; now = await this.#client.get({ namespace, name })) {
      const marks = now === object ? withoutMarks : {};
      const metadata = { ...change, ...marks, resourceVersion: now.metadata.resourceVersion };
      try {
        return await this.#client.patch(this.#write, { data: dataOf(now), metadata });
      } catch (error) {
        if (!isStale(error)) throw error;
      }
    }
  }
}

/** Returns whether a write failed because the object changed since it was read, or exists where none was expected. */
export const isStale = (error: unknown): boolean => error instanceof KubeError && error.staleConflict;

/** Makes the part of a merge patch that removes keys. */
function withoutKeys(keys: readonly string[]): Readonly<Record<string, null>> {
  return Object.fromEntries(keys.map((key) => [key, null]));
}
