import { describe, expect, it } from 'vitest';

import { createArgumentCheck, fitArguments } from './arguments.ts';

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 }, unit: { enum: ['C', 'F'] } },
  required: ['city'],
  additionalProperties: false,
};

describe('createArgumentCheck', () => {
  it('has nothing against what fits', () => {
    expect(createArgumentCheck(schema)({ city: 'Paris', days: 2, unit: 'C' })).toBeUndefined();
  });

  it('says all that does not fit, so that the model can correct it', () => {
    const complaint = createArgumentCheck(schema)({ days: 0, unit: 'K', extra: 1 });
    for (const part of ["must have required property 'city'", 'days must be >= 1', '["C","F"]', 'extra', 'nothing was done']) {
      expect(complaint).toContain(part);
    }
  });

  it('does not blame the model for what is not its to say', () => {
    expect(createArgumentCheck(schema, new Set(['city', 'days']))({ days: 'seven' })).toBeUndefined();
    expect(createArgumentCheck(schema, new Set(['city']))({ days: 'seven' })).toContain('days');
  });

  it.each([
    [
      'the newer dialect',
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { a: { $ref: '#/$defs/x' } },
        $defs: { x: { type: 'number' } },
      },
    ],
    [
      'the older dialect',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { a: { $ref: '#/definitions/x' } },
        definitions: { x: { type: 'number' } },
      },
    ],
    ['neither', { properties: { a: { anyOf: [{ type: 'number' }, { type: 'null' }] } } }],
    ['odd keywords and formats', { type: 'object', 'x-order': 1, properties: { a: { type: 'number', format: 'nonsense', example: 3 } } }],
    [
      'a pattern that only an older engine takes',
      { type: 'object', properties: { a: { type: 'number' }, b: { type: 'string', pattern: '^[\\w-.]+$' } } },
    ],
  ])('understands a schema of %s', (_what, odd) => {
    const check = createArgumentCheck(odd);
    expect(check({ a: 1 })).toBeUndefined();
    expect(check({ a: 'one' })).toContain('a must be');
  });

  it('refuses nothing for a schema that cannot be understood', () => {
    expect(createArgumentCheck({ type: 'object', properties: { a: { $ref: 'https://elsewhere.example/x' } } })({ a: 1 })).toBeUndefined();
    expect(createArgumentCheck({})({ a: 1 })).toBeUndefined();
  });

  it.each([
    ['a pattern that tries every way to divide a text', { a: { type: 'string', pattern: '^(x+)+$' } }, { a: `${'x'.repeat(60)}!` }],
    ['references that double forty times', { $ref: '#/$defs/d0' }, {}],
    ['a schema that is a part of itself', { $ref: '#' }, {}],
  ])('gives up on %s', (_what, given, args) => {
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [
        `d${n}`,
        n === 39 ? {} : { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
      ]),
    );
    const check = createArgumentCheck('$ref' in given ? { ...given, $defs: doubling } : { type: 'object', properties: given });
    expect(check(args)).toBeUndefined();
    expect(check(args)).toBeUndefined();
  });
});

describe('fitArguments', () => {
  const guests = { type: 'array', items: { type: 'object', properties: { age: { type: 'integer' } } } };
  const properties = {
    name: { type: 'string' },
    email: { type: 'string' },
    unit: { enum: ['C', 'F'] },
    note: { type: ['string', 'null'] },
    guests,
    days: { $ref: '#/$defs/days' },
    price: { anyOf: [{ type: 'number' }, { type: 'boolean' }] },
  };
  const booking = {
    type: 'object',
    properties,
    required: ['name'],
    additionalProperties: false,
    $defs: { days: { type: 'integer', maximum: 9 } },
  };

  it.each([
    ['null for what is optional is absent', { name: 'Ada', email: null, unit: null }, { name: 'Ada' }],
    ['null stays where the schema has it', { name: 'Ada', note: null, email: null }, { name: 'Ada', note: null }],
    ['a number as a text is the number', { name: 'Ada', days: '2', price: '2.5' }, { name: 'Ada', days: 2, price: 2.5 }],
    ['a boolean as a text is the boolean', { name: 'Ada', price: 'true' }, { name: 'Ada', price: true }],
    ['within lists, too', { name: 'Ada', guests: [{ age: '7' }, { age: null }] }, { name: 'Ada', guests: [{ age: 7 }, {}] }],
  ])('%s', (_what, args, expected) => {
    expect(fitArguments(booking, args)).toEqual(expected);
    expect(createArgumentCheck(booking)(fitArguments(booking, args))).toBeUndefined();
  });

  it.each([
    { name: null },
    { days: '2.5' },
    { days: '007' },
    { days: '1e1' },
    { days: '12' },
    { days: 'two' },
    { name: 5 },
    { more: null },
    { unit: 'K' },
  ])('makes nothing fit that does not: %j', (args) => {
    expect(createArgumentCheck(booking)(fitArguments(booking, { name: 'Ada', ...args }))).toBeDefined();
  });

  it('leaves what fits, and what a schema can not be understood for', () => {
    for (const [parameters, args] of [
      [booking, { name: '2' }],
      [{ $ref: 'https://elsewhere.example/x' }, { a: null }],
    ] as const)
      expect(fitArguments(parameters, args)).toBe(args);
  });
});
