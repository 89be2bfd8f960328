/**
 * Asks DNS for the addresses of a name. It doesn't ask the operating system, whose lookups share four threads, search domains and a hosts
 * file.
 */
import { promises as dns } from 'node:dns';

import { errorCodeOf } from '../caught.ts';
import { withTimeout, type Clock } from '../clock.ts';
import { DnsLiveness } from './dns-liveness.ts';
import { DnsServers, isAbsence, isSilence } from './dns-servers.ts';
import { EgressError } from './egress-error.ts';

export interface NameAnswer {
  /** Addresses, IPv4 first; at least one. */
  readonly addresses: readonly string[];
  /** How long the answer holds, in seconds: the least of the records. */
  readonly ttlSeconds: number;
}

export interface NameResolver {
  /**
   * @param name absolute, without the final dot
   * @throws EgressError `dns` or `dns_unavailable`
   */
  resolve(name: string): Promise<NameAnswer>;
  /**
   * Returns the hosts that the SRV records of a service name, such as `_sip._udp.example.com`; none where there are no records or no
   * answer. Absent: no service has any.
   */
  servers?(service: string): Promise<readonly string[]>;
  /**
   * Tells whether DNS works at all: anything has been answered since then, on the monotonic clock. May take seconds to find out. Absent:
   * it always does.
   */
  answeredSince?(since: number): Promise<boolean>;
}

/**
 * Reads `10.0.0.53`, `10.0.0.53:5353`, `[fd00::53]:53`.
 *
 * @throws RangeError for anything else: a name, for one, would have to be looked up first
 */
export function parseDnsServer(text: string): void {
  try {
    new dns.Resolver().setServers([text]);
  } catch {
    throw new RangeError(`${JSON.stringify(text)} is no DNS server: write its address, or address:port`);
  }
}

/** How long a question is open before another one shows whether anybody listens, in milliseconds. */
const SLOW_MS = 250;

/** How long an answer with IPv4 addresses waits for the IPv6 ones, in milliseconds: many name servers never answer those. */
const GRACE_MS = 100;

type Family =
  | { readonly outcome: 'found'; readonly records: readonly { readonly address: string; readonly ttl: number }[] }
  | { readonly outcome: 'none' }
  | { readonly outcome: 'failed'; readonly code: string };

/** @param options.servers `address` or `address:port` each; those of the operating system where absent or empty */
export function createNameResolver(options: { readonly servers?: readonly string[]; readonly clock: Clock }): NameResolver {
  const { clock } = options;
  const servers = new DnsServers({ servers: options.servers ?? [], clock, onAnswer: () => liveness.heard() });
  const liveness = new DnsLiveness({ ask: () => servers.ask((resolver) => resolver.resolveNs('.')), clock });

  const family = async (query: Promise<readonly { address: string; ttl: number }[]>): Promise<Family> => {
    try {
      const records = await query;
      return records.length === 0 ? { outcome: 'none' } : { outcome: 'found', records };
    } catch (error) {
      const code = errorCodeOf(error);
      return isAbsence(code) ? { outcome: 'none' } : { outcome: 'failed', code: code ?? 'EUNKNOWN' };
    }
  };

  return {
    answeredSince: (since) => liveness.answeredSince(since),

    servers: (service) =>
      servers
        .ask((resolver) => resolver.resolveSrv(`${service}.`))
        .then(
          (records) => records.map(({ name }) => name).filter((name) => name !== ''),
          () => [],
        ),

    async resolve(name) {
      const begin = clock.monotonic();
      const slow = clock.after(SLOW_MS, () => liveness.probe());
      // With the final dot no search domain is ever appended.
      const absolute = `${name}.`;
      const v4 = family(servers.ask((resolver) => resolver.resolve4(absolute, { ttl: true })));
      const v6 = family(servers.ask((resolver) => resolver.resolve6(absolute, { ttl: true })));
      const first = await v4;
      const second =
        first.outcome === 'found' ? ((await withTimeout(clock, GRACE_MS, v6)) ?? ({ outcome: 'none' } satisfies Family)) : await v6;
      slow.cancel();
      const records = [first, second].flatMap((answer) => (answer.outcome === 'found' ? answer.records : []));
      if (records.length > 0) {
        return { addresses: records.map(({ address }) => address), ttlSeconds: Math.min(...records.map(({ ttl }) => ttl)) };
      }
      const answer = first.outcome === 'failed' ? first : second;
      const silent = answer.outcome === 'failed' && isSilence(answer.code);
      throw failure(name, answer, silent && !(await liveness.answeredSince(begin)));
    },
  };
}

/** @param dead true where nothing at all has been answered: the fault is our servers', not those of the name */
function failure(name: string, answer: Family, dead: boolean): EgressError {
  const error = (kind: 'dns' | 'dns_unavailable', message: string): EgressError =>
    new EgressError({ kind, phase: 'dns', host: name, message });
  if (answer.outcome !== 'failed') return error('dns', `${name} has no address in DNS: check its spelling`);
  if (dead) return error('dns_unavailable', `no DNS server answers (${answer.code}), so ${name} could not be looked up`);
  return error('dns', `${name} could not be looked up (${answer.code}): its name servers fail or don't answer; check its DNS`);
}
