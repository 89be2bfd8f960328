/**
 * Queries DNS servers one after the other, with retries, and still accepts answers to earlier queries: the resolver
 * below drops a query when it retries, and so never gets the answer of a server that is only slow.
 */
import { getServers, promises as dns } from 'node:dns';

import { errorCodeOf } from '../caught.ts';
import type { Clock, Timer } from '../clock.ts';

const QUERY_TIMEOUT_MS = 5_500;
/** Time until the next server is queried, or the same one again, in milliseconds. */
const AGAIN_MS = 1_500;
/** Minimum number of queries for a name. */
const LEAST_TRIES = 3;

/** The resolver itself gives these codes when no answer came. */
const silence = new Set(['ECONNREFUSED', 'ETIMEOUT', 'ECANCELLED', 'EDESTRUCTION', 'EHOSTUNREACH', 'ENETUNREACH']);
/** With these codes the name has no such records: no other server knows better. */
const absence = new Set(['ENOTFOUND', 'ENODATA']);

export const isSilence = (code: string | undefined): boolean => code !== undefined && silence.has(code);
export const isAbsence = (code: string | undefined): boolean => code !== undefined && absence.has(code);
export interface DnsServersOptions {
  /** Servers, `address` or `address:port` each; those of the operating system where empty. */
  readonly servers: readonly string[];
  readonly clock: Clock;
  /** Called for each answer, including late ones and refusals. */
  readonly onAnswer: () => void;
  /** How long an answer is accepted, in milliseconds; 5,500 by default. It is measured by the machine's time, whatever the clock. */
  readonly queryTimeoutMs?: number;
}

export class DnsServers {
  readonly #servers: readonly string[];
  readonly #clock: Clock;
  readonly #onAnswer: () => void;
  readonly #queryTimeoutMs: number;

  constructor({ servers, clock, onAnswer, queryTimeoutMs = QUERY_TIMEOUT_MS }: DnsServersOptions) {
    this.#clock = clock;
    this.#queryTimeoutMs = queryTimeoutMs;
    this.#onAnswer = onAnswer;
    this.#servers = servers.length > 0 ? servers : getServers();
  }

  /**
   * Returns the first answer. Rejects as the resolver does: at once where the name has no records, otherwise when all servers have failed,
   * preferring an error that a server sent over a timeout.
   */
  ask<T>(question: (resolver: dns.Resolver) => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const count = this.#servers.length;
    let tries = 0;
    let open = 0;
    let settled = false;
    let worst: unknown;
    let timer: Timer | undefined;

    const settle = (end: () => void): void => {
      settled = true;
      timer?.cancel();
      end();
    };
    const onAnswer = (answer: T): void => {
      this.#onAnswer();
      if (!settled) settle(() => resolve(answer));
    };
    const onError = (error: unknown): void => {
      open -= 1;
      const code = errorCodeOf(error);
      if (!isSilence(code)) this.#onAnswer();
      if (settled) return;
      if (isAbsence(code)) {
        settle(() => reject(error));
        return;
      }
      if (worst === undefined || isSilence(errorCodeOf(worst))) worst = error;
      // In a process that stood still, the time of a query may be over before the next one was sent.
      if (tries < count || (code === 'ETIMEOUT' && tries < LEAST_TRIES)) tryNext();
      else if (open === 0) settle(() => reject(worst));
    };
    const tryNext = (): void => {
      timer?.cancel();
      const server = this.#servers[tries % count];
      if (server === undefined) {
        settle(() => reject(Object.assign(new Error('no DNS server is configured'), { code: 'ECONNREFUSED' })));
        return;
      }
      tries += 1;
      open += 1;
      question(resolverOf(server, this.#queryTimeoutMs)).then(onAnswer, onError);
      if (tries < Math.max(LEAST_TRIES, count)) timer = this.#clock.after(AGAIN_MS, tryNext);
    };

    tryNext();
    return promise;
  }
}

/**
 * Makes one resolver for each query. c-ares remembers how fast a server answered its last queries and gives up on the next one after five
 * times that, 250 ms at least, whatever the timeout says: a slow name would fail after a few fast ones.
 */
function resolverOf(server: string, timeoutMs: number): dns.Resolver {
  const resolver = new dns.Resolver({ timeout: timeoutMs, maxTimeout: timeoutMs, tries: 1 });
  resolver.setServers([server]);
  return resolver;
}
