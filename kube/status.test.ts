import { describe, expect, it } from 'vitest';

import { KubeError } from './error.ts';
import { errorFromAnswer, errorFromEvent } from './status.ts';

const noise = 'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

function refusal(code: number, message: string, rest: object = {}): KubeError {
  return errorFromAnswer({
    code,
    request: 'PATCH /x',
    text: JSON.stringify({ kind: 'Status', status: 'Failure', message, code, ...rest }),
  });
}

describe('an apply that does not fit the schema', () => {
  const prefix = 'failed to create typed patch object (ns/a; probe.example/v1, Kind=Widget): ';

  it.each([
    [
      '.spec.titel: field not declared in schema',
      [{ reason: 'UnknownField', field: 'spec.titel', message: 'field not declared in schema' }],
    ],
    [
      '.spec.title: expected string, got &value.valueUnstructured{Value:5}',
      [{ reason: 'FieldValueTypeInvalid', field: 'spec.title', message: 'expected string' }],
    ],
    [
      '.spec.ports: duplicate entries for key [name="h"]',
      [{ reason: 'FieldValueTypeInvalid', field: 'spec.ports', message: 'duplicate entries for key [name="h"]' }],
    ],
    [
      'errors:\n  .spec.tags: expected list, got &{q}\n  .spec.start: expected numeric (int or float), got string',
      [
        { reason: 'FieldValueTypeInvalid', field: 'spec.tags', message: 'expected list' },
        { reason: 'FieldValueTypeInvalid', field: 'spec.start', message: 'expected numeric (int or float)' },
      ],
    ],
  ])('%s', (text, causes) => {
    expect(refusal(500, prefix + text)).toMatchObject({ code: 400, reason: 'BadRequest', causes, retryable: false });
  });

  it('is distinguished from a 500 of the server itself', () => {
    expect(refusal(500, 'etcdserver: leader changed', { reason: 'InternalError' })).toMatchObject({
      code: 500,
      reason: 'InternalError',
      retryable: true,
    });
  });
});

describe('causes', () => {
  it('come without noise, once each', () => {
    const causes = [
      {
        reason: 'FieldValueTypeInvalid',
        message: 'Invalid value: "integer": spec.title in body must be of type string: "integer"',
        field: 'spec.title',
      },
      { reason: 'FieldValueInvalid', message: `Invalid value: null: ${noise}`, field: '<nil>' },
      {
        reason: 'FieldValueTypeInvalid',
        message: 'Invalid value: "integer": spec.title in body must be of type string: "integer"',
        field: 'spec.title',
      },
    ];
    const message = `Widget.probe.example "a" is invalid: [spec.title: Too long: may not be more than 20 bytes, <nil>: Invalid value: null: ${noise}]`;
    const error = refusal(422, message, { reason: 'Invalid', details: { causes } });
    expect(error.causes).toEqual([
      { reason: 'FieldValueTypeInvalid', field: 'spec.title', message: 'spec.title in body must be of type string: "integer"' },
    ]);
    expect(error.message).toBe('Widget.probe.example "a" is invalid: spec.title: Too long: may not be more than 20 bytes');
  });

  it.each([
    ['Invalid value: "object": end must not be before start', 'end must not be before start'],
    ['Invalid value: "a \\"quoted\\": value": no', 'no'],
    ['Invalid value: 0: should be greater than or equal to 1', 'should be greater than or equal to 1'],
    ['Invalid value: {"a":"b"}: no', 'no'],
    ['Required value', 'Required value'],
    ['Unsupported value: "x": supported values: "a"', 'Unsupported value: "x": supported values: "a"'],
  ])('%s', (message, expected) => {
    expect(
      refusal(422, 'm', { reason: 'Invalid', details: { causes: [{ reason: 'FieldValueInvalid', field: 'spec', message }] } }).causes[0]
        ?.message,
    ).toBe(expected);
  });

  it('of an ownership conflict name the managers', () => {
    const causes = [
      { reason: 'FieldManagerConflict', message: 'conflict with "helm"', field: '.spec.x' },
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "kubectl edit" with subresource "status" using v1 at 2026-01-01T00:00:00Z',
        field: '.spec.y',
      },
    ];
    const error = refusal(409, 'Apply failed', { reason: 'Conflict', details: { causes } });
    expect(error).toMatchObject({ ownershipConflict: true, staleConflict: false, causes });
  });
});

it('a foreign uid is a stale object', () => {
  const causes = [{ reason: 'FieldValueInvalid', message: 'Invalid value: "1": field is immutable', field: 'metadata.uid' }];
  expect(refusal(422, 'm', { reason: 'Invalid', details: { causes } })).toMatchObject({
    code: 409,
    reason: 'Conflict',
    staleConflict: true,
  });
});

it.each([
  [502, '<html>Bad gateway</html>', 'Http502'],
  [503, '', 'ServiceUnavailable'],
  [404, '404 page not found\n', 'NotFound'],
  [401, '{"kind":"Other"}', 'Unauthorized'],
])('an answer of %i that is no Status', (code, text, reason) => {
  const error = errorFromAnswer({ code, text, request: 'GET /x', retryAfter: '7' });
  expect(error).toMatchObject({ code, reason, causes: [], retryAfterMs: 7000 });
  expect(error.message).toContain('GET /x');
});

it('an in-stream error keeps its own code', () => {
  expect(errorFromEvent({ kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }, 'watch')).toMatchObject({
    code: 410,
    reason: 'Expired',
  });
  expect(errorFromEvent({ unexpected: true }, 'watch of x')).toMatchObject({ code: 500, reason: 'InternalError' });
});

const retryable = (code: number, reason: string): boolean => new KubeError({ code, reason, message: '' }).retryable;

it('says which errors may pass by themselves', () => {
  expect(['Unreachable', 'Timeout'].map((reason) => retryable(0, reason))).toEqual([true, true]);
  expect(['Aborted', 'BadKubeConfig'].map((reason) => retryable(0, reason))).toEqual([false, false]);
  expect([409, 429, 500, 502, 503, 504].map((code) => retryable(code, 'Conflict'))).toEqual([true, true, true, true, true, true]);
  expect([400, 401, 403, 404, 410, 413, 422].some((code) => retryable(code, ''))).toBe(false);
  expect(retryable(409, 'AlreadyExists')).toBe(false);
});
