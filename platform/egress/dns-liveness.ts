/**
 * Tells a name whose own servers are slow from DNS servers of ours that are dead: both look like a question without an
 * answer. Whatever they say to anything asked meanwhile shows that they live; where a question stays open for long, one
 * is asked that every server has the answer to.
 */
import { promises as dns } from 'node:dns';

import type { Clock } from '../clock.ts';

/** How long a server has to say anything at all, in milliseconds. */
const patienceMs = 5_000;

/** These are said by the resolver itself when no answer came; everything else is an answer. */
const silence = new Set(['ECONNREFUSED', 'ETIMEOUT', 'ECANCELLED', 'EDESTRUCTION']);

export const isSilence = (code: string): boolean => silence.has(code);

export class DnsLiveness {
  readonly #clock: Clock;
  readonly #resolver: dns.Resolver;
  readonly #waiting = new Set<() => void>();
  #heardAt = -Infinity;
  /** Since when, and whether it was answered. */
  #probe: { readonly since: number; readonly answered: Promise<boolean> } | undefined;

  constructor(options: { readonly servers: readonly string[]; readonly clock: Clock }) {
    this.#clock = options.clock;
    this.#resolver = new dns.Resolver({ timeout: patienceMs, tries: 1 });
    if (options.servers.length > 0) this.#resolver.setServers([...options.servers]);
  }

  /** An answer has come, if only that there is none. */
  heard(): void {
    this.#heardAt = this.#clock.monotonic();
    for (const tell of this.#waiting) tell();
  }

  /** Asks for what every server knows, once at a time. */
  probe(): void {
    this.#probe ??= { since: this.#clock.monotonic(), answered: this.#ask() };
  }

  /** Whether any server has said anything since `since`, on the monotonic clock. Known at once in most cases, after some seconds in the worst. */
  async answeredSince(since: number): Promise<boolean> {
    const { promise: heard, resolve } = Promise.withResolvers<boolean>();
    const tell = (): void => resolve(true);
    const timer = this.#clock.after(patienceMs, () => resolve(false));
    this.#waiting.add(tell);
    try {
      while (this.#heardAt < since) {
        this.probe();
        const probe = this.#probe;
        const answered = await Promise.race([heard, probe?.answered ?? heard]);
        if (answered || probe === undefined || probe.since >= since) return answered;
      }
      return true;
    } finally {
      timer.cancel();
      this.#waiting.delete(tell);
    }
  }

  async #ask(): Promise<boolean> {
    try {
      await this.#resolver.resolveNs('.');
    } catch (error) {
      if (isSilence((error as NodeJS.ErrnoException).code ?? '')) return false;
    } finally {
      this.#probe = undefined;
    }
    this.heard();
    return true;
  }
}
