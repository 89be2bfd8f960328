/** Checks addresses when they are written: by the rules of the guards that check them when they are called, but without DNS. */
import type { Config } from '../platform/config/config.ts';
import { parseCidr } from '../platform/egress/address.ts';
import { createAddressPolicy } from '../platform/egress/address-policy.ts';
import { parseHosts } from '../platform/egress/hosts.ts';
import { parseDeniedPorts, parsePorts } from '../platform/egress/ports.ts';
import { readTarget } from '../platform/egress/target.ts';
import { createSipGuard, type SipGuardSettings } from './sip/sip-guard.ts';

/** Each check returns the problem with an address and its cure, or undefined where the address may be called. */
export interface AddressChecks {
  readonly web: (url: string) => string | undefined;
  /** Checks the SIP address of a trunk or of a transfer target. */
  readonly sip: (uri: string) => string | undefined;
}

export function createAddressChecks(config: SipGuardSettings & Pick<Config, 'PARLEY_EGRESS_HOSTS'>): AddressChecks {
  const policy = createAddressPolicy({
    allow: config.PARLEY_EGRESS_ALLOW_CIDRS.map(parseCidr),
    denyPorts: parseDeniedPorts(config.PARLEY_EGRESS_DENY_PORTS),
  });
  const rules = { policy, ports: parsePorts(config.PARLEY_EGRESS_PORTS), hosts: parseHosts(config.PARLEY_EGRESS_HOSTS) };
  const sip = createSipGuard(config);
  return {
    web(url) {
      const target = readTarget(url, rules);
      return 'kind' in target ? target.message : undefined;
    },
    sip: (uri) => sip.check(uri),
  };
}
