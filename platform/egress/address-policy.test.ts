import { BlockList } from 'node:net';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseAddress, parseCidr } from './address.ts';
import { createAddressPolicy } from './address-policy.ts';
import { openEgress } from '../../test/support/open-egress.ts';

/** The list is written down a second time, for Node's own matcher. */
const forbidden: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
const blocked = new BlockList();
for (const [network, bits] of forbidden) blocked.addSubnet(network, bits, 'ipv4');

const toNumber = (text: string): number => text.split('.').reduce((value, part) => value * 256 + Number(part), 0);
const toText = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff).join('.');
const hex = (value: number): string => `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;

/** Generates any address, and often one at or next to the edge of a network. */
const anyV4 = fc.oneof(
  fc.integer({ min: 0, max: 0xffffffff }),
  fc
    .tuple(fc.constantFrom(...forbidden), fc.constantFrom('first', 'last', 'before', 'behind'), fc.integer({ min: 0, max: 300 }))
    .map(([[network, bits], edge, offset]) => {
      const first = toNumber(network);
      const last = first + 2 ** (32 - bits) - 1;
      const value = { first: first + offset, last: last - offset, before: first - 1 - offset, behind: last + 1 + offset }[edge];
      return Math.min(Math.max(value, 0), 0xffffffff);
    }),
);

const policy = createAddressPolicy();
const objection = (text: string): string | undefined => {
  const address = parseAddress(text);
  return address === undefined ? 'no address' : policy.objection(address);
};

describe('which addresses may be called', () => {
  it('is decided for every IPv4 address as by another matcher', () => {
    fc.assert(
      fc.property(anyV4, (value) => {
        expect(objection(toText(value)) !== undefined).toBe(blocked.check(toText(value)));
      }),
      { numRuns: 3000 },
    );
  });

  it('is the same however an IPv4 address is written in an address of the web', () => {
    const egress = openEgress();
    const octal = (part: number): string => `0${part.toString(8)}`;
    const spellings = (value: number): readonly string[] => {
      const parts = toText(value).split('.').map(Number);
      const [a = 0, b = 0, c = 0, d = 0] = parts;
      return [
        toText(value),
        `${toText(value)}.`,
        String(value),
        `0x${value.toString(16)}`,
        `0X${value.toString(16).toUpperCase()}`,
        `0${value.toString(8)}`,
        parts.map(octal).join('.'),
        parts.map((part) => `0x${part.toString(16)}`).join('.'),
        `${octal(a)}.${b}.0x${c.toString(16)}.${d}`,
        `${a}.${b * 65_536 + c * 256 + d}`,
        `${a}.${b}.${c * 256 + d}`,
        `0x${a.toString(16)}.${(b * 65_536 + c * 256 + d).toString(8).replace(/^/, '0')}`,
        toText(value).replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
        toText(value).replace(/\d/g, (digit) => `%3${digit}`),
        toText(value).replaceAll('.', '。'),
        `[::ffff:${toText(value)}]`,
        `[::ffff:${hex(value)}]`,
        `[0:0:0:0:0:FFFF:${hex(value)}]`,
      ];
    };
    fc.assert(
      fc.property(anyV4, (value) => {
        const expected = blocked.check(toText(value)) ? 'forbidden_address' : undefined;
        for (const host of spellings(value)) expect([host, egress.check(`https://${host}/`)?.kind]).toEqual([host, expected]);
        // The address leads through a translator.
        expect(egress.check(`https://[64:ff9b::${hex(value)}]/`)?.kind).toBe(expected);
        expect(egress.check(`https://[64:ff9b::${toText(value)}]/`)?.kind).toBe(expected);
        // The address is behind an ISATAP interface of a public network.
        expect(objection(`2600::5efe:${hex(value)}`) === undefined).toBe(expected === undefined);
        expect(objection(`2600::200:5efe:${hex(value)}`) === undefined).toBe(expected === undefined);
        // These forms carry an IPv4 address and lead nowhere public, whichever it is.
        for (const host of [
          `[::${hex(value)}]`,
          `[::${toText(value)}]`,
          `[::ffff:0:${hex(value)}]`,
          `[64:ff9b:1::${hex(value)}]`,
          `[2002:${hex(value)}::1]`,
          `[2001:0:4136:e378:8000:63bf:${hex(~value >>> 0)}]`,
          `[fe80::5efe:${hex(value)}]`,
        ])
          expect([host, egress.check(`https://${host}/`)?.kind]).toEqual([host, 'forbidden_address']);
      }),
      { numRuns: 400 },
    );
    egress.close();
  });

  it.each([
    '::',
    '::1',
    '::7f00:1',
    'fc00::1',
    'fd00:ec2::254',
    'fdff::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    'ff0e::1',
    '100::1',
    '5f00::1',
    '64:ff9b:1::1',
    '2001::1',
    '2001:1::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '2001:1ff:ffff::1',
    '2001:db8::1',
    '2001:db8:ffff:ffff::1',
    '2002::1',
    '2002:ffff::1',
    '2620:4f:8000::1',
    '3fff::1',
    '3fff:fff:ffff::1',
    '4000::1',
    '1fff:ffff::1',
    '::ffff:0:127.0.0.1',
  ])('%s may not', (text) => {
    expect(objection(text)).toBeTypeOf('string');
  });

  it.each([
    '2001:200::1',
    '2001:4860:4860::8888',
    '2001:db7::1',
    '2001:db9::1',
    '2003::1',
    '2600::1',
    '2620:4f:7fff::1',
    '2620:4f:8001::1',
    '3ffe::1',
    '64:ff9b::8.8.8.8',
    '8.8.8.8',
    '1.1.1.1',
    '168.63.129.17',
    '::ffff:8.8.8.8',
  ])('%s may', (text) => {
    expect(objection(text)).toBeUndefined();
  });

  it.each([
    '',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '0x7f.0.0.1',
    '256.1.1.1',
    'fe80::1%eth0',
    '::1%0',
    'localhost',
    '[::1]',
    ' 1.1.1.1',
    '1.1.1.1 ',
  ])('%j is no address', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });
});

describe('what the operator allows', () => {
  const check = (allow: readonly string[], text: string): boolean => {
    const address = parseAddress(text);
    return address !== undefined && createAddressPolicy({ allow: allow.map(parseCidr) }).objection(address) === undefined;
  };

  it('is allowed in addition, in every form, and nothing next to it', () => {
    expect(check(['127.0.0.0/8'], '127.255.255.255')).toBe(true);
    expect(check(['127.0.0.0/8'], '::ffff:127.0.0.1')).toBe(true);
    expect(check(['127.0.0.0/8'], '64:ff9b::7f00:1')).toBe(true);
    expect(check(['127.0.0.0/8'], '128.0.0.1')).toBe(true);
    expect(check(['127.0.0.0/8'], '::1')).toBe(false);
    expect(check(['127.0.0.0/8'], '10.0.0.1')).toBe(false);
    expect(check(['10.1.2.3'], '10.1.2.3')).toBe(true);
    expect(check(['10.1.2.3'], '10.1.2.4')).toBe(false);
    expect(check(['172.20.0.0/14'], '172.23.255.255')).toBe(true);
    expect(check(['172.20.0.0/14'], '172.24.0.0')).toBe(false);
    expect(check(['fd12:3456::/33'], 'fd12:3456:7fff::1')).toBe(true);
    expect(check(['fd12:3456::/33'], 'fd12:3456:8000::1')).toBe(false);
    expect(check(['::1/128', '10.0.0.0/8'], '::1')).toBe(true);
    expect(check(['0.0.0.0/0'], '169.254.169.254')).toBe(true);
  });

  it.each([
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0/8',
    'fd00::/129',
    '10.1.2.3/8',
    'fd00::1/8',
    'localhost',
    '',
    '10.0.0.0/-1',
    '::ffff:10.0.0.0/104',
    '10.0.0.0/8x',
  ])('%j is no network', (text) => {
    expect(() => parseCidr(text)).toThrow(RangeError);
  });
});
