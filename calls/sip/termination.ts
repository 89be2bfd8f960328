/** SIP addresses as people write them: `sip.example.com`, `sip:example.com:5080;transport=tcp`, `sip:desk@example.com`. */
import type { SipTransport } from './trunk-specs.ts';

export interface Termination {
  /** Host, or host:port. */
  readonly address: string;
  readonly transport: SipTransport;
}

// An address has one reading only: no second @, nothing that ends a header, no ? behind which a SIP stack would look for more headers.
const SIP_ADDRESS =
  /^(?:(?<scheme>sips?):)?(?:[\w.!~*'()&=+$/%:-]*@)?(?<host>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?<port>\d{1,5}))?(?<parameters>(?:;[\w.!~*'()&=+$/%:[\]-]*)*)$/i;

/** Whether it is a SIP URI, and no telephone number. */
export const isSip = (address: string): boolean => /^sips?:/i.test(address);

/** @returns undefined without a host, and with `maddr`, which bypasses it. A user in the address is ignored: the login is another field. */
export function terminationOf(uri: string): Termination | undefined {
  const { scheme, host, port, parameters = '' } = SIP_ADDRESS.exec(uri.trim())?.groups ?? {};
  if (host === undefined || (port !== undefined && (Number(port) === 0 || Number(port) > 65_535))) return undefined;
  if (/;maddr=/i.test(parameters)) return undefined;
  const named = /;transport=([a-z]+)/i.exec(parameters)?.[1]?.toLowerCase();
  const asked = named ?? (scheme?.toLowerCase() === 'sips' ? 'tls' : 'auto');
  const transport = (['auto', 'udp', 'tcp', 'tls'] as const).find((one) => one === asked);
  if (transport === undefined) return undefined;
  return { address: port === undefined ? host : `${host}:${port}`, transport };
}

/** Returns the user, host, port and transport of a SIP address in one spelling; an unreadable address as it is. */
export function sipOriginOf(uri: string): string {
  const termination = terminationOf(uri);
  const user = /^(?:sips?:)?([^@;]*)@/i.exec(uri.trim())?.[1] ?? '';
  return termination === undefined ? uri : `${user}@${termination.address.toLowerCase()};transport=${termination.transport}`;
}
