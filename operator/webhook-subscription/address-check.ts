import { parseCidr } from '../../platform/egress/address.ts';
import { createAddressPolicy } from '../../platform/egress/address-policy.ts';
import { parseHosts } from '../../platform/egress/hosts.ts';
import { parsePorts } from '../../platform/egress/ports.ts';
import { readTarget } from '../../platform/egress/target.ts';
import type { Config } from '../../platform/config.ts';

/** What the guard of outgoing calls will say to an address, as far as it can tell without DNS. Names are judged at each delivery. */
export function addressCheck(
  config: Pick<Config, 'PARLEY_EGRESS_ALLOW_CIDRS' | 'PARLEY_EGRESS_PORTS' | 'PARLEY_EGRESS_HOSTS'>,
): (url: string) => string | undefined {
  const policy = createAddressPolicy({ allow: config.PARLEY_EGRESS_ALLOW_CIDRS.map(parseCidr) });
  const rules = { policy, ports: parsePorts(config.PARLEY_EGRESS_PORTS), hosts: parseHosts(config.PARLEY_EGRESS_HOSTS) };
  return (url) => {
    const target = readTarget(url, rules);
    return 'kind' in target ? target.message : undefined;
  };
}
