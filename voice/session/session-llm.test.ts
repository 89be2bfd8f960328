import { initializeLogger, llm, type metrics } from '@livekit/agents';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';

import { offeredParameters } from '../tools/offered-parameters.ts';
import { ProviderError, providerFailureOf, type AnswerEvent } from '../providers/index.ts';
import { chatMessagesOf } from '../providers/llm/chat-messages.ts';
import { answerRequestOf, SessionLlm } from './session-llm.ts';

beforeAll(() => initializeLogger({ pretty: false, level: 'silent' }));

const asked = new llm.ChatContext([llm.ChatMessage.create({ role: 'user', content: 'When are you open?' })]);

/** What the session gets of a model that answers this. */
async function heardOf(answer: () => AsyncIterable<AnswerEvent>) {
  const inner = { provider: 'p', model: 'm', answer: answer as () => AsyncGenerator<AnswerEvent, void> };
  const model = new SessionLlm({ inner, mayBeEmpty: () => false });
  const errors: { readonly error: Error; readonly recoverable: boolean }[] = [];
  model.on('error', (event) => errors.push(event));
  const measured = new Promise<metrics.LLMMetrics>((resolve) => model.on('metrics_collected', resolve));
  const { text, toolCalls, extra } = await model.chat({ chatCtx: asked }).collect();
  return { text, calls: toolCalls.map(({ name, args }) => `${name} ${args}`), extra, errors, metrics: await measured };
}

const called = (args: string, complete = true): AnswerEvent => ({
  type: 'call',
  call: { id: args, name: 'book', arguments: args },
  complete,
});

describe('a session', () => {
  it('hears an answer, and measures it', async () => {
    const heard = await heardOf(async function* answer() {
      yield { type: 'extra', extra: { google: { thought_signature: 's' } } };
      yield { type: 'text', text: 'One ' };
      yield { type: 'text', text: 'moment.' };
      yield called('{"day":1}');
      yield { type: 'usage', usage: { inputTokens: 30, outputTokens: 4, cachedTokens: 20 } };
    });
    expect(heard).toMatchObject({
      text: 'One moment.',
      calls: ['book {"day":1}'],
      extra: { google: { thought_signature: 's' } },
      errors: [],
      metrics: { promptTokens: 30, completionTokens: 4, promptCachedTokens: 20, metadata: { modelProvider: 'p', modelName: 'm' } },
    });
    expect(heard.metrics.ttftMs).toBeGreaterThanOrEqual(0);
  });

  it('runs no call of an answer that was cut off, and none whose arguments are no JSON', async () => {
    const { calls } = await heardOf(async function* answer() {
      yield called('{"day":1}', false);
      yield called('{"day":');
    });
    expect(calls).toEqual(['book {"unreadable_arguments":"{\\"day\\":1}"}', 'book {"unreadable_arguments":"{\\"day\\":"}']);
  });

  it('gets the failure once, as final', async () => {
    const failure = new ProviderError({ part: 'llm', kind: 'runtime', provider: 'p', message: 'it failed' });
    const { text, errors, metrics } = await heardOf(async function* answer() {
      yield { type: 'text', text: 'One' };
      throw failure;
    });
    expect([text, errors.map(({ recoverable }) => recoverable), metrics.promptTokens]).toEqual(['One', [false], 0]);
    expect(providerFailureOf(errors[0], 'llm')).toBe(failure);
  });

  it('is told nothing when it wants no more of an answer', async () => {
    const given = Promise.withResolvers<unknown>();
    const inner = {
      provider: 'p',
      model: 'm',
      async *answer(_request: unknown, signal: AbortSignal): AsyncGenerator<AnswerEvent, void> {
        yield { type: 'text', text: 'One' };
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        given.resolve(signal.aborted);
        signal.throwIfAborted();
      },
    };
    const model = new SessionLlm({ inner, mayBeEmpty: () => false });
    const errors: unknown[] = [];
    model.on('error', (event) => errors.push(event));
    const stream = model.chat({ chatCtx: asked });
    expect((await stream.next()).value?.delta?.content).toBe('One');
    const measured = new Promise<metrics.LLMMetrics>((resolve) => model.on('metrics_collected', resolve));
    stream.close();
    expect([await given.promise, (await measured).cancelled, errors]).toEqual([true, true, []]);
  });

  it('offers its tools by their schemas, and says when they may not be called', () => {
    const parameters = offeredParameters({ properties: { day: { type: 'string' } } });
    const toolCtx = [llm.tool({ name: 'book', description: 'Books.', parameters, execute: async () => '' })];
    const request = answerRequestOf({ chatCtx: asked, toolCtx, toolChoice: 'none' }, () => true);
    expect(request).toMatchObject({ tools: [{ name: 'book', description: 'Books.', parameters }], mayCall: false });
    expect([answerRequestOf({ chatCtx: asked }, () => true).mayCall, request.mayBeEmpty()]).toEqual([true, true]);
  });
});

describe('a conversation', () => {
  const extra = fc.option(
    fc.dictionary(fc.constantFrom('google', 'livekit', 'xai', 'openai'), fc.record({ thought_signature: fc.string() }), { maxKeys: 2 }),
    { nil: {} },
  );
  const callId = fc.constantFrom('call 1', 'call 2', 'call 3', 'call 4');
  const answer = fc.constantFrom('a', 'b', 'c');
  const message = (role: llm.ChatRole) =>
    fc
      .record({ extra, content: fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 2 }) })
      .map((more) => llm.ChatMessage.create({ role, ...more }));
  const prompt = fc.string({ minLength: 1 }).map((content) => llm.ChatMessage.create({ role: 'system', content }));
  /** Of an answer there is one message, and calls whose ids begin with its. */
  const ofAgent = fc
    .record({ id: answer, extra, content: fc.string() })
    .map((more) => llm.ChatMessage.create({ role: 'assistant', ...more, content: [more.content] }));
  const ofTool = fc.record({ callId, extra, in: answer, number: fc.nat(3), byGroup: fc.boolean(), args: fc.json() }).map((made) => {
    const place = made.byGroup ? { groupId: made.in } : { id: `${made.in}/fnc_${made.number}` };
    return llm.FunctionCall.create({ callId: made.callId, name: 'find', args: made.args, extra: made.extra, ...place });
  });
  const output = fc
    .record({ callId, output: fc.string() })
    .map((more) => llm.FunctionCallOutput.create({ ...more, name: 'find', isError: false }));
  const items = fc
    .tuple(
      fc.array<llm.ChatItem>(prompt, { maxLength: 1 }),
      fc.array(fc.oneof(message('user'), message('assistant'), ofAgent, ofTool, output), { maxLength: 30 }),
    )
    .map(([first, rest]) => {
      const seen = new Set<string>();
      return first.concat(rest.filter((item) => item.type !== 'message' || (!seen.has(item.id) && seen.add(item.id))));
    });

  it('goes to the model in the same messages as by LiveKit', async () => {
    await fc.assert(
      fc.asyncProperty(items, async (all) => {
        const chatCtx = new llm.ChatContext(all);
        const messages = chatMessagesOf(answerRequestOf({ chatCtx }, () => false));
        expect(JSON.stringify(messages)).toBe(JSON.stringify(await chatCtx.toProviderFormat('openai')));
      }),
      { numRuns: 500 },
    );
  });
});
