/** The Secret and the ConfigMap that the facade keeps for an object: values that don't belong in a spec. */
import { wellKnown } from '../../crds/index.ts';
import { KubeError } from '../../kube/error.ts';
import type { ResourceClient } from '../../kube/resource-client.ts';
import { secretText } from '../../kube/secret-reader.ts';
import type { Transport } from '../../kube/transport.ts';
import type { KubeObject, Stored } from '../../kube/types.ts';
import type { Clock } from '../../platform/clock.ts';
import { LruMap } from '../../platform/lru.ts';
import { companionName, masked, ownCompanionName, refId, unmaskedReader, type KeyRef, type SecretValues } from '../codec/secrets.ts';
import { isAway, type ApiServerAvailability } from './api-server-availability.ts';
import type { ConfigMap, CoreClients, Secret } from './core-clients.ts';
import { mergePatch } from './merge-patch.ts';
import { ownerReferenceTo, stageMarks, stageOf, withoutMarks, type Stage } from './staging.ts';

/** Long texts that are kept for the time when they can't be read: 16 Mi characters. */
const REMEMBERED_CHARACTERS = 16 * 1024 * 1024;
/** The longest prompt, in characters. */
const LONGEST_TEXT = 128 * 1024;

export type CompanionKind = 'Secret' | 'ConfigMap';

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
export interface Replacement {
  readonly kind: CompanionKind;
  readonly namespace: string;
  readonly for: Stage['for'];
  readonly owner: Stored<KubeObject> | undefined;
  /** Where `values` go, as {@link Companions.nameFor} answered. */
  readonly name: string;
  readonly values: ReadonlyMap<string, string>;
  readonly expected?: NewValues['expected'];
  readonly before: readonly KeyRef[];
  readonly after: readonly KeyRef[];
}

/** The writes that `replacement` takes: new values in one place, and each place rid of the keys that nothing refers to any more. */
export function companionWrites({ before, after, name, values, expected, ...common }: Replacement): readonly NewValues[] {
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

/** Values that are written and not yet in use. Exactly one of the two is called. */
export interface StagedValues {
  readonly kind: CompanionKind;
  /**
   * They are in use now: `owner` refers to them, and to the replaced ones no more.
   * @returns the resource version of the Secret or ConfigMap, where there was something to write
   */
  commit(owner: Stored<KubeObject>): Promise<string | undefined>;
  /** This request will never use them. */
  discard(): Promise<void>;
}

interface Written {
  readonly object: Stored<KubeObject>;
  /** Shared: another request that makes an object of the same name has created it, and hasn't finished. */
  readonly origin: 'created' | 'shared' | 'found';
}

export class Companions {
  readonly #clients: CoreClients;
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #availability: ApiServerAvailability;
  /** Long texts that were read, for the time when they can't be. Secrets are never kept. */
  readonly #texts = new LruMap<string, string>(Infinity, { limit: REMEMBERED_CHARACTERS, weigh: (text) => text.length });

  constructor(options: {
    readonly clients: CoreClients;
    readonly transport: Transport;
    readonly clock: Clock;
    readonly availability: ApiServerAvailability;
  }) {
    this.#clients = options.clients;
    this.#transport = options.transport;
    this.#clock = options.clock;
    this.#availability = options.availability;
  }

  /** Values by {@link refId}; a missing object or key is left out. */
  async readSecrets(namespace: string, refs: readonly KeyRef[]): Promise<ReadonlyMap<string, string>> {
    const names = [...new Set(refs.map(({ name }) => name))];
    const secrets = await Promise.all(names.map((name) => orUndefined(this.#clients.secrets.get({ namespace, name }))));
    const data = new Map(names.map((name, index) => [name, secrets[index]?.data]));
    return new Map(
      refs.flatMap((ref) => {
        const value = data.get(ref.name)?.[ref.key];
        return value === undefined ? [] : [[refId(ref), secretText(value)] as const];
      }),
    );
  }

  /** The same for an answer: masked while they can't be read. */
  async secretsToShow(namespace: string, refs: readonly KeyRef[]): Promise<SecretValues> {
    const values = await this.secretsIfReadable(namespace, refs);
    return values === undefined ? masked : unmaskedReader(values);
  }

  /** As {@link readSecrets}; undefined while they can't be read. Secrets are not kept for such times. */
  async secretsIfReadable(namespace: string, refs: readonly KeyRef[]): Promise<ReadonlyMap<string, string> | undefined> {
    try {
      return await this.readSecrets(namespace, refs);
    } catch (error) {
      if (!isAway(error)) throw error;
      this.#availability.answerFromMemory();
      return undefined;
    }
  }

  /** The text of one key; null where it isn't there. Where it can't be read, as it was when it was read last. */
  async readText(namespace: string, ref: KeyRef): Promise<string | null> {
    const key = `${namespace}/${refId(ref)}`;
    try {
      const map = await orUndefined(this.#clients.configMaps.get({ namespace, name: ref.name }));
      const text = map?.data?.[ref.key] ?? null;
      if (text !== null) this.#texts.set(key, text);
      return text;
    } catch (error) {
      const remembered = isAway(error) ? this.#texts.get(key) : undefined;
      if (remembered === undefined) throw error;
      this.#availability.answerFromMemory();
      return remembered;
    }
  }

  /** Reads a text for later, while there is room for it. */
  async remember(namespace: string, ref: KeyRef): Promise<void> {
    if (this.#texts.get(`${namespace}/${refId(ref)}`) !== undefined) return;
    if (this.#texts.totalWeight + LONGEST_TEXT > REMEMBERED_CHARACTERS) return;
    await this.readText(namespace, ref).catch(() => undefined);
  }

  /** Where new values of `owner` go. A Secret or ConfigMap that a person gave the usual name is never written to. */
  async nameFor(kind: CompanionKind, owner: Stored<KubeObject>): Promise<string> {
    const { namespace = '', name, uid } = owner.metadata;
    const usual = companionName(owner.kind, name);
    const found = await orUndefined(this.#client(kind).get({ namespace, name: usual }));
    return found === undefined || belongsTo(found, owner) ? usual : ownCompanionName(owner.kind, name, uid);
  }

  /** Checks with the server that the values could be written, and writes nothing. */
  async dryRun(values: NewValues): Promise<void> {
    await this.#write(values, true);
  }

  async stage(values: NewValues): Promise<StagedValues> {
    const { kind, namespace, name } = values;
    const client = this.#client(kind);
    const target = { descriptor: client.descriptor, namespace, name };
    const written = await this.#write(values, false);
    if (written === undefined) return { kind, commit: () => Promise.resolve(undefined), discard: () => Promise.resolve() };
    const { object, origin } = written;
    const { uid, resourceVersion } = object.metadata;
    const settle = async (dataOf: (now: Stored<KubeObject>) => object, metadata: object = {}): Promise<Stored<KubeObject>> => {
      for (let now = object; ; now = await client.get({ namespace, name })) {
        // Another request has staged values here meanwhile: the mark belongs to it now.
        const marks = now === object ? withoutMarks : {};
        const patch = { data: dataOf(now), metadata: { ...metadata, ...marks, resourceVersion: now.metadata.resourceVersion } };
        try {
          return await mergePatch(this.#transport, target, patch);
        } catch (error) {
          if (!isStale(error)) throw error;
        }
      }
    };
    return {
      kind,
      commit: async (owner) => {
        const metadata = origin === 'found' ? {} : { ownerReferences: [ownerReferenceTo(owner)] };
        // What others have staged over this value they will never use: the object refers to it.
        const own = Object.entries(encoded(values)).filter(([key]) => key === values.expected?.key);
        const dataOf = (now: Stored<KubeObject>): object => ({
          ...Object.fromEntries(own.filter(([key]) => stageOf(now)?.keys.includes(key))),
          ...withoutKeys(values.replaced),
        });
        try {
          return (await settle(dataOf, metadata)).metadata.resourceVersion;
        } catch (error) {
          // A new object is there with its values, and who tries again would make a second one: the sweeper does the rest.
          if (values.owner !== undefined || !isAway(error)) throw error;
          return resourceVersion;
        }
      },
      discard: async () => {
        // Of the key that others name alike the sweeper asks the object whether it is in use.
        const data = withoutKeys([...values.values.keys()].filter((key) => key !== values.expected?.key));
        if (values.expected !== undefined)
          return void (Object.keys(data).length > 0 && (await mergePatch(this.#transport, target, { data })));
        if (origin === 'found') return void (await settle(() => data));
        try {
          if (origin === 'created') return await client.delete({ namespace, name }, { uid, resourceVersion });
        } catch (error) {
          if (!isStale(error)) throw error;
        }
        // Other requests make an object of this name as well: one of them takes the mark off, or the sweeper all that is left.
        await mergePatch(this.#transport, target, { data });
      },
    };
  }

  /** @returns undefined where there is nothing to write, and nothing to mark either */
  async #write(values: NewValues, dryRun: boolean): Promise<Written | undefined> {
    const { kind, namespace, name, owner } = values;
    const expected = values.expected?.version;
    const client = this.#client(kind);
    const target = { descriptor: client.descriptor, namespace, name };
    const data = encoded(values);
    const marks = stageMarks({
      for: values.for,
      at: new Date(this.#clock.now()).toISOString(),
      keys: [...values.values.keys(), ...values.replaced],
    });
    if (owner !== undefined && values.values.size === 0) {
      const found = await orUndefined(client.get({ namespace, name }));
      if (found === undefined || !belongsTo(found, owner)) return undefined;
    }
    const state = typeof expected === 'string' ? { resourceVersion: expected } : {};
    const patch = (): Promise<Stored<KubeObject>> =>
      mergePatch(this.#transport, target, { data, metadata: { ...marks, ...state } }, { dryRun });
    const patched = owner === undefined || expected === null ? undefined : await orUndefined(patch());
    if (patched !== undefined) return { object: patched, origin: 'found' };
    if (values.values.size === 0) return undefined;
    const labels = { ...marks.labels, [wellKnown.companionOf]: values.for.kind.toLowerCase() };
    const metadata = { namespace, name, ...marks, labels, ...(owner && { ownerReferences: [ownerReferenceTo(owner)] }) };
    try {
      return { object: await client.create({ apiVersion: 'v1', kind, metadata, data }, { dryRun }), origin: 'created' };
    } catch (error) {
      if (!(error instanceof KubeError && error.reason === 'AlreadyExists')) throw error;
      if (expected !== undefined) throw new KubeError({ code: 409, reason: 'Conflict', message: error.message, cause: error });
      const isShared = owner === undefined && isStagedFor(await client.get({ namespace, name }), values.for);
      return { object: await patch(), origin: isShared ? 'shared' : 'found' };
    }
  }

  #client(kind: CompanionKind): ResourceClient<Secret & ConfigMap> {
    return kind === 'Secret' ? this.#clients.secrets : this.#clients.configMaps;
  }
}

/**
 * Parley's, for `owner`: with its owner reference, still marked as staged for it, or with the label and no owner at all, as a restore leaves it
 * until the operator has given it back.
 */
function belongsTo(companion: Stored<KubeObject>, { kind, metadata }: Stored<KubeObject>): boolean {
  if (stageOf(companion) !== undefined) return isStagedFor(companion, { kind, name: metadata.name });
  const { ownerReferences = [], labels } = companion.metadata;
  if (ownerReferences.length === 0) return labels?.[wellKnown.companionOf] === kind.toLowerCase();
  return ownerReferences.some(({ uid }) => uid === metadata.uid);
}

function isStagedFor(companion: Stored<KubeObject>, { kind, name }: Stage['for']): boolean {
  const stage = stageOf(companion);
  return stage?.for.kind === kind && stage.for.name === name;
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

/** Undefined for what isn't there. */
export async function orUndefined<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof KubeError && error.notFound) return undefined;
    throw error;
  }
}
