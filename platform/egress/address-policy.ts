/** Decides which addresses may be called: public unicast, and those that the operator of the installation also allows. */
import { type Address, type Cidr, contains, embedded, parseCidr } from './address.ts';
import type { PortRange } from './ports.ts';

/** These IPv4 networks are not public unicast (IANA's special-purpose registry, multicast, reserved), or one cloud's metadata service. */
const forbiddenV4 = table({
  '0.0.0.0/8': 'this network',
  '10.0.0.0/8': 'private network',
  '100.64.0.0/10': 'carrier-grade NAT',
  '127.0.0.0/8': 'loopback',
  '168.63.129.16/32': 'metadata of a cloud',
  '169.254.0.0/16': 'link-local, with the metadata of clouds',
  '172.16.0.0/12': 'private network',
  '192.0.0.0/24': 'protocol assignments',
  '192.0.2.0/24': 'documentation',
  '192.31.196.0/24': 'AS112',
  '192.52.193.0/24': 'AMT relays',
  '192.88.99.0/24': '6to4 relays',
  '192.168.0.0/16': 'private network',
  '192.175.48.0/24': 'AS112',
  '198.18.0.0/15': 'benchmarks',
  '198.51.100.0/24': 'documentation',
  '203.0.113.0/24': 'documentation',
  '224.0.0.0/4': 'multicast',
  '240.0.0.0/4': 'reserved, with broadcast',
});

/** Global unicast is in this network; nothing outside it is public. */
const globalV6 = parseCidr('2000::/3');

const forbiddenV6 = table({
  '2001::/23': 'protocol assignments, with Teredo',
  '2001:db8::/32': 'documentation',
  '2002::/16': '6to4',
  '2620:4f:8000::/48': 'AS112',
  '3fff::/20': 'documentation',
});

/** Translators of this network turn the last four bytes into an IPv4 address (RFC 6052). */
const nat64 = parseCidr('64:ff9b::/96');

function table(entries: Readonly<Record<string, string>>): readonly { readonly cidr: Cidr; readonly name: string }[] {
  return Object.entries(entries).map(([text, name]) => ({ cidr: parseCidr(text), name }));
}

export interface AddressPolicy {
  /**
   * Returns the reason why the address is forbidden, e.g. `loopback, 127.0.0.0/8`; undefined when it is allowed.
   * @param port of the connection; absent for a check that no port affects
   */
  objection(address: Address, port?: number): string | undefined;
}

/**
 * @param options.allow networks that may be called although they are not public
 * @param options.denyPorts ports that stay forbidden there
 */
export function createAddressPolicy(
  options: { readonly allow?: readonly Cidr[]; readonly denyPorts?: readonly PortRange[] } = {},
): AddressPolicy {
  const objection = objectionsTo(options.allow ?? []);
  const { denyPorts = [] } = options;
  if (denyPorts.length === 0) return { objection };
  const isPublic = (address: Address): boolean => objectionsTo([])(address) === undefined;
  return {
    objection: (address, port) =>
      objection(address) ??
      (port !== undefined && denyPorts.some(({ from, to }) => from <= port && port <= to) && !isPublic(address)
        ? `port ${port} is forbidden there by PARLEY_EGRESS_DENY_PORTS`
        : undefined),
  };
}

function objectionsTo(allow: readonly Cidr[]): (address: Address) => string | undefined {
  const objection = (address: Address): string | undefined => {
    if (allow.some((cidr) => contains(cidr, address))) return undefined;
    if (address.family === 4) return inTable(forbiddenV4, address);
    if (contains(nat64, address)) {
      const inner = objection(embedded(address, 12));
      return inner === undefined ? undefined : `NAT64 of ${inner}`;
    }
    if (!contains(globalV6, address)) return 'not global unicast, 2000::/3';
    return inTable(forbiddenV6, address) ?? isatapObjection(address);
  };

  // An ISATAP interface (RFC 5214) wraps packets in IPv4 and sends them to the last four bytes.
  const isatapObjection = (address: Address): string | undefined => {
    const [a, b, c, d] = address.bytes.slice(8, 12);
    if ((a !== 0 && a !== 2) || b !== 0 || c !== 0x5e || d !== 0xfe) return undefined;
    const inner = objection(embedded(address, 12));
    return inner === undefined ? undefined : `ISATAP of ${inner}`;
  };

  return objection;
}

function inTable(entries: typeof forbiddenV4, address: Address): string | undefined {
  const entry = entries.find(({ cidr }) => contains(cidr, address));
  return entry && `${entry.name}, ${entry.cidr.text}`;
}
