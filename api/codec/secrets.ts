/** Reads and collects secrets for codecs, without I/O: codecs receive known values, and collect those to store. */
import { createHash } from 'node:crypto';

import { companionName } from '../../crds/companion-name.ts';
import { MASK } from '../http/caller.ts';

export { companionName };

/** One key of a Secret or ConfigMap in the same namespace. */
export interface KeyRef {
  readonly name: string;
  readonly key: string;
}

export interface SecretValues {
  /** Returns the value behind `ref`, or the mask where the caller may not see it; undefined for a missing one. */
  read(ref: KeyRef): string | undefined;
  readonly unmasked: boolean;
}

export const masked: SecretValues = { read: () => MASK, unmasked: false };

/** Reads values as they are stored, for callers that may see them. */
export function unmaskedReader(values: ReadonlyMap<string, string>): SecretValues {
  return { read: (ref) => values.get(refId(ref)), unmasked: true };
}

export const refId = ({ name, key }: KeyRef): string => `${name}/${key}`;

/** Returns the id of a credential that kubectl put into the spec itself. */
export const plainId = (value: string): string => `=${value}`;

/** Collects the secrets of a request; nothing is written before the whole request is sound. */
export class SecretWriter {
  /** New values, by key. */
  readonly pending = new Map<string, string>();
  readonly name: string;
  readonly #stored: ReadonlyMap<string, string>;
  readonly #randomId: () => string;
  /** Set where the caller may read secrets, and so send them anywhere. */
  readonly mayMove: boolean;
  readonly #brought = new Set<string>();

  /**
   * @param options.name the object's own Secret
   * @param options.stored present values by {@link refId}, so that sending the same secret again changes nothing
   * @param options.mayMove whether what is stored may go to another origin without being sent again
   * @param options.randomId a few characters that no key has had yet
   */
  constructor(options: {
    readonly name: string;
    readonly stored?: ReadonlyMap<string, string>;
    readonly mayMove: boolean;
    readonly randomId: () => string;
  }) {
    this.name = options.name;
    this.mayMove = options.mayMove;
    this.#stored = options.stored ?? new Map();
    this.#randomId = options.randomId;
  }

  /**
   * Stores a value. Every new value gets a new key: the resource that refers to it switches over in one write, and until then (or when that
   * write is refused) the old value stays in use.
   */
  write(purpose: string, value: string, previous?: KeyRef): KeyRef {
    if (previous !== undefined && this.#stored.get(refId(previous)) === value) {
      this.bring(refId(previous));
      return previous;
    }
    const key = `${keyText(purpose)}-${this.#randomId()}`;
    this.pending.set(key, value);
    return { name: this.name, key };
  }

  /** The values that the write would store, by {@link refId}, for the answer to a dry run. */
  get unwritten(): ReadonlyMap<string, string> {
    return new Map(Array.from(this.pending, ([key, value]) => [refId({ name: this.name, key }), value]));
  }

  /** Notes that the request holds the stored value `id`, a {@link refId} or {@link plainId}. */
  bring(id: string): void {
    this.#brought.add(id);
  }

  brings(id: string): boolean {
    return this.#brought.has(id);
  }
}

/** Turns a text into a key of a Secret: `[-._a-zA-Z0-9]`, at most 253 characters with its suffix. */
function keyText(purpose: string): string {
  const plain = purpose.toLowerCase().replaceAll(/[^-._a-z0-9]/g, '_');
  return plain.length <= 200 ? plain : `${plain.slice(0, 180)}-${createHash('sha256').update(purpose).digest('hex').slice(0, 12)}`;
}

/** Returns the name of the Secret or ConfigMap that the facade keeps for the object `uid` where the usual name is taken. */
export function ownCompanionName(kind: string, name: string, uid: string): string {
  const usual = companionName(kind, name)
    .slice(0, 240)
    .replace(/[-.]+$/, '');
  return `${usual}-${createHash('sha256').update(uid).digest('hex').slice(0, 12)}`;
}
