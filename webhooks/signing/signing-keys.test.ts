import { inspect } from 'node:util';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { keysAt, readSigningSecret } from './signing-secret.ts';
import { generateSigningKey, parseSigningKey } from './signing-keys.ts';

const bytesOf = (text: string): string | undefined => parseSigningKey(text)?.export().toString('hex');

describe('a key', () => {
  it('is made of 32 random bytes', () => {
    const [one, other] = [generateSigningKey(), generateSigningKey()];
    expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(one).not.toBe(other);
    expect(parseSigningKey(one)?.symmetricKeySize).toBe(32);
    expect(generateSigningKey((size) => Buffer.alloc(size, 1))).toBe(`whsec_${Buffer.alloc(32, 1).toString('base64')}`);
  });

  it('is read back byte for byte, with and without padding and with a line break', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 24, maxLength: 64 }), fc.constantFrom('', '\n', '\r\n', ' '), (bytes, end) => {
        const encoded = Buffer.from(bytes).toString('base64');
        const hex = Buffer.from(bytes).toString('hex');
        expect(bytesOf(`whsec_${encoded}${end}`)).toBe(hex);
        expect(bytesOf(`whsec_${encoded.replace(/=+$/, '')}${end}`)).toBe(hex);
      }),
    );
  });

  const good = Buffer.alloc(24, 9).toString('base64');
  it.each([
    ['nothing', ''],
    ['no prefix', good],
    ['another prefix', `whpk_${good}`],
    ['a prefix in capitals', `WHSEC_${good}`],
    ['nothing behind the prefix', 'whsec_'],
    ['too few bytes', `whsec_${Buffer.alloc(23).toString('base64')}`],
    ['too many bytes', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['the alphabet of URLs', `whsec_${Buffer.alloc(24, 0xff).toString('base64url')}`],
    ['half a character', `whsec_${good}A`],
    ['white space within', `whsec_${good.slice(0, 8)} ${good.slice(8)}`],
    ['padding within', `whsec_${good.slice(0, 8)}=${good.slice(8)}`],
  ])('is not read from %s', (_, text) => {
    expect(parseSigningKey(text)).toBeUndefined();
  });

  it('does not show itself', () => {
    const text = generateSigningKey();
    const key = parseSigningKey(text);
    expect(JSON.stringify({ key })).not.toContain(text.slice(6, 20));
    expect(inspect(key)).not.toContain(text.slice(6, 20));
  });
});

describe('a signing Secret', () => {
  const key = (byte: number): string => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
  const now = Date.parse('2026-11-21T12:00:00Z');
  const signing = (data: Readonly<Record<string, string>>, expiry?: string): readonly (number | undefined)[] | undefined => {
    const keys = readSigningSecret((name) => data[name], expiry);
    return keys && keysAt(keys, now).map((one) => one.export()[0]);
  };

  it('signs with the current key first, then with the former ones from the newest on', () => {
    const all = { 'previous-2': key(3), current: key(1), 'previous-4': key(5), 'previous-1': key(2), 'previous-3': key(4) };
    expect(signing(all)).toEqual([1, 2, 3, 4, 5]);
    expect(signing({ current: key(1), 'previous-3': key(4) })).toEqual([1, 4]);
    expect(signing({ ...all, 'previous-5': key(6), other: key(7) })).toEqual([1, 2, 3, 4, 5]);
  });

  it('ends former keys when their time has come, to the millisecond, and never the current one', () => {
    const data = { current: key(1), 'previous-1': key(2), 'previous-2': key(3) };
    const expiry = (ms: number): string =>
      JSON.stringify({ 'previous-1': new Date(now + ms).toISOString(), current: '2000-01-01T00:00:00Z' });
    expect(signing(data, expiry(1))).toEqual([1, 2, 3]);
    expect(signing(data, expiry(0))).toEqual([1, 3]);
    expect(signing(data, expiry(-1000))).toEqual([1, 3]);
    expect(signing(data, '{"previous-1":"2026-11-21T13:00:00+02:00"}')).toEqual([1, 3]);
  });

  it.each(['', '{', 'null', '[]', '"x"', '{"previous-1":5}', '{"previous-1":"soon"}'])('takes the expiry %j for none', (expiry) => {
    expect(signing({ current: key(1), 'previous-1': key(2) }, expiry)).toEqual([1, 2]);
  });

  it('needs a current key, and leaves out former ones that are none', () => {
    expect(signing({ 'previous-1': key(2) })).toBeUndefined();
    expect(signing({ current: 'secret', 'previous-1': key(2) })).toBeUndefined();
    expect(signing({ current: key(1), 'previous-1': 'secret', 'previous-2': key(3) })).toEqual([1, 3]);
  });
});
