/** The egress guard as the configuration says: the same rules for whatever calls an address that a user chose. */
import type { Registry } from 'prom-client';

import type { Logger } from '../logging.ts';
import { createEgress, type Egress } from './egress.ts';

/** The variables of the configuration that say what may be called. */
interface EgressSettings {
  readonly PARLEY_EGRESS_ALLOW_CIDRS: readonly string[];
  readonly PARLEY_EGRESS_DENY_PORTS: string;
  readonly PARLEY_EGRESS_PORTS: string;
  readonly PARLEY_EGRESS_DNS_SERVERS: readonly string[];
  readonly PARLEY_EGRESS_HOSTS: readonly string[];
}

/** @throws RangeError for networks, ports or names that can't be read, which a loaded configuration doesn't have */
export function egressOf(config: EgressSettings, observers: { readonly logger?: Logger; readonly registry?: Registry } = {}): Egress {
  return createEgress({
    allowCidrs: config.PARLEY_EGRESS_ALLOW_CIDRS,
    allowedPorts: config.PARLEY_EGRESS_PORTS,
    denyPorts: config.PARLEY_EGRESS_DENY_PORTS,
    dnsServers: config.PARLEY_EGRESS_DNS_SERVERS,
    hosts: config.PARLEY_EGRESS_HOSTS,
    ...observers,
  });
}
