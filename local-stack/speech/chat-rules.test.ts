import { describe, expect, it } from 'vitest';

import { answerByRules, readOut, valueFor, type RuleMessage, type RuleTool } from './chat-rules.ts';

const endCall: RuleTool = { name: 'end_call', description: 'Ends the call', parameters: { type: 'object', properties: {} } };
const search: RuleTool = {
  name: 'search_knowledge_base',
  description: 'Looks things up',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};
const order: RuleTool = {
  name: 'look_up_order',
  description: 'Returns the status of an order.',
  parameters: {
    type: 'object',
    properties: { order_number: { type: 'string' }, detail: { type: 'string', enum: ['short', 'full'] }, loud: { type: 'boolean' } },
    required: ['order_number', 'detail'],
  },
};
const user = (content: string): RuleMessage => ({ role: 'user', content });
const answer = (said: string, ...tools: readonly RuleTool[]) => answerByRules([user(said)], tools);

describe('a tool', () => {
  it('is called when its words occur, with what its schema asks for', () => {
    const { calls } = answer('Where is my order four seven one one?', endCall, search, order);
    expect(calls).toEqual([{ name: 'look_up_order', arguments: { order_number: '4711', detail: 'short' } }]);
  });

  it('gets a number in the form that it wants, or the example of it', () => {
    const pattern = '^HB-[0-9]{5}$';
    const description = 'The number, as the caller says it, e.g. HB-20417.';
    const parameters = {
      type: 'object',
      properties: { order_number: { type: 'string', pattern, description } },
      required: ['order_number'],
    };
    const called = (said: string) => answer(said, { ...order, parameters }).calls[0]?.arguments;
    expect(called('Where is my order two oh four one five?')).toEqual({ order_number: 'HB-20415' });
    expect(called('Where is my order?')).toEqual({ order_number: 'HB-20417' });
  });

  it('that the user does not mention is not called', () => {
    expect(answer('Hello there', endCall, order).calls).toEqual([]);
    expect(answer('Tell me about the weather', endCall, order).calls).toEqual([]);
  });

  it('has its answer read out, and is not called again', () => {
    const history = [
      user('my order'),
      { role: 'assistant', content: '' },
      { role: 'tool', content: '{"status":"ready","pick_up":{"day":"Monday"}}' },
    ];
    expect(answerByRules(history, [order])).toEqual({ text: 'status: ready, day: Monday.', calls: [] });
  });
});

it('looks questions up where there is something to look them up in', () => {
  expect(answer('What does an inspection cost?', search).calls).toEqual([
    { name: 'search_knowledge_base', arguments: { query: 'What does an inspection cost?' } },
  ]);
  expect(answer('What does an inspection cost?').calls).toEqual([]);
});

it.each(['Thank you, good bye.', 'that is all', 'Tschüss'])('hangs up after "%s"', (said) => {
  expect(answer(said, endCall, order)).toEqual({ text: 'Good bye.', calls: [{ name: 'end_call', arguments: {} }] });
  expect(answer(said).calls).toEqual([]);
});

it('says what it is when it has nothing to say', () => {
  expect(answer('The sky is very blue').text).toBe(
    'You said: The sky is very blue. I answer by a few rules, so that is all I can say about it.',
  );
});

it.each([
  [{ type: 'integer' }, 3],
  [{ type: ['null', 'number'] }, 3],
  [{ type: 'boolean' }, true],
  [{ type: 'array', items: { type: 'integer' } }, [3]],
  [{ enum: ['red', 'light_blue'] }, 'light_blue'],
  [{ type: 'object', properties: { colour: { enum: ['red'] } } }, { colour: 'red' }],
])('finds a value for %j', (schema, value) => {
  expect(valueFor('thing', schema, 'three light blue ones, 3')).toEqual(value);
});

it('reads out what is no JSON as it is, and little of what is long', () => {
  expect(readOut('It is ready.')).toBe('It is ready.');
  expect(readOut('[]')).toBe('There is nothing about that.');
  const found = '{"results":[{"source":"Handbook","page":2,"content":"It is closed today. It costs 40 euros."}]}';
  expect(readOut(found, 'what does it cost')).toBe('It costs 40 euros.');
  expect(readOut(found, 'where is my bicycle')).toBe('I did not find anything about that.');
  expect(readOut(JSON.stringify({ text: 'x'.repeat(10_000) })).length).toBeLessThan(400);
});
