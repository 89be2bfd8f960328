import fc from 'fast-check';
import { pino } from 'pino';
import { expect, it } from 'vitest';

import { aMessage, aQuestion, heardOf } from '../../../test/support/answers.ts';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { called, calls, events, finish, says } from '../../../test/support/model-answers.ts';
import { ProviderOrder } from '../../../calls/fallback/provider-order.ts';
import { toCallFailure, ModelQuirks, type ProviderErrorKind } from '../../../calls/provider-access/index.ts';
import { providerFailureOf } from '../provider-errors.ts';
import { HedgedLanguageModel } from './hedged-language-model.ts';
import { LanguageModel } from './language-model.ts';

const logger = pino({ level: 'silent' });
const endpoint = { part: 'llm', provider: 'p', protocol: 'openai', guarded: false, baseURL: 'http://m' } as const;
const question = aQuestion('When are you open?');
const never = new AbortController().signal;

interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** A server: the body of its answer, one that stays open, or the kind of its failure. */
type Server = (request: Sent) => string | { readonly open: string } | { readonly fails: ProviderErrorKind };

/** The first server is the preferred one. */
const modelWith = (...servers: readonly Server[]) => modelOf(servers);

function modelOf(
  servers: readonly Server[],
  { contextTokens, summarizesFirst }: { readonly contextTokens?: number; readonly summarizesFirst?: boolean } = {},
) {
  const clock = new FakeClock();
  const asked: number[] = [];
  const signals: AbortSignal[] = [];
  const providers = servers.map(
    (server, index) =>
      new LanguageModel({
        endpoint: { ...endpoint, model: `m${index}` },
        quirks: new ModelQuirks(),
        contextTokens,
        clock,
        async fetch(_url, init = {}) {
          const signal = init.signal!;
          asked.push(index);
          signals.push(signal);
          const answer = server(JSON.parse(init.body as string) as Sent);
          if (typeof answer === 'string') return new Response(answer);
          if ('fails' in answer) throw toCallFailure(endpoint, answer.fails, 'failed');
          return new Response(openBody(answer.open, signal));
        },
      }),
  );
  const failure = (rejection: unknown) => providerFailureOf(rejection, 'llm');
  const models = new ProviderOrder({ part: 'llm', providers, restMs: 30_000, failureOf: failure, clock, logger });
  return { model: new HedgedLanguageModel({ models, clock, logger, summarizesFirst }), clock, asked, signals };
}

const openBody = (text: string, signal: AbortSignal): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(body) {
      body.enqueue(Buffer.from(text));
      signal.addEventListener('abort', () => body.error(signal.reason));
    },
  });

/** An answer without its end. */
const brokenOff = (...pieces: readonly string[]): string => events(...pieces.map(says)).replace('data: [DONE]\n\n', '');
const whole = (...pieces: readonly string[]): string => events(...pieces.map(says), finish('stop'));

it.each(['👍', '...', '---\n'])('asks again after an answer that nobody could say: %j', async (unspoken) => {
  const answers = [whole(unspoken), whole(unspoken, ' At nine.')];
  const { model, asked } = modelWith(() => answers.shift()!);
  expect(await heardOf(model.answer(question, never))).toMatchObject({ text: `${unspoken} At nine.` });
  expect(asked).toHaveLength(2);
});

it.each<[ProviderErrorKind, readonly number[]]>([
  ['runtime', [100, 500]],
  ['unreachable', [100, 500]],
  ['payload', [100, 500]],
  ['refused', []],
])('asks again after a failure of kind %s when %j ms have passed each time', async (kind, pauses) => {
  const { model, clock, asked } = modelWith(
    () => ({ fails: kind }),
    () => ({ fails: 'runtime' }),
  );
  const failed = heardOf(model.answer(question, never)).catch((error: unknown) => providerFailureOf(error, 'llm').kind);
  for (const [retries, pauseMs] of pauses.entries()) {
    await clock.advance(pauseMs - 1);
    expect(asked).toHaveLength(2 * (retries + 1));
    await clock.advance(1);
  }
  expect([await failed, asked.length]).toEqual([kind, 2 * (pauses.length + 1)]);
});

it('asks once where something was said, and fails with what broke it off', async () => {
  const { model, asked } = modelWith(() => brokenOff('We are open'));
  const answer = model.answer(question, never);
  expect((await answer.next()).value).toEqual({ type: 'text', text: 'We are open' });
  await expect(answer.next()).rejects.toMatchObject({ kind: 'connection_lost' });
  expect(asked).toEqual([0]);
});

it('gives calls whole, behind the words before them, and those of an answer that was cut off as incomplete', async () => {
  const body = (reason: string) => events(says('One mo'), says('ment'), calls(called(0, 't0', 'book', '{"day":1}')), finish(reason));
  for (const [reason, complete] of [['tool_calls', true] as const, ['length', false] as const]) {
    const other = () => whole('Never.');
    const heard: unknown[] = [];
    for await (const event of modelWith(() => body(reason), other).model.answer(question, never)) heard.push(event);
    expect(heard).toMatchObject([
      { type: 'text', text: 'One ' },
      { type: 'text', text: 'moment' },
      { type: 'call', call: { id: 't0', name: 'book', arguments: '{"day":1}' }, complete },
    ]);
  }
});

it('lets go of a request whose answer nobody reads, and not of one that is complete', async () => {
  const left = modelWith(() => ({ open: brokenOff('One') }));
  const answer = left.model.answer(question, never);
  await answer.next();
  expect(left.signals.map(({ aborted }) => aborted)).toEqual([false]);
  await answer.return();
  const read = modelWith(() => whole('One'));
  await heardOf(read.model.answer(question, never));
  expect([left, read].map(({ signals }) => signals.map(({ aborted }) => aborted))).toEqual([[true], [false]]);
});

it.each<[string, Server]>([
  ['an answer', () => ({ open: '' })],
  ['its rest', () => ({ open: brokenOff('One') })],
  ['another attempt', () => ({ fails: 'runtime' })],
])('fails with the reason of the signal while it waits for %s', async (_what, server) => {
  const over = new AbortController();
  const { model } = modelWith(server);
  const heard = heardOf(model.answer(question, over.signal));
  await settle();
  over.abort(new Error('the call is over'));
  await expect(heard).rejects.toThrow('the call is over');
});

const word = fc.stringMatching(/^[a-j]{2,6}$/);

it('says each word once, wherever models break off, whether the next begins again or goes on', async () => {
  const words = fc.uniqueArray(word, { minLength: 2, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      words,
      fc.array(fc.nat(100), { minLength: 1, maxLength: 2 }),
      fc.boolean(),
      fc.nat(3),
      async (all, cuts, again, size) => {
        const text = `${all.join(' ')}.`;
        const pieces = (part: string): readonly string[] => part.match(new RegExp(`.{1,${size + 1}}`, 'gu')) ?? [];
        const restOf = ({ messages }: Sent): string => {
          const said = messages.findLast(({ role }) => role === 'assistant')?.content ?? '';
          return again ? text : text.slice(said.length).trimStart();
        };
        const breaking = cuts.map((cut): Server => (request) => {
          const rest = restOf(request);
          return brokenOff(...pieces(rest.slice(0, cut % (rest.length + 1))));
        });
        const { model } = modelWith(...breaking, (request) => whole(...pieces(restOf(request))));
        expect((await heardOf(model.answer(question, never))).text).toBe(text);
      },
    ),
  );
});

it('tells the next model what was said, and not the conversation', async () => {
  const sent: Sent[] = [];
  const history = [aMessage('user', 'When are you open?')];
  const { model } = modelWith(
    () => brokenOff('We are open ', 'from ni'),
    (request) => {
      sent.push(request);
      return whole('from nine.');
    },
  );
  expect((await heardOf(model.answer({ ...question, history }, never))).text).toBe('We are open from nine.');
  expect(sent[0]?.messages).toMatchObject([{ role: 'user' }, { role: 'assistant', content: 'We are open from' }, { role: 'user' }]);
  expect(history).toHaveLength(1);
});

it.each([
  [false, ['answer', 'summary']],
  [true, ['summary', 'answer']],
])('summarises a long conversation before the answer that needs it, or beside it: %j', async (summarizesFirst, order) => {
  const asked: string[] = [];
  const { model } = modelOf(
    [
      ({ messages: [system] }) => {
        asked.push(system?.content.startsWith('You are given the beginning') === true ? 'summary' : 'answer');
        return whole('Ann wants a table.');
      },
    ],
    { contextTokens: 1024, summarizesFirst },
  );
  const history = Array.from({ length: 40 }, (_, turn) => aMessage(turn % 2 === 0 ? 'user' : 'agent', 'words '.repeat(40)));
  await heardOf(model.answer({ ...question, history }, never));
  await settle();
  expect(asked).toEqual(order);
});
