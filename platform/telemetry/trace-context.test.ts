import { describe, expect, it } from 'vitest';

import { readTraceparent, traceContextOf, writeTraceparent } from './trace-context.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const span = '00f067aa0ba902b7';

describe('traceparent', () => {
  it('is read and written as the standard has it', () => {
    const text = `00-${trace}-${span}-01`;
    expect(readTraceparent(text)).toEqual({ traceId: trace, spanId: span, sampled: true });
    expect(writeTraceparent({ traceId: trace, spanId: span, sampled: true })).toBe(text);
    expect(readTraceparent(`00-${trace}-${span}-00`)?.sampled).toBe(false);
    // No version defines these flags yet.
    expect(readTraceparent(`00-${trace}-${span}-fe`)?.sampled).toBe(false);
  });

  it('of a later version is read by what it has in common with this one, and handed on as this one', () => {
    expect(traceContextOf(`cc-${trace}-${span}-01-what-the-future-brings`)).toEqual({ traceparent: `00-${trace}-${span}-01` });
  });

  it.each([
    undefined,
    '',
    ['a', 'b'],
    `00-${trace}-${span}`,
    `00-${trace}-${span}-01-more`,
    `ff-${trace}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    ` 00-${trace}-${span}-01`,
  ])('that is not sound counts as none: %j', (text) => {
    expect(readTraceparent(text)).toBeUndefined();
    expect(traceContextOf(text, 'vendor=1')).toBeUndefined();
  });

  it('takes what other tracers say along, unless that is longer than anybody has to hand on', () => {
    const traceparent = `00-${trace}-${span}-01`;
    expect(traceContextOf(traceparent, 'vendor=1')).toEqual({ traceparent, tracestate: 'vendor=1' });
    expect(traceContextOf(traceparent, `vendor=${'x'.repeat(600)}`)).toEqual({ traceparent });
  });
});
