import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { millisecondsOf } from '../../crds/duration.ts';
import { durationOfMilliseconds, durationOfSeconds, secondsOf } from './duration.ts';

describe('durations', () => {
  it.each([
    ['500ms', 0.5],
    ['10s', 10],
    ['30m', 1800],
    ['1h30m', 5400],
    ['0.5m', 30],
    ['1m0.25s', 60.25],
    ['0s', 0],
  ])('%s is %d seconds', (text, seconds) => {
    expect(secondsOf(text)).toBe(seconds);
    expect(durationOfSeconds(seconds, text)).toBe(text);
    expect(secondsOf(durationOfSeconds(seconds + 1, text))).toBe(seconds + 1);
  });

  it.each([
    [0.5, '500ms'],
    [10, '10s'],
    [1800, '1800s'],
    [33.5, '33.5s'],
    [0.0005, '0.0005s'],
    [1e-7, '0.0000001s'],
    [1.234567890123e-7, '0.0000001234567890123s'],
    [0.1 + 0.2 - 0.3, '0.00000000000000005551115123125s'],
    [5e-324, '0s'],
    [-0, '0s'],
  ])('%d seconds are written %s', (seconds, text) => expect(durationOfSeconds(seconds)).toBe(text));

  it('are read back as the number that was written, in the pattern of the resources', () => {
    const pattern = /^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/;
    fc.assert(
      fc.property(fc.double({ min: 1e-12, max: 7200, noNaN: true }), (seconds) => {
        expect(durationOfSeconds(seconds)).toMatch(pattern);
        expect(durationOfSeconds(seconds).length).toBeLessThanOrEqual(32);
        expect(secondsOf(durationOfSeconds(seconds))).toBe(seconds);
      }),
    );
    fc.assert(fc.property(fc.nat(30_000), (ms) => millisecondsOf(durationOfMilliseconds(ms)) === ms));
  });

  it.each(['', '10', '-1s', '1s2', 's', '1 s', '1d'])('%j is none', (text) => expect(() => secondsOf(text)).toThrow(RangeError));
});
