/**
 * Learns which keys a referenced Secret or ConfigMap has. Metadata doesn't say, so the object is read once for each of
 * its versions; of a Secret only the names of its keys and keyed digests are kept, never the values.
 */
import { createHmac } from 'node:crypto';

import {
  compareResourceVersions,
  KubeError,
  ResourceClient,
  wentBack,
  type Change,
  type KubeObject,
  type Stored,
  type Transport,
} from '../../kube/index.ts';
import { wellKnown } from '../../crds/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { LruMap } from '../../platform/lru.ts';
import type { ConfigText, DataObject, UnusableKeys } from '../references/cluster-snapshot.ts';
import { readConfigText } from '../references/memory-snapshot.ts';
import { DATA_DESCRIPTORS, FIELD_MANAGER, type DataKind } from './namespace-informers.ts';
import { UnsettledError } from './unsettled-error.ts';

interface DataPayload extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

type Present = Extract<DataObject, { readonly state: 'present' }>;

/** A Secret or ConfigMap with its keys; with the texts that were asked for. */
export interface DataFacts<O extends DataObject = DataObject> {
  readonly object: O;
  readonly texts: ReadonlyMap<string, ConfigText>;
}

export interface KeyReaderOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /**
   * Returns the key that the values of a namespace's Secrets are hashed with, for revisions keep the digests: without it nobody can try what a
   * short password may have been.
   */
  readonly digestKeyOf: (namespace: string) => string;
  /** Checks the values of a Secret, in base64. */
  readonly unusableKeys: (data: Readonly<Record<string, string>>) => UnusableKeys;
}

const ENTRIES_LIMIT = 20_000;
/** Characters of prompts and sources that are remembered, over all ConfigMaps. */
const TEXT_LIMIT = 16 * 1024 * 1024;

/**
 * A refusal counts once it has lasted this long, in milliseconds: an API server that has just started refuses
 * everything until it has read the roles, and that must not ask for a person.
 */
const REFUSAL_MS = 10_000;
/** Time between two reads of something refused that doesn't count yet, in milliseconds. */
const REFUSAL_RETRY_MS = 1_000;

const ABSENT: DataFacts = { object: { state: 'absent' }, texts: new Map() };
const FORBIDDEN: DataFacts = { object: { state: 'forbidden' }, texts: new Map() };

export class KeyReader {
  readonly #options: KeyReaderOptions;
  readonly #clients: Readonly<Record<DataKind, ResourceClient<DataPayload>>>;
  readonly #known = new LruMap<string, DataFacts<Present>>(ENTRIES_LIMIT, { limit: TEXT_LIMIT, weigh: factsSize });
  /** Time since which an object has been refused without a break, in monotonic milliseconds. */
  readonly #refusedSince = new LruMap<string, number>(ENTRIES_LIMIT);

  constructor(options: KeyReaderOptions) {
    const { transport } = options;
    this.#options = options;
    const client = (kind: DataKind): ResourceClient<DataPayload> =>
      new ResourceClient<DataPayload>({ transport, descriptor: DATA_DESCRIPTORS[kind], fieldManager: FIELD_MANAGER });
    this.#clients = { Secret: client('Secret'), ConfigMap: client('ConfigMap') };
  }

  /**
   * @param seen - the object as the informer has it
   * @param texts - keys of a ConfigMap whose text is wanted
   * @throws KubeError when the API server doesn't answer
   * @throws UnsettledError when it refuses, and has not done so for long
   */
  async read(kind: DataKind, seen: Stored<KubeObject>, texts: readonly string[], signal: AbortSignal): Promise<DataFacts> {
    const { namespace = '', name } = seen.metadata;
    const id = dataKey(kind, seen.metadata);
    const known = this.#known.get(id);
    if (known !== undefined && isCurrent(known, seen) && texts.every((key) => known.texts.has(key))) return known;
    try {
      const payload = await this.#clients[kind].get({ namespace, name }, { signal, timeoutMs: 10_000 });
      this.#refusedSince.delete(id);
      // Objects that share a ConfigMap must not push each other's texts out.
      const facts = this.#factsOf(kind, payload, [...new Set([...(known?.texts.keys() ?? []), ...texts])]);
      this.#known.set(id, facts);
      return facts;
    } catch (error) {
      this.#known.delete(id);
      if (!(error instanceof KubeError)) throw error;
      if (error.code === 403) return this.#refused(id, error.message);
      if (!error.notFound) throw error;
      this.#refusedSince.delete(id);
      return ABSENT;
    }
  }

  /** Forgets what was read of an object that is gone or went back: it is of no use, though its version is higher. */
  saw(kind: DataKind, change: Change<Stored<KubeObject>>): void {
    if (change.type === 'deleted' || wentBack(change)) this.forget(kind, change.object.metadata);
  }

  /** Forgets what another read contradicts: the next one asks the API server. */
  forget(kind: DataKind, metadata: KubeObject['metadata']): void {
    this.#known.delete(dataKey(kind, metadata));
  }

  #refused(id: string, message: string): DataFacts {
    const now = this.#options.clock.monotonic();
    const since = this.#refusedSince.get(id) ?? now;
    if (now - since >= REFUSAL_MS) return FORBIDDEN;
    this.#refusedSince.set(id, since);
    throw new UnsettledError(message, REFUSAL_RETRY_MS);
  }

  #digestsOf({ namespace = '' }: KubeObject['metadata'], data: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
    const digestKey = this.#options.digestKeyOf(namespace);
    return new Map(Object.entries(data).map(([key, value]) => [key, createHmac('sha256', digestKey).update(value).digest('hex')]));
  }

  #factsOf(kind: DataKind, { metadata, data = {}, binaryData = {} }: Stored<DataPayload>, texts: readonly string[]): DataFacts<Present> {
    const keys = new Set([...Object.keys(data), ...Object.keys(binaryData)]);
    const signingExpiry = metadata.annotations?.[wellKnown.signingExpiry];
    const companionOf = metadata.labels?.[wellKnown.companionOf];
    return {
      object: {
        state: 'present',
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
        keys,
        owners: (metadata.ownerReferences ?? []).map((owner) => owner.uid),
        ...(kind === 'Secret' && { unusable: this.#options.unusableKeys(data), digests: this.#digestsOf(metadata, data) }),
        ...(signingExpiry !== undefined && { signingExpiry }),
        ...(companionOf !== undefined && { companionOf }),
      },
      texts: new Map(texts.map((key) => [key, keys.has(key) ? readConfigText(data, key) : { state: 'absent' }])),
    };
  }
}

function dataKey(kind: DataKind, { namespace = '', name }: KubeObject['metadata']): string {
  return `${kind}/${namespace}/${name}`;
}

/** Whether what was read may be used: it may be newer than what the informer has seen, not older. */
function isCurrent({ object: known }: DataFacts<Present>, seen: Stored<KubeObject>): boolean {
  return known.uid === seen.metadata.uid && compareResourceVersions(known.resourceVersion, seen.metadata.resourceVersion) >= 0;
}

function factsSize(known: DataFacts): number {
  let size = 0;
  for (const text of known.texts.values()) if (text.state === 'text') size += text.text.length;
  return size;
}
