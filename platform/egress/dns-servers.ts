/**
 * Puts questions to DNS servers, one after the other and more than once, and goes on to listen for the answers to the earlier ones: the
 * resolver below forgets a question when it asks again, and so never hears a server that is merely slow.
 */
import { getServers, promises as dns } from 'node:dns';

import type { Clock, Timer } from '../clock.ts';

/** How long an answer is listened for, in milliseconds. */
const QUERY_TIMEOUT_MS = 5_500;
/** How long a server has before the next one is asked, or the same once more, in milliseconds. */
const againMs = 1_500;
/** How often a question is put at least. */
const leastTries = 3;

/** Said by the resolver itself when no answer came. */
const silence = new Set(['ECONNREFUSED', 'ETIMEOUT', 'ECANCELLED', 'EDESTRUCTION', 'EHOSTUNREACH', 'ENETUNREACH']);
/** The name has no such records: no other server knows better. */
const absence = new Set(['ENOTFOUND', 'ENODATA']);

export const isSilence = (code: string): boolean => silence.has(code);
export const isAbsence = (code: string): boolean => absence.has(code);
export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? 'EUNKNOWN';

export interface DnsServersOptions {
  /** `address` or `address:port` each; those of the operating system where empty. */
  readonly servers: readonly string[];
  readonly clock: Clock;
  /** Called for each answer, including late ones and refusals. */
  readonly onAnswer: () => void;
}

export class DnsServers {
  readonly #servers: readonly string[];
  readonly #clock: Clock;
  readonly #onAnswer: () => void;

  constructor({ servers, clock, onAnswer }: DnsServersOptions) {
    this.#clock = clock;
    this.#onAnswer = onAnswer;
    this.#servers = servers.length > 0 ? servers : getServers();
  }

  /**
   * The first answer. Rejects as the resolver does: at once where the name has none, otherwise when all servers have failed, rather with what one
   * of them said than with silence.
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
      const code = codeOf(error);
      if (!isSilence(code)) this.#onAnswer();
      if (settled) return;
      if (isAbsence(code)) {
        settle(() => reject(error));
        return;
      }
      if (worst === undefined || isSilence(codeOf(worst))) worst = error;
      if (tries < count) tryNext();
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
      question(resolverOf(server)).then(onAnswer, onError);
      if (tries < Math.max(leastTries, count)) timer = this.#clock.after(againMs, tryNext);
    };

    tryNext();
    return promise;
  }
}

/**
 * One for each question. c-ares remembers how fast a server answered its last questions and gives up on the next one after five times that,
 * 250 ms at the least, whatever the timeout says: a name that takes long would be lost behind a few that don't.
 */
function resolverOf(server: string): dns.Resolver {
  const resolver = new dns.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: 1 });
  resolver.setServers([server]);
  return resolver;
}
