/** Parses and checks an address that a user wrote, as far as possible without the network. */
import { cutText } from '../cut-text.ts';
import { type Address, parseAddress } from './address.ts';
import type { AddressPolicy } from './address-policy.ts';
import type { FixedHost } from './hosts.ts';
import { shownPorts, type PortRange } from './ports.ts';

export interface UrlProblem {
  readonly kind: 'forbidden_url' | 'forbidden_address';
  /** Message that names the address and what to do. */
  readonly message: string;
}

export interface Target {
  readonly url: URL;
  /** Scheme, host and port: the key of reusable connections. */
  readonly origin: string;
  /** Host and port as messages name them. */
  readonly host: string;
  /** Host in lower case, without brackets and without a final dot. */
  readonly hostname: string;
  /** Port of the connection: the URL's, unless PARLEY_EGRESS_HOSTS maps the name. */
  readonly port: number;
  readonly secure: boolean;
  /** Address of a host that is an address, not a name. */
  readonly literal?: Address;
  /** The address that PARLEY_EGRESS_HOSTS maps this name to, instead of DNS. */
  readonly fixed?: Address;
  readonly portIsFixed?: boolean;
}

export interface TargetRules {
  readonly policy: AddressPolicy;
  readonly ports: readonly PortRange[];
  readonly hosts?: ReadonlyMap<string, FixedHost>;
  /** The cure in a refusal; {@link PUBLIC_ONLY} by default. */
  readonly cure?: string;
}

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const loopbacks = ['127.0.0.1', '::1'].map((text) => parseAddress(text) as Address);

export function allowedLoopbacks(policy: AddressPolicy, port?: number): readonly Address[] {
  return loopbacks.filter((address) => policy.objection(address, port) === undefined);
}

/** Tells whether a name is one that never leaves the machine, whatever a DNS server says (RFC 6761). */
export const isLocalhost = (hostname: string): boolean => hostname === 'localhost' || hostname.endsWith('.localhost');

/** States the cure in a refusal of an address. */
export const PUBLIC_ONLY =
  'use a host on the public internet, or have the operator of this installation allow its network (PARLEY_EGRESS_ALLOW_CIDRS)';

/** Checks spelling, scheme, port and literal addresses; the resolver checks names. */
export function readTarget(text: string, rules: TargetRules): Target | UrlProblem {
  const { cure = PUBLIC_ONLY } = rules;
  const refuse = (message: string): UrlProblem => ({ kind: 'forbidden_url', message });
  // The URL parser drops some of these silently and takes \ for /, so that two readers could see two hosts.
  if (/[\p{Cc}\p{Zs}]|^[^?#]*\\/u.test(text)) return refuse('an address has no spaces, control characters or backslashes');
  const url = URL.parse(text);
  if (url === null) return refuse(`${shorten(text)} is not a web address: write it as https://host/path`);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return refuse(`${shorten(text)} has the scheme ${url.protocol.slice(0, -1)}: only https and http are called`);
  }
  if (url.username !== '' || url.password !== '' || hasUserinfo(text)) {
    return refuse(`the address of ${url.host} has credentials in it: put them into a header`);
  }
  url.hash = '';
  const secure = url.protocol === 'https:';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  if (!rules.ports.some(({ from, to }) => from <= port && port <= to)) {
    const allowed = shownPorts(rules.ports);
    return refuse(
      `port ${port} of ${url.hostname} may not be called, only ${allowed}: use one of these, or have the operator allow it (PARLEY_EGRESS_PORTS)`,
    );
  }

  const hostname = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const target = { url, origin: url.origin, host: url.host, hostname, port, secure };
  const literal = parseAddress(hostname);
  if (literal !== undefined) {
    const objection = rules.policy.objection(literal, port);
    if (objection === undefined) return { ...target, literal };
    return { kind: 'forbidden_address', message: `${hostname} is not on the public internet (${objection}): ${cure}` };
  }
  const fixed = rules.hosts?.get(hostname);
  if (fixed !== undefined) {
    // A mapping of a name to a port means that port.
    const objection = rules.policy.objection(fixed.address, fixed.port === undefined ? port : undefined);
    if (objection === undefined)
      return { ...target, port: fixed.port ?? port, fixed: fixed.address, portIsFixed: fixed.port !== undefined };
    return { kind: 'forbidden_address', message: `${hostname} is not on the public internet (${objection}): ${cure}` };
  }
  if (isLocalhost(hostname)) {
    if (allowedLoopbacks(rules.policy, port).length > 0) return target;
    return { kind: 'forbidden_address', message: `${hostname} is the machine that Parley itself runs on: ${cure}` };
  }
  if (hostname.length > 253 || !hostname.split('.').every((part) => LABEL.test(part))) {
    return refuse(`${shorten(hostname)} is not a host name: use labels of letters, digits and hyphens, at most 63 each and 253 in all`);
  }
  return target;
}

/** Finds credentials, also empty ones: `https://@host` parses to an empty user name, which the URL forgets. */
function hasUserinfo(text: string): boolean {
  const authority = /^[a-z][a-z0-9+.-]*:\/*([^/?#]*)/i.exec(text)?.[1] ?? '';
  return authority.includes('@');
}

/** Cuts a text and puts it between quotes, for a message. */
export const shorten = (text: string): string => JSON.stringify(cutText(text, 100));
