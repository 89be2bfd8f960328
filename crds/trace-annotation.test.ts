import { expect, it } from 'vitest';

import { traceAnnotation, traceOf } from './trace-annotation.ts';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

it('says in the course of which trace a generation was written, and of no other one', () => {
  const annotations = traceAnnotation({ traceparent, tracestate: 'vendor=1' }, 3);
  expect(traceOf({ annotations, generation: 3 })).toEqual({ traceparent });
  expect(traceOf({ annotations, generation: 4 })).toBeUndefined();
  expect(traceOf({ annotations })).toBeUndefined();
});

it('adds nothing where nothing is traced', () => {
  expect(traceAnnotation(undefined, 1)).toEqual({});
});

it.each([
  '',
  'null',
  '{',
  '[]',
  '"text"',
  '{"generation":1}',
  '{"generation":1,"traceparent":"00-0-0-01"}',
  '{"generation":1,"traceparent":7}',
])('takes no notice of what somebody else wrote there: %s', (text) => {
  expect(traceOf({ annotations: { 'parley.dev/trace': text }, generation: 1 })).toBeUndefined();
});
