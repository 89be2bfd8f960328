import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { millisecondsOf } from '../../crds/duration.ts';
import { DURATION } from '../../crds/schema.ts';
import { durationOfMilliseconds, durationOfSeconds, secondsOf } from './duration.ts';

describe('durations', () => {
  it.each([
    ['500ms', 0.5],
    ['10s', 10],
    ['30m', 1800],
    ['1h30m', 5400],
    ['1m250ms', 60.25],
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
    [33.5, '33500ms'],
    [99_999, '99999s'],
    [99_999.001, '27h46m39s1ms'],
    [31_536_000, '8760h'],
    [0.0004, '0s'],
    [0.0005, '1ms'],
    [-0, '0s'],
  ])('%d seconds are written %s', (seconds, text) => expect(durationOfSeconds(seconds)).toBe(text));

  it('are read back to the millisecond, in the pattern of the resources', () => {
    fc.assert(
      fc.property(fc.nat(31_536_000_000), (ms) => {
        expect(durationOfSeconds(ms / 1000)).toMatch(DURATION);
        expect(durationOfMilliseconds(ms)).toMatch(DURATION);
        expect(secondsOf(durationOfSeconds(ms / 1000))).toBe(ms / 1000);
        expect(millisecondsOf(durationOfMilliseconds(ms))).toBe(ms);
      }),
    );
  });

  it.each(['', '10', '-1s', '1s2', 's', '1 s', '1d'])('%j is none', (text) => expect(() => secondsOf(text)).toThrow(RangeError));
});
