/** Parses IP addresses and networks, in all their spellings, to bytes. */
import { isIPv4, isIPv6 } from 'node:net';

import ipaddr from 'ipaddr.js';

export interface Address {
  readonly family: 4 | 6;
  /** The address in 4 or 16 bytes. */
  readonly bytes: readonly number[];
  /** Canonical spelling, for sockets. */
  readonly text: string;
}

export interface Cidr {
  readonly family: 4 | 6;
  readonly bytes: readonly number[];
  readonly bits: number;
  readonly text: string;
}

/**
 * Reads an address as a resolver, a socket or `URL.hostname` (without its brackets) writes it. An IPv4 address inside
 * an IPv6 one (`::ffff:127.0.0.1`) is the IPv4 address: that is where the packets go.
 *
 * Rejects decimal, octal, hexadecimal and short forms of IPv4; the URL parser has turned them into four
 * decimal numbers by then. Rejects zones (`fe80::1%eth0`), too.
 */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return v4(text.split('.').map(Number));
  if (!isIPv6(text) || text.includes('%')) return undefined;
  // Only the library's parser is used: its range `unicast` includes loopback in the form `::7f00:1`.
  const bytes = ipaddr.IPv6.parse(text).toByteArray();
  return startsWith(bytes, mappedPrefix) ? v4(bytes.slice(12)) : { family: 6, bytes, text: v6Text(bytes) };
}

/** `::ffff:0:0/96` holds the IPv4 addresses in IPv6. */
const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

const v4 = (bytes: readonly number[]): Address => ({ family: 4, bytes, text: bytes.join('.') });

/** Reads the IPv4 address in the bytes from `offset` on. */
export function embedded(address: Address, offset: number): Address {
  return v4(address.bytes.slice(offset, offset + 4));
}

function v6Text(bytes: readonly number[]): string {
  const groups = Array.from({ length: 8 }, (_, index) => (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)).toString(16));
  return groups.join(':');
}

function startsWith(bytes: readonly number[], prefix: readonly number[]): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}

/**
 * Reads `10.0.0.0/8`, `fd00::/8`, or one address (`127.0.0.1`).
 *
 * @throws RangeError for anything else, also where bits behind the prefix are set: `10.1.2.3/8` is most likely a typo.
 */
export function parseCidr(text: string): Cidr {
  const [address = '', length, ...rest] = text.trim().split('/');
  const parsed = parseAddress(address);
  const width = parsed?.family === 4 ? 32 : 128;
  const bits = length === undefined ? width : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  if (parsed === undefined || rest.length > 0 || !(bits <= width) || (address.includes(':') && parsed.family === 4)) {
    throw new RangeError(`${JSON.stringify(text)} is not a network: write it as 10.0.0.0/8 or fd00::/8`);
  }
  const cidr = { family: parsed.family, bytes: parsed.bytes, bits, text: text.trim() };
  const ones = parsed.bytes.some((byte, index) => (byte & ~maskOf(bits, index) & 0xff) !== 0);
  if (ones) throw new RangeError(`${JSON.stringify(text)} has bits set behind its prefix of ${bits}: which network is meant?`);
  return cidr;
}

/** Returns the mask of the byte at `index` in a network of `bits` bits. */
function maskOf(bits: number, index: number): number {
  const inByte = Math.min(8, Math.max(0, bits - 8 * index));
  return (0xff << (8 - inByte)) & 0xff;
}

export function contains(cidr: Cidr, address: Address): boolean {
  if (cidr.family !== address.family) return false;
  const whole = cidr.bits >> 3;
  for (let index = 0; index < whole; index += 1) if (cidr.bytes[index] !== address.bytes[index]) return false;
  if ((cidr.bits & 7) === 0) return true;
  const mask = maskOf(cidr.bits, whole);
  return ((cidr.bytes[whole] ?? 0) & mask) === ((address.bytes[whole] ?? 0) & mask);
}
