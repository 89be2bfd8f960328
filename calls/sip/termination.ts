/** Where a trunk's calls go, as people write it: `sip.example.com`, `sip:example.com:5080;transport=tcp`. */
import type { SipTransport } from './trunk-specs.ts';

export interface Termination {
  /** Host, or host:port. */
  readonly address: string;
  readonly transport: SipTransport;
}

const parts =
  /^(?:(?<scheme>sips?):)?(?:[^@;]*@)?(?<host>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(?<port>\d{1,5}))?(?<parameters>(?:;[^;]*)*)$/i;

/** @returns undefined for what names no host. Users in it are passed over: who logs in stands elsewhere. */
export function terminationOf(uri: string): Termination | undefined {
  const { scheme, host, port, parameters = '' } = parts.exec(uri.trim())?.groups ?? {};
  if (host === undefined || (port !== undefined && (Number(port) === 0 || Number(port) > 65_535))) return undefined;
  const named = /;transport=([a-z]+)/i.exec(parameters)?.[1]?.toLowerCase();
  const asked = named ?? (scheme?.toLowerCase() === 'sips' ? 'tls' : 'auto');
  const transport = (['auto', 'udp', 'tcp', 'tls'] as const).find((one) => one === asked);
  if (transport === undefined) return undefined;
  return { address: port === undefined ? host : `${host}:${port}`, transport };
}
