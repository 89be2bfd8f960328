/** Reads the Secret and the ConfigMap that the facade keeps for an object: values that don't belong in a spec. */
import { KubeError } from '../../kube/error.ts';
import { secretText } from '../../kube/secret-reader.ts';
import type { KubeObject, Stored } from '../../kube/types.ts';
import { LruMap } from '../../platform/lru.ts';
import { companionName, masked, ownCompanionName, refId, unmaskedReader, type KeyRef, type SecretValues } from '../codec/secrets.ts';
import { mayReadSecrets, type Caller } from '../http/caller.ts';
import { isAway, type ApiServerAvailability } from './api-server-availability.ts';
import { companionClient, type CompanionKind, type CoreClients } from './core-clients.ts';
import { belongsTo } from './staging.ts';

/** Characters of long texts that are kept for the time when the server can't be read: 16 Mi. */
const REMEMBERED_CHARACTERS = 16 * 1024 * 1024;
/** Length of the longest prompt, in characters. */
const LONGEST_TEXT = 128 * 1024;

export class Companions {
  readonly #clients: CoreClients;
  readonly #availability: ApiServerAvailability;
  /** Long texts that were read, for the time when the server can't be. Secrets are never kept. */
  readonly #texts = new LruMap<string, string>(Infinity, { limit: REMEMBERED_CHARACTERS, weigh: (text) => text.length });

  constructor(clients: CoreClients, availability: ApiServerAvailability) {
    this.#clients = clients;
    this.#availability = availability;
  }

  /** Returns values by {@link refId}; a missing object or key is left out. */
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

  /** Returns the secrets for an answer: masked for callers that may not see them, and while they can't be read. */
  async secretsToShow(caller: Caller, refs: readonly KeyRef[]): Promise<SecretValues> {
    const values = mayReadSecrets(caller) ? await this.secretsIfReadable(caller.org, refs) : undefined;
    return values === undefined ? masked : unmaskedReader(values);
  }

  /** Returns what {@link readSecrets} does; undefined while they can't be read. Secrets are not kept for such times. */
  async secretsIfReadable(namespace: string, refs: readonly KeyRef[]): Promise<ReadonlyMap<string, string> | undefined> {
    try {
      return await this.readSecrets(namespace, refs);
    } catch (error) {
      if (!isAway(error)) throw error;
      this.#availability.answerFromMemory();
      return undefined;
    }
  }

  /** Returns the text of one key; null where it isn't there. While the server can't be read, it is the text of the last reading. */
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

  /** Returns the name for new values of `owner`. A Secret or ConfigMap that a person gave the usual name is never written to. */
  async nameFor(kind: CompanionKind, owner: Stored<KubeObject>): Promise<string> {
    const { namespace = '', name, uid } = owner.metadata;
    const usual = companionName(owner.kind, name);
    const companion = await orUndefined(companionClient(this.#clients, kind).get({ namespace, name: usual }));
    return companion === undefined || belongsTo(companion, owner) ? usual : ownCompanionName(owner.kind, name, uid);
  }
}

export async function orUndefined<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof KubeError && error.notFound) return undefined;
    throw error;
  }
}
