/** The egress guard as the configuration says: the same rules for whatever calls an address that a user chose. */
import type { Registry } from 'prom-client';

import type { Config } from '../config/config.ts';
import type { Logger } from '../logging.ts';
import { createEgress, type Egress } from './egress.ts';

type Settings = Pick<
  Config,
  'PARLEY_EGRESS_ALLOW_CIDRS' | 'PARLEY_EGRESS_DENY_PORTS' | 'PARLEY_EGRESS_PORTS' | 'PARLEY_EGRESS_DNS_SERVERS' | 'PARLEY_EGRESS_HOSTS'
>;

/** @throws RangeError for networks, ports or names that can't be read, which a loaded configuration doesn't have */
export function egressOf(config: Settings, observers: { readonly logger?: Logger; readonly registry?: Registry } = {}): Egress {
  return createEgress({
    allowCidrs: config.PARLEY_EGRESS_ALLOW_CIDRS,
    allowedPorts: config.PARLEY_EGRESS_PORTS,
    denyPorts: config.PARLEY_EGRESS_DENY_PORTS,
    dnsServers: config.PARLEY_EGRESS_DNS_SERVERS,
    hosts: config.PARLEY_EGRESS_HOSTS,
    ...observers,
  });
}
