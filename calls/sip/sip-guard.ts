/**
 * Decides which SIP addresses may be called, by the rules of the egress guard, which the SIP service does not ask. Names are resolved when a call
 * goes out, not when an address is written: they may resolve differently by then.
 */
import { systemClock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config/config.ts';
import { parseCidr } from '../../platform/egress/address.ts';
import { createAddressPolicy } from '../../platform/egress/address-policy.ts';
import { EgressError } from '../../platform/egress/egress-error.ts';
import { createNameResolver } from '../../platform/egress/name-resolver.ts';
import { parseDeniedPorts, parsePorts } from '../../platform/egress/ports.ts';
import { isLocalhost, readTarget, shorten, type Target } from '../../platform/egress/target.ts';
import { VettedNames } from '../../platform/egress/vetted-names.ts';
import { isSip, terminationOf } from './termination.ts';
import { dialFailureOf, type SipGateway } from './gateway.ts';

export type SipGuardSettings = Pick<
  Config,
  'PARLEY_EGRESS_ALLOW_CIDRS' | 'PARLEY_EGRESS_DENY_PORTS' | 'PARLEY_EGRESS_PORTS' | 'PARLEY_EGRESS_DNS_SERVERS' | 'PARLEY_SIP_ALLOW_CIDRS'
>;

export interface SipGuard {
  /** Checks an address without DNS. @returns the problem and its cure; undefined where the address may be called */
  check(uri: string): string | undefined;
  /** Checks with DNS all addresses of the name, and of each server in its SRV records. Takes seconds where DNS is slow. */
  vet(uri: string): Promise<string | undefined>;
}

const CURE =
  'use a host on the public internet, or have the operator of this installation allow its network (PARLEY_SIP_ALLOW_CIDRS, PARLEY_EGRESS_ALLOW_CIDRS)';
const SRV_SERVICES = ['_sip._udp', '_sip._tcp', '_sips._tcp'];

export function createSipGuard(config: SipGuardSettings): SipGuard {
  const clock = systemClock;
  const resolver = createNameResolver({ clock, servers: config.PARLEY_EGRESS_DNS_SERVERS });
  const policy = createAddressPolicy({
    allow: [...config.PARLEY_EGRESS_ALLOW_CIDRS, ...config.PARLEY_SIP_ALLOW_CIDRS].map(parseCidr),
    denyPorts: parseDeniedPorts(config.PARLEY_EGRESS_DENY_PORTS),
  });
  const rules = { policy, ports: parsePorts(config.PARLEY_EGRESS_PORTS), cure: CURE };
  const names = new VettedNames({ resolver, policy, clock, cure: CURE });

  const read = (uri: string): Target | string => {
    const termination = terminationOf(uri);
    if (termination === undefined)
      return `${shorten(uri)} is no SIP address: write host, host:port or a SIP URI such as sip:trunk.example.com:5060;transport=tcp`;
    const { address, transport } = termination;
    // The URL parser makes four decimal numbers of every spelling of IPv4.
    const target = readTarget(`http://${/:\d+$/.test(address) ? address : `${address}:${transport === 'tls' ? 5061 : 5060}`}`, rules);
    if ('kind' in target) return target.message;
    // The SIP service would look for it next to itself.
    if (target.literal === undefined && !target.hostname.includes('.') && !isLocalhost(target.hostname))
      return `${target.hostname} is a name of a local network only: write the whole name of the host, such as trunk.example.com`;
    return target;
  };

  /** @returns undefined where all addresses of the name may be called */
  const ask = async (name: string): Promise<EgressError | undefined> => {
    const target = readTarget(`http://${name}:5060`, rules);
    try {
      if ('kind' in target) throw new EgressError({ ...target, phase: 'check', host: name });
      if (names.known(target) === undefined) await names.ask(target);
      return undefined;
    } catch (error) {
      if (error instanceof EgressError) return error;
      throw error;
    }
  };

  return {
    check(uri) {
      const target = read(uri);
      return typeof target === 'string' ? target : undefined;
    },

    async vet(uri) {
      const target = read(uri);
      if (typeof target === 'string') return target;
      if (target.literal !== undefined || isLocalhost(target.hostname)) return undefined;
      const { hostname } = target;
      const servers = await Promise.all(SRV_SERVICES.map(async (service) => resolver.servers?.(`${service}.${hostname}`) ?? []));
      const verdicts = await Promise.all([hostname, ...servers.flat()].map(ask));
      // A name without an address is no way out: a name may have only SRV records, and one of these servers may be gone.
      const leads = verdicts.filter((error) => error?.kind !== 'dns');
      return (leads.length === 0 ? verdicts : leads).find((error) => error !== undefined)?.message;
    },
  };
}

/** Checks each address when it is dialled or referred to. */
export function guardedSipGateway(gateway: SipGateway, guard: Pick<SipGuard, 'vet'>): SipGateway {
  /** Checks the trunk as the media server has it, because the call goes there. */
  const objection = async (trunk: string): Promise<string | undefined> => {
    const address = await gateway.trunkAddress(trunk);
    return address === undefined ? undefined : guard.vet(address);
  };
  return {
    ...gateway,
    async dial(options) {
      try {
        const message = options.ownTrunk === true ? undefined : await objection(options.trunk);
        if (message !== undefined) return { outcome: 'failed', reason: 'carrier_error', message };
      } catch (error) {
        return { outcome: 'failed', ...dialFailureOf(error) };
      }
      return gateway.dial(options);
    },
    async refer(request) {
      const message = isSip(request.to) ? await guard.vet(request.to) : undefined;
      return message === undefined ? gateway.refer(request) : { outcome: 'failed', message };
    },
  };
}
