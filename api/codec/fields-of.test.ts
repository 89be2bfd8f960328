import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { duration, freeValue, localRef, mapOf, mapTo, name, secretKeyRef, setOf, text } from '../../crds/schema.ts';
import { validate } from '../validation/validate.ts';
import { entries, items, milliseconds, reference, seconds, secret } from './conversions.ts';
import { answerShape, createShape, readFields, updateShape } from './fields.ts';
import { fieldsOf } from './fields-of.ts';
import { schemaAt } from './rest-schema.ts';
import { masked } from './secrets.ts';

const spec = z.object({
  model: name(5).describe('Which one.'),
  limits: z
    .object({
      words: z.int().min(2).max(9).default(4).describe('Most words.'),
      wait: duration('2s', '1m').optional().describe('Longest wait.'),
    })
    .prefault({}),
  tags: setOf(text(3), 2).optional(),
  agentRef: localRef().optional(),
  keySecretRef: secretKeyRef().optional().describe('Opens it.'),
  rows: mapOf(z.object({ name: name(4), about: text(6).optional() }), ['name'], 3).optional(),
  params: mapTo(z.object({ value: freeValue().optional() }), 2).optional(),
});
const { answered, field, group } = fieldsOf(spec);
const row = fieldsOf(schemaAt(spec, 'rows.*'));
const param = fieldsOf(schemaAt(spec, 'params.*'));

const fields = {
  model_name: field('model'),
  most_words: field('limits.words'),
  wait_ms: field('limits.wait', { as: milliseconds }),
  wait_seconds: field('limits.wait', { as: seconds, text: 'How long.' }),
  tags: field('tags', { empty: [] }),
  agent_id: field('agentRef', { as: reference, empty: null }),
  key: field('keySecretRef', { as: secret, required: 'create' }),
  rows: field('rows', { as: items({ name: row.field('name'), about: row.field('about') }, { name: 'TestRow' }), empty: [] }),
  params: field('params', { as: entries({ value: param.field('value') }, { name: 'TestParam' }) }),
};
const body = z.object(createShape(fields));
const json = (schema: z.ZodType) =>
  z.toJSONSchema(schema) as unknown as { readonly properties: object; readonly required: readonly string[] };
const issuesOf = (sent: object) => {
  const result = validate(body, { model_name: 'm', key: 'k', ...sent }, []);
  return result.ok ? [] : result.issues.map(({ type, loc }) => `${type} ${loc.join('.')}`);
};

describe('a field of the table', () => {
  it('has the bounds, the default and the text of the resource in a request', () => {
    expect(json(body).required).toEqual(['model_name', 'key']);
    expect(json(body).properties).toMatchObject({
      model_name: { type: 'string', minLength: 1, maxLength: 5, description: 'Which one.' },
      most_words: { anyOf: [{ type: 'integer', minimum: 2, maximum: 9 }, { type: 'null' }], description: 'Most words. Default: `4`.' },
      wait_ms: { anyOf: [{ minimum: 2000, maximum: 60_000 }, { type: 'null' }], description: 'Longest wait. In milliseconds.' },
      wait_seconds: { anyOf: [{ minimum: 2, maximum: 60 }, { type: 'null' }], description: 'How long. In seconds.' },
      agent_id: { anyOf: [{ minLength: 1, maxLength: 253 }, { type: 'null' }] },
    });
  });

  it('may be left out of a change, and null unsets what the resource may lack', () => {
    const { required, properties } = json(z.object(updateShape(fields)));
    expect(required).toBeUndefined();
    expect(properties).toMatchObject({ model_name: { type: 'string' }, key: { anyOf: [{ type: 'string' }, { type: 'null' }] } });
  });

  it('has no bounds in an answer, which lacks what the resource may lack', () => {
    const { required, properties } = json(z.object(answerShape(fields)));
    expect(required).toEqual(['model_name', 'most_words', 'tags', 'agent_id', 'rows']);
    expect(properties).toMatchObject({
      model_name: { type: 'string', description: 'Which one.' },
      agent_id: { type: ['string', 'null'] },
      key: { description: expect.stringContaining('Opens it. `"********"`') },
    });
    expect(properties).not.toHaveProperty('model_name.maxLength');
  });

  it('answers the null that it reads', () => {
    const nobody = { user_id: answered(z.string().nullable(), () => null) };
    expect(readFields(nobody, { spec: {} }, { secrets: masked })).toEqual({ user_id: null });
  });

  it('refuses in lists and maps what the resource refuses', () => {
    expect(issuesOf({ tags: ['a', 'b'], rows: [{ name: 'a' }, { name: 'b' }], params: { a: { value: null } } })).toEqual([]);
    expect(issuesOf({ tags: ['a', 'a'] })).toEqual(['value_error tags.1']);
    expect(issuesOf({ tags: ['a', 'b', 'c'] })).toEqual(['too_long tags']);
    expect(issuesOf({ rows: [{ name: 'a' }, { name: 'a' }] })).toEqual(['value_error rows.1']);
    expect(issuesOf({ rows: [{ name: 'a', about: 'too long' }] })).toEqual(['string_too_long rows.0.about']);
    expect(issuesOf({ params: { a: {}, b: {}, c: {} } })).toEqual(['too_long params']);
    expect(issuesOf({ params: { ['x'.repeat(129)]: {} } })).toEqual([`string_too_long params.${'x'.repeat(129)}.[key]`]);
  });

  it('is one that the resource has', () => {
    // @ts-expect-error: the compiler knows the paths
    expect(() => field('limits.letters')).toThrow('the resource has no field limits.letters');
  });
});

describe('a group of fields', () => {
  it('is required where the resource requires it, and one schema serves both bodies where nothing in it is required', () => {
    const limits = group({ most_words: fields.most_words }, { name: 'TestLimits', path: 'limits' });
    expect(z.object({ limits: limits.create }).safeParse({}).success).toBe(true);
    expect(limits.update.unwrap().unwrap().meta()?.id).toBe('TestLimitsCreate');
    const named = group({ model_name: fields.model_name }, { name: 'TestModel', about: 'Which one.' });
    expect([named.create.safeParse({}).success, named.update.safeParse({}).success]).toEqual([false, true]);
    expect(named.update.unwrap().meta()).toMatchObject({ id: 'TestModelUpdate', description: 'Which one.' });
  });
});
