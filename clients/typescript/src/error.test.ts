import { describe, expect, it } from 'vitest';

import { failureOf, readRetryAfter } from './error.ts';

const answer = (status: number, headers: Record<string, string> = {}): Response => new Response(null, { status, headers });

describe('a failure', () => {
  it('names every field that is wrong, and what to do', () => {
    const body = {
      detail: [
        { type: 'missing', loc: ['body', 'llm', 'model_name'], msg: 'Field required' },
        { type: 'int_parsing', loc: ['query', 'page_size'], msg: 'Input should be a valid integer' },
      ],
    };
    const error = failureOf(answer(422, { 'x-trace-id': 't1' }), body, 'POST /v2/ai-agents');
    expect(error.message).toBe(
      'POST /v2/ai-agents: llm.model_name: Field required; page_size: Input should be a valid integer: change the fields that are named',
    );
    expect(error).toMatchObject({ status: 422, code: 'validation_failed', traceId: 't1', body });
    expect(error.fields).toEqual([
      { field: 'llm.model_name', message: 'Field required' },
      { field: 'page_size', message: 'Input should be a valid integer' },
    ]);
  });

  it('has the code of its group, and of a proxy that of its status', () => {
    const codes = [
      failureOf(answer(404), { error: 'not_found', message: 'AI agent not found' }, 'GET /x'),
      failureOf(answer(409), { status: 409, type: 'CONFLICT', message: 'it is paused' }, 'POST /x'),
      failureOf(answer(502), '<html>Bad Gateway</html>', 'GET /x'),
    ].map(({ code, message }) => [code, message.split(': ')[1]]);
    expect(codes).toEqual([
      ['not_found', 'AI agent not found'],
      ['CONFLICT', 'it is paused'],
      ['http_502', 'HTTP 502'],
    ]);
  });
});

describe('Retry-After', () => {
  it.each([
    ['3', 3_000],
    ['Thu, 01 Jan 1970 00:01:00 GMT', 50_000],
    ['Thu, 01 Jan 1970 00:00:01 GMT', 0],
    ['soon', undefined],
  ])('%s is %s ms', (value, ms) => {
    expect(readRetryAfter(new Headers({ 'retry-after': value }), 10_000)).toBe(ms);
  });
});
