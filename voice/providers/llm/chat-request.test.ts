import { expect, it } from 'vitest';

import { aQuestion, aTool } from '../../../test/support/answers.ts';
import { chatRequestOf } from './chat-request.ts';

const endpoint = { part: 'llm', provider: 'openai', protocol: 'openai', guarded: false, baseURL: 'http://m', model: 'gpt-4o' } as const;
const asked = aQuestion('When are you open?');
const book = aTool('book', { day: { type: 'string' } });
const tools = [book, aTool('ask')];

it('asks for a stream of an answer, without what is not set', () => {
  expect(chatRequestOf({ endpoint, request: asked })).toEqual({
    model: 'gpt-4o',
    messages: [{ role: 'user', content: 'When are you open?' }],
    stream: true,
    stream_options: { include_usage: true },
  });
});

it.each([
  ['gpt-4o', false, 0, undefined],
  ['o3', false, undefined, undefined],
  ['openai/gpt-5', false, undefined, undefined],
  ['gpt-5-mini', true, undefined, 'minimal'],
  ['gpt-5.1', true, undefined, 'none'],
  ['gpt-5.2', false, undefined, 'none'],
  ['gpt-5.2', true, undefined, undefined],
])('asks %s, with tools: %s, with temperature %s and effort %s', (model, withTools, temperature, effort) => {
  const request = withTools ? { ...asked, tools } : asked;
  const body = chatRequestOf({ endpoint: { ...endpoint, model }, request, temperature: 0 });
  expect([body['temperature'], body['reasoning_effort']]).toEqual([temperature, effort]);
});

it.each([
  ['openai', 'max_completion_tokens'],
  ['azure_openai', 'max_completion_tokens'],
  ['groq', 'max_tokens'],
])('limits the answer of %s by %s', (provider, name) => {
  expect(chatRequestOf({ endpoint: { ...endpoint, provider }, request: asked, maxTokens: 5 })).toMatchObject({ [name]: 5 });
});

it.each([
  ['openai', { type: 'object', properties: {} }],
  ['google', undefined],
])('offers %s its tools by their names, without a name for the schema', (provider, none) => {
  const { parameters } = book;
  const named = { ...book, parameters: { $schema: 'http://json-schema.org/draft-07/schema#', ...parameters } };
  const body = chatRequestOf({ endpoint: { ...endpoint, provider }, request: { ...asked, tools: [named, aTool('ask')] } });
  expect(body['tools']).toEqual([
    { type: 'function', function: { name: 'ask', description: 'A tool that is called ask.', ...(none && { parameters: none }) } },
    { type: 'function', function: { name: 'book', description: 'A tool that is called book.', parameters } },
  ]);
  expect(body).not.toHaveProperty('tool_choice');
});

it('forbids calls only where there are tools', () => {
  expect(chatRequestOf({ endpoint, request: { ...asked, tools, mayCall: false } })).toMatchObject({ tool_choice: 'none' });
  expect(chatRequestOf({ endpoint, request: { ...asked, mayCall: false } })).not.toHaveProperty('tool_choice');
});
