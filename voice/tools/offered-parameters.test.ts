import { describe, expect, it } from 'vitest';

import { offeredParameters } from './offered-parameters.ts';

const text = { type: 'string' };

describe('the parameters that a model is offered', () => {
  it('have properties, without which OpenAI refuses them', () => {
    expect(offeredParameters({ type: 'object' })).toEqual({ type: 'object', properties: {} });
    const day = { type: 'object', properties: { day: text }, required: ['day'], additionalProperties: false };
    expect(offeredParameters(day)).toEqual(day);
  });

  it('name what the alternatives name, in place of alternatives, which OpenAI and Anthropic refuse', () => {
    const attachment = {
      type: 'object',
      anyOf: [
        { type: 'object', properties: { name: text, content: text }, required: ['name', 'content'] },
        { type: 'object', properties: { name: text, source_url: { type: 'string', format: 'uri' } }, required: ['source_url', 'name'] },
      ],
    };
    expect(offeredParameters(attachment)).toEqual({
      type: 'object',
      properties: { name: text, content: text, source_url: { type: 'string', format: 'uri' } },
      required: ['name'],
    });
  });

  it('leave out which of several is required, and what is not allowed', () => {
    const update = { type: 'object', properties: { id: text, title: text }, required: ['id'] };
    const which = { anyOf: [{ required: ['title'] }, { required: ['body'] }], not: { required: ['title', 'body'] } };
    expect(offeredParameters({ ...update, ...which })).toEqual(update);
  });

  it('keep the values of a property by which alternatives are told apart', () => {
    const action = (name: string, more = {}) => ({ properties: { action: { const: name }, ...more }, required: ['action'] });
    expect(offeredParameters({ type: 'object', oneOf: [action('list'), action('add', { title: text })] })).toEqual({
      type: 'object',
      properties: { action: { anyOf: [{ const: 'list' }, { const: 'add' }] }, title: text },
      required: ['action'],
    });
  });

  it('have what a reference and all parts of a schema require', () => {
    const $defs = { a: { properties: { day: text }, required: ['day'] } };
    expect(offeredParameters({ $ref: '#/$defs/a', $defs, allOf: [{ properties: { hour: text }, required: ['hour'] }] })).toEqual({
      type: 'object',
      properties: { day: text, hour: text },
      required: ['day', 'hour'],
      $defs,
    });
  });

  it('of a schema that names itself, nothing, or no schema end', () => {
    const itself = { properties: { day: text }, anyOf: [{ $ref: '#' }, { $ref: '#/anyOf/1' }, { $ref: '#/$defs/missing' }, true, null] };
    expect(offeredParameters(itself)).toEqual({ type: 'object', properties: { day: text } });
    expect(offeredParameters({ properties: [], required: 'day', anyOf: 'x' })).toEqual({ type: 'object', properties: {} });
  });
});
