/**
 * Learns which keys a referenced Secret or ConfigMap has. Metadata doesn't say, so the object is read once for each of
 * its versions; of a Secret only the names of its keys are kept, and the values are let go before this module returns.
 */
import { compareResourceVersions, KubeError, ResourceClient, type KubeObject, type Stored, type Transport } from '../../kube/index.ts';
import { wellKnown } from '../../crds/index.ts';
import { textOf } from '../references/memory-snapshot.ts';
import type { ConfigText, KeyedObject, UnfitKeys } from '../references/cluster-snapshot.ts';
import { unfitKeys } from '../webhook-subscription/signing-keys.ts';
import { systemClock, type Clock } from '../../platform/clock.ts';
import { FIELD_MANAGER } from '../caches.ts';
import { keyedDescriptors, type KeyedKind } from './namespace-informers.ts';
import { UnsettledError } from './unsettled.ts';

interface KeyedPayload extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** A version of a Secret or ConfigMap with its keys; with the texts that were asked for. */
interface Known {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly keys: ReadonlySet<string>;
  readonly owners: readonly string[];
  readonly unfit?: UnfitKeys;
  readonly signingExpiry?: string;
  readonly texts: ReadonlyMap<string, ConfigText>;
}

export interface KeyedFacts {
  readonly object: KeyedObject;
  readonly texts: ReadonlyMap<string, ConfigText>;
}

/** Objects whose keys are remembered. */
const ENTRIES_LIMIT = 20_000;
/** Characters of prompts and sources that are remembered, over all ConfigMaps. */
const TEXT_LIMIT = 16 * 1024 * 1024;

/**
 * A refusal counts once it has lasted this long, in milliseconds: an API server that has just started refuses
 * everything until it has read the roles, and that must not call for a person.
 */
const DENIAL_MS = 10_000;
/** Between two looks at something refused that doesn't count yet, in milliseconds. */
const DENIAL_RETRY_MS = 1_000;

const ABSENT: KeyedFacts = { object: { state: 'absent' }, texts: new Map() };
const FORBIDDEN: KeyedFacts = { object: { state: 'forbidden' }, texts: new Map() };

export class KeyReader {
  readonly #clients: Readonly<Record<KeyedKind, ResourceClient<KeyedPayload>>>;
  /** Least recently used first. */
  readonly #known = new Map<string, Known>();
  readonly #clock: Clock;
  /** Since when what is refused has been refused without a break, in monotonic milliseconds. */
  readonly #denied = new Map<string, number>();
  #textSize = 0;

  constructor(transport: Transport, clock: Clock = systemClock) {
    this.#clock = clock;
    const client = (kind: KeyedKind): ResourceClient<KeyedPayload> =>
      new ResourceClient<KeyedPayload>({ transport, descriptor: keyedDescriptors[kind], fieldManager: FIELD_MANAGER });
    this.#clients = { Secret: client('Secret'), ConfigMap: client('ConfigMap') };
  }

  /**
   * @param seen - the object as the informer has it
   * @param texts - keys of a ConfigMap whose text is wanted
   * @throws KubeError when the API server doesn't answer
   * @throws UnsettledError when it refuses and has not done so for long
   */
  async read(kind: KeyedKind, seen: Stored<KubeObject>, texts: readonly string[], signal: AbortSignal): Promise<KeyedFacts> {
    const { namespace = '', name } = seen.metadata;
    const id = `${kind}/${namespace}/${name}`;
    const known = this.#known.get(id);
    if (known !== undefined && isCurrent(known, seen) && texts.every((key) => known.texts.has(key))) {
      this.#known.delete(id);
      this.#known.set(id, known);
      return factsOf(known);
    }
    try {
      const payload = await this.#clients[kind].get({ namespace, name }, { signal, timeoutMs: 10_000 });
      this.#denied.delete(id);
      // Those that share a ConfigMap must not push each other's texts out.
      const fresh = digest(kind, payload, [...new Set([...(known?.texts.keys() ?? []), ...texts])]);
      this.#remember(id, fresh);
      return factsOf(fresh);
    } catch (error) {
      this.#forget(id);
      if (!(error instanceof KubeError)) throw error;
      if (error.code === 403) return this.#refused(id, error.message);
      if (!error.notFound) throw error;
      this.#denied.delete(id);
      return ABSENT;
    }
  }

  #refused(id: string, message: string): KeyedFacts {
    const now = this.#clock.monotonic();
    const since = this.#denied.get(id);
    if (since !== undefined && now - since >= DENIAL_MS) return FORBIDDEN;
    if (since === undefined) {
      this.#denied.set(id, now);
      for (const [oldest] of this.#denied) {
        if (this.#denied.size <= ENTRIES_LIMIT) break;
        this.#denied.delete(oldest);
      }
    }
    throw new UnsettledError(message, DENIAL_RETRY_MS);
  }

  #remember(id: string, fresh: Known): void {
    this.#forget(id);
    this.#known.set(id, fresh);
    this.#textSize += sizeOf(fresh);
    for (const [oldest] of this.#known) {
      if (this.#known.size <= ENTRIES_LIMIT && this.#textSize <= TEXT_LIMIT) break;
      if (oldest !== id) this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    const known = this.#known.get(id);
    if (known === undefined) return;
    this.#textSize -= sizeOf(known);
    this.#known.delete(id);
  }
}

/** What was read may be newer than what the informer has seen; an older one is of no use. */
function isCurrent(known: Known, seen: Stored<KubeObject>): boolean {
  return known.uid === seen.metadata.uid && compareResourceVersions(known.resourceVersion, seen.metadata.resourceVersion) >= 0;
}

function digest(kind: KeyedKind, payload: Stored<KeyedPayload>, texts: readonly string[]): Known {
  const keys = new Set([...Object.keys(payload.data ?? {}), ...Object.keys(payload.binaryData ?? {})]);
  const signingExpiry = payload.metadata.annotations?.[wellKnown.signingExpiry];
  return {
    uid: payload.metadata.uid,
    resourceVersion: payload.metadata.resourceVersion,
    keys,
    owners: (payload.metadata.ownerReferences ?? []).map((owner) => owner.uid),
    ...(kind === 'Secret' && { unfit: unfitKeys(payload.data ?? {}) }),
    ...(signingExpiry !== undefined && { signingExpiry }),
    texts: new Map(texts.map((key) => [key, keys.has(key) ? textOf(payload.data, key) : { state: 'absent' }])),
  };
}

function factsOf(known: Known): KeyedFacts {
  const { texts, ...object } = known;
  return { object: { state: 'present', ...object }, texts };
}

function sizeOf(known: Known): number {
  let size = 0;
  for (const text of known.texts.values()) if (text.state === 'text') size += text.text.length;
  return size;
}
