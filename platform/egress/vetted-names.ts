/** Names with the addresses that they may be called at, kept as long as DNS says. */
import type { Clock } from '../clock.ts';
import { LruMap } from '../lru.ts';
import { type Address, parseAddress } from './address.ts';
import type { AddressPolicy } from './address-policy.ts';
import { EgressError } from './egress-error.ts';
import type { NameResolver } from './name-resolver.ts';
import { allowedLoopbacks, isLocalhost, publicOnly, type Target } from './target.ts';

/** Longest time that an answer is kept, in seconds, however long its TTL. */
const longestSeconds = 30;

interface Entry {
  readonly expiresAt: number;
  readonly addresses: readonly Address[];
  readonly objection?: string;
}

export class VettedNames {
  readonly #resolver: NameResolver;
  readonly #policy: AddressPolicy;
  readonly #clock: Clock;
  readonly #cure: string;
  readonly #known = new LruMap<string, Entry>(10_000);
  readonly #asking = new Map<string, Promise<Entry>>();

  /** @param options.cure what a refusal ends with; {@link publicOnly} where absent */
  constructor(options: { readonly resolver: NameResolver; readonly policy: AddressPolicy; readonly clock: Clock; readonly cure?: string }) {
    this.#resolver = options.resolver;
    this.#policy = options.policy;
    this.#clock = options.clock;
    this.#cure = options.cure ?? publicOnly;
  }

  /** The addresses of a name that was asked for lately; undefined when DNS has to be asked. */
  known(target: Target): readonly Address[] | undefined {
    const given = target.literal ?? target.fixed;
    if (given !== undefined) return [given];
    if (isLocalhost(target.hostname)) return allowedLoopbacks(this.#policy, target.port);
    const entry = this.#known.get(target.hostname);
    return entry === undefined || entry.expiresAt <= this.#clock.monotonic() ? undefined : this.#checked(entry, target);
  }

  /**
   * Asks DNS, once for all who ask at the same time.
   *
   * @throws EgressError `forbidden_address` when any answer is forbidden: a name with two faces is not to be trusted with one
   */
  async ask(target: Target): Promise<readonly Address[]> {
    const name = target.hostname;
    let asking = this.#asking.get(name);
    if (asking === undefined) {
      asking = this.#ask(name).finally(() => this.#asking.delete(name));
      this.#asking.set(name, asking);
    }
    return this.#checked(await asking, target);
  }

  async #ask(name: string): Promise<Entry> {
    const answer = await this.#resolver.resolve(name);
    const addresses = answer.addresses.map(parseAddress);
    const objection = addresses
      .map((address) => (address === undefined ? 'not an address' : this.#policy.objection(address)))
      .find((reason) => reason !== undefined);
    const entry: Entry = {
      expiresAt: this.#clock.monotonic() + Math.min(answer.ttlSeconds, longestSeconds) * 1000,
      addresses: addresses.filter((address) => address !== undefined),
      ...(objection === undefined ? {} : { objection }),
    };
    this.#known.set(name, entry);
    return entry;
  }

  #checked(entry: Entry, target: Target): readonly Address[] {
    const objection = entry.objection ?? entry.addresses.map((address) => this.#policy.objection(address, target.port)).find(Boolean);
    if (objection === undefined) return entry.addresses;
    throw new EgressError({
      kind: 'forbidden_address',
      phase: 'dns',
      host: target.host,
      // Without the address: what internal names resolve to must not leak outside.
      message: `${target.hostname} resolves to an address that is not on the public internet (${objection}): ${this.#cure}`,
    });
  }
}
