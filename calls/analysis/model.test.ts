import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { chunk, events, finish, says } from '../../test/support/model-answers.ts';
import { Model } from './model.ts';

const endpoint = { part: 'llm', provider: 'p', protocol: 'openai', guarded: false, baseURL: 'http://m', model: 'm' } as const;

/** Returns what is understood from a server that answers with this body. */
const answerOf = (body: string): Promise<string> =>
  new Model({ egress: { dispatcher: undefined as never }, clock: new FakeClock(), intercept: () => async () => new Response(body) }).ask({
    endpoint,
    messages: [],
    schema: {},
    signal: new AbortController().signal,
  });

const whole = (message: object): string => JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] });

it.each([
  ['one object', whole({ content: '{"mood":"good"}' })],
  [
    'parts',
    whole({
      content: [
        { type: 'text', text: '{"mood":' },
        { type: 'text', text: '"good"}' },
      ],
    }),
  ],
  ['a stream that nobody asked for', events(says('{"mood":'), says('"good"}'), finish('stop'))],
  ['its reasoning first', whole({ content: '<think>{"mood":"bad"}?</think>\n{"mood":"good"}' })],
  ['its reasoning first, which only ends', whole({ content: '{"mood":"bad"}?</think>{"mood":"good"}' })],
  ['its reasoning first, which only ends, streamed', events(says('{"mood":"bad"}?'), says('</think>{"mood":"good"}'), finish('stop'))],
  ['its reasoning elsewhere', whole({ reasoning_content: '{"mood":"bad"}?', content: '{"mood":"good"}' })],
])('reads the answer of a model that sends %s', async (_what, body) => {
  expect(await answerOf(body)).toBe('{"mood":"good"}');
});

it('takes an empty answer for one, and none that is too long', async () => {
  expect(await answerOf(events(chunk({ refusal: 'No.' }), finish('stop')))).toBe('');
  await expect(answerOf(events(says('x'.repeat(2 ** 20)), says('x'), finish('stop')))).rejects.toMatchObject({ kind: 'payload' });
});
