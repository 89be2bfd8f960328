/** Caches names with their checked addresses, for the TTL of DNS. */
import type { Clock } from '../clock.ts';
import { LruMap } from '../lru.ts';
import { type Address, parseAddress } from './address.ts';
import type { AddressPolicy } from './address-policy.ts';
import { EgressError } from './egress-error.ts';
import type { NameResolver } from './name-resolver.ts';
import { allowedLoopbacks, isLocalhost, PUBLIC_ONLY, type Target } from './target.ts';

/** Longest time that an answer is cached, in seconds, however long its TTL. */
const LONGEST_SECONDS = 30;

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

  /** @param options.cure what a refusal tells the user to do; {@link PUBLIC_ONLY} by default */
  constructor(options: { readonly resolver: NameResolver; readonly policy: AddressPolicy; readonly clock: Clock; readonly cure?: string }) {
    this.#resolver = options.resolver;
    this.#policy = options.policy;
    this.#clock = options.clock;
    this.#cure = options.cure ?? PUBLIC_ONLY;
  }

  /** Returns the cached addresses of a name; undefined when it has to be resolved. */
  known(target: Target): readonly Address[] | undefined {
    const given = target.literal ?? target.fixed;
    if (given !== undefined) return [given];
    if (isLocalhost(target.hostname)) return allowedLoopbacks(this.#policy, target.port);
    const entry = this.#known.get(target.hostname);
    return entry === undefined || entry.expiresAt <= this.#clock.monotonic() ? undefined : this.#checked(entry, target);
  }

  /**
   * Queries DNS, once for all concurrent callers.
   *
   * @throws EgressError `forbidden_address` when any answer is forbidden: a name with allowed and forbidden addresses is not trusted
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
      expiresAt: this.#clock.monotonic() + Math.min(answer.ttlSeconds, LONGEST_SECONDS) * 1000,
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
      // The message leaves out the address: those of internal names must not leak outside.
      message: `${target.hostname} resolves to an address that is not on the public internet (${objection}): ${this.#cure}`,
    });
  }
}
