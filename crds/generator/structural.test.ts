import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { freeObject, freeValue, list, mapOf, textMap } from '../schema.ts';
import { StructuralSchemaError, toStructuralSchema } from './structural.ts';

const convert = (field: z.ZodType) =>
  toStructuralSchema(z.object({ a: z.object({ b: field }) }), 'Kind.spec').properties?.['a']?.properties?.['b'];

describe('what a structural schema can hold', () => {
  const held: readonly (readonly [string, z.ZodType, Record<string, unknown>])[] = [
    ['bounded text', z.string().min(1).max(5), { type: 'string', minLength: 1, maxLength: 5 }],
    ['a pattern', z.string().max(5).regex(/^a+$/), { type: 'string', maxLength: 5, pattern: '^a+$' }],
    ['an escaped backslash before a digit', z.string().max(5).regex(/^\\1$/), { type: 'string', maxLength: 5, pattern: '^\\\\1$' }],
    ['an enum, in its order', z.enum(['b', 'a']), { type: 'string', enum: ['b', 'a'] }],
    ['a constant, as an enum of one', z.literal('x'), { type: 'string', enum: ['x'] }],
    ['a time, checked by its format', z.iso.datetime().max(64), { type: 'string', format: 'date-time', maxLength: 64 }],
    ['a small integer', z.int().min(0).max(5), { type: 'integer', format: 'int32', minimum: 0, maximum: 5 }],
    ['an integer without end', z.int().min(0), { type: 'integer', format: 'int64', minimum: 0 }],
    ['an integer without bounds', z.int(), { type: 'integer', format: 'int64' }],
    ['a number', z.number().min(0).max(2).optional(), { type: 'number', minimum: 0, maximum: 2 }],
    ['a default and a description', z.boolean().default(false).describe('d'), { type: 'boolean', default: false, description: 'd' }],
    [
      'defaults of an object, by a default for the object',
      z.object({ c: z.int().min(0).max(1).default(1) }).prefault({}),
      {
        type: 'object',
        default: {},
        properties: { c: { type: 'integer', format: 'int32', minimum: 0, maximum: 1, default: 1 } },
      },
    ],
    ['an object without fields', z.object({}), { type: 'object' }],
    [
      'required fields, sorted',
      z.object({ z: z.boolean(), y: z.boolean(), x: z.boolean().optional() }),
      {
        type: 'object',
        properties: { z: { type: 'boolean' }, y: { type: 'boolean' }, x: { type: 'boolean' } },
        required: ['y', 'z'],
      },
    ],
    ['a list', list(z.boolean(), 3), { type: 'array', items: { type: 'boolean' }, maxItems: 3, 'x-kubernetes-list-type': 'atomic' }],
    [
      'a list by key',
      mapOf(z.object({ name: z.string().max(3) }), ['name'], 3),
      {
        type: 'array',
        items: { type: 'object', properties: { name: { type: 'string', maxLength: 3 } }, required: ['name'] },
        maxItems: 3,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
    ],
    [
      'a map, its keys bounded by a rule',
      textMap(3, 5),
      {
        type: 'object',
        additionalProperties: { type: 'string', maxLength: 5 },
        maxProperties: 3,
        'x-kubernetes-map-type': 'atomic',
        'x-kubernetes-validations': [{ rule: 'self.all(key, key.size() <= 128)', message: 'keys may have at most 128 characters' }],
      },
    ],
    [
      'any object',
      freeObject(4),
      { type: 'object', maxProperties: 4, 'x-kubernetes-map-type': 'atomic', 'x-kubernetes-preserve-unknown-fields': true },
    ],
    ['any value', freeValue(), { nullable: true, 'x-kubernetes-preserve-unknown-fields': true }],
  ];
  it.each(held)('%s', (_name, field, expected) => {
    expect(convert(field)).toEqual(expected);
  });
});

describe('what stops the generation, with its path', () => {
  const refused: readonly (readonly [string, z.ZodType, RegExp, string?])[] = [
    ['text without a bound', z.string(), /needs maxLength/],
    ['a list without a bound', z.array(z.boolean()).meta({ 'x-kubernetes-list-type': 'atomic' }), /needs maxItems/],
    ['a list without a type', z.array(z.boolean()).max(3), /needs x-kubernetes-list-type/],
    ['a map without a bound', z.record(z.string(), z.boolean()), /needs maxProperties/],
    [
      'any object without a bound',
      z.record(z.string(), z.unknown()).meta({ 'x-kubernetes-preserve-unknown-fields': true }),
      /needs maxProperties/,
    ],
    ['unbounded items', list(z.string(), 3), /needs maxLength/, 'Kind.spec.a.b[]'],
    ['unbounded values', z.record(z.string(), z.string()).meta({ maxProperties: 3 }), /needs maxLength/, 'Kind.spec.a.b{}'],
    ['a bound on keys', z.record(z.string().max(3), z.boolean()).meta({ maxProperties: 3 }), /keys of a map/],
    ['a lookahead', z.string().max(3).regex(/(?=a)/), /lookahead/],
    [
      'a lookbehind',
      z
        .string()
        .max(3)
        .regex(/(?<!a)b/),
      /lookbehind/,
    ],
    ['a backreference', z.string().max(3).regex(/(a)\1/), /backreference/],
    [
      'a unicode escape',
      z
        .string()
        .max(3)
        .regex(/\u0041/),
      /escape/,
    ],
    [
      'a repetition beyond RE2',
      z
        .string()
        .max(3)
        .regex(/a{1001}/),
      /1000 times/,
    ],
    ['flags of a pattern', z.string().max(3).regex(/a/i), /flags/],
    ['two patterns', z.string().max(3).regex(/a/).regex(/b/), /"allOf"/],
    ['a format that the server ignores', z.email().max(3), /format "email"/],
    ['null', z.string().max(3).nullable(), /without a type|type/],
    ['a choice of types', z.union([z.string().max(3), z.boolean()]), /without a type/],
    [
      'a discriminated union',
      z.discriminatedUnion('k', [z.object({ k: z.literal('a') }), z.object({ k: z.literal('b') })]),
      /without a type/,
    ],
    ['a tuple', z.tuple([z.boolean()]), /tuple/],
    [
      'a transform',
      z
        .string()
        .max(3)
        .transform((word) => word.length),
      /transform/,
    ],
    [
      'a refinement',
      z
        .string()
        .max(3)
        .refine((word) => word !== ''),
      /CEL rule/,
    ],
    ['a clean-up', z.string().max(3).trim(), /trim/],
    ['an exclusive bound', z.number().gt(1), /"exclusiveMinimum"/],
    ['a multiple', z.int().multipleOf(2), /"multipleOf"/],
    ['a closed object', z.strictObject({ c: z.boolean() }), /additionalProperties: false/],
    ['an unknown keyword', z.boolean().meta({ 'x-other': true }), /"x-other"/],
    ['anything at all', z.unknown(), /without a type/],
    ['a date', z.date(), /Date/, 'Kind.spec'],
    ['a default in an item', mapOf(z.object({ name: z.string().max(3).default('x') }), ['name'], 3), /drifts/, 'Kind.spec.a.b[].name'],
    [
      'a default in a map value',
      z.record(z.string(), z.object({ c: z.boolean().default(true) })).meta({ maxProperties: 3 }),
      /drifts/,
      'Kind.spec.a.b{}.c',
    ],
    ['a transform in an item', list(z.string().max(3).trim(), 3), /trim/, 'Kind.spec.a.b[]'],
  ];
  it.each(refused.map(([name, field, problem, path = 'Kind.spec.a.b']) => [name, field, problem, path] as const))(
    '%s',
    (_name, field, problem, path) => {
      let thrown: unknown;
      try {
        convert(field);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(StructuralSchemaError);
      expect(thrown).toMatchObject({ path, message: expect.stringMatching(problem) as string });
    },
  );
});
