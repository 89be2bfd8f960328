/** Reads names that resolve to an address of the operator's choice instead of through DNS: the hosts file of the guard. */
import { type Address, parseAddress } from './address.ts';

export interface FixedHost {
  /** Address of the host; it must pass the policy like any other. */
  readonly address: Address;
  readonly port?: number;
}

/**
 * Reads `name=address` or `name=address:port`, with IPv6 as `name=[::1]:8080`.
 *
 * @throws RangeError naming the part that can't be read
 */
export function parseHosts(items: readonly string[]): ReadonlyMap<string, FixedHost> {
  return new Map(items.map(parseHost));
}

function parseHost(text: string): readonly [string, FixedHost] {
  const [, name = '', host = '', digits] = /^([a-z0-9_.-]{1,253})=(\[[0-9a-f:.]+\]|[^:]+|[0-9a-f:.]+?)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const address = parseAddress(host.replace(/^\[|\]$/g, ''));
  const port = digits === undefined ? undefined : Number(digits);
  if (name === '' || parseAddress(name) !== undefined || address === undefined || port === 0 || (port ?? 0) > 65_535) {
    throw new RangeError(`${JSON.stringify(text)} leads no name to an address: write it as name=address or name=address:port`);
  }
  return [name.toLowerCase().replace(/\.$/, ''), { address, ...(port === undefined ? {} : { port }) }];
}
