import { createHash } from 'node:crypto';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { generateApiKey, parseApiKey } from './api-key-format.ts';

describe('generateApiKey', () => {
  it('has the documented shape, and parses to what is stored', () => {
    for (let round = 0; round < 200; round += 1) {
      const key = generateApiKey();
      expect(key.apiKey).toMatch(/^pk_[0-9A-Za-z]{8}_[0-9A-Za-z]{40}_[0-9A-Za-z]{6}$/);
      expect(key.apiKey.endsWith(key.lastFour)).toBe(true);
      expect(key.hash).toEqual(createHash('sha256').update(key.apiKey).digest());
      expect(parseApiKey(key.apiKey)).toEqual({ publicId: key.publicId, hash: key.hash });
    }
  });

  it('never repeats', () => {
    const keys = Array.from({ length: 2_000 }, () => generateApiKey().apiKey);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('favours no letter: bytes above the largest multiple of 62 are thrown away', () => {
    let calls = 0;
    const first = generateApiKey((size) => Buffer.alloc(size, calls++ % 2 === 0 ? 255 : 61));
    expect(first.publicId).toBe('zzzzzzzz');
  });
});

describe('parseApiKey', () => {
  it('refuses every key with one character changed', () => {
    const { apiKey } = generateApiKey();
    fc.assert(
      fc.property(fc.nat(apiKey.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (place, letter) => {
        fc.pre(apiKey[place] !== letter);
        expect(parseApiKey(apiKey.slice(0, place) + letter + apiKey.slice(place + 1))).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  it('refuses whatever else comes in', () => {
    const { apiKey } = generateApiKey();
    for (const text of [
      '',
      'pk_',
      ` ${apiKey}`,
      `${apiKey}\n`,
      apiKey.toUpperCase(),
      apiKey.slice(0, -1),
      `${apiKey}a`,
      `Bearer ${apiKey}`,
      apiKey.repeat(10_000),
    ]) {
      expect(parseApiKey(text)).toBeUndefined();
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseApiKey(text)).toBeUndefined();
      }),
    );
  });
});
