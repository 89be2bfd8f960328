/** Creates the egress guard from the configuration: the same rules for all requests to addresses that users chose. */
import type { Registry } from 'prom-client';

import type { Logger } from '../logging.ts';
import { createEgress, type EgressGuard } from './egress.ts';

interface EgressSettings {
  readonly PARLEY_EGRESS_ALLOW_CIDRS: readonly string[];
  readonly PARLEY_EGRESS_DENY_PORTS: string;
  readonly PARLEY_EGRESS_PORTS: string;
  readonly PARLEY_EGRESS_DNS_SERVERS: readonly string[];
  readonly PARLEY_EGRESS_HOSTS: readonly string[];
}

/** @throws RangeError for invalid networks, ports or names, which a loaded configuration does not have */
export function egressOf(config: EgressSettings, observers: { readonly logger?: Logger; readonly registry?: Registry } = {}): EgressGuard {
  return createEgress({
    allowCidrs: config.PARLEY_EGRESS_ALLOW_CIDRS,
    allowedPorts: config.PARLEY_EGRESS_PORTS,
    denyPorts: config.PARLEY_EGRESS_DENY_PORTS,
    dnsServers: config.PARLEY_EGRESS_DNS_SERVERS,
    hosts: config.PARLEY_EGRESS_HOSTS,
    ...observers,
  });
}
