/** A collector gets where the time of a call went, in the words of OpenTelemetry's conventions for generative AI. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { isGenAi, violationsOf } from '../../support/gen-ai-conventions.ts';
import { aKnowledgeBase } from '../../support/knowledge-base.ts';
import { startOtlpReceiver, type ReceivedSpan } from '../../support/otlp-receiver.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage } from './stage.ts';

const STORY = 'Breakfast is served from seven to ten in the large hall behind the reception.';
afterAll(dispose);
const collector = suiteFixture(startOtlpReceiver);
const stage = suiteFixture(() =>
  openStage({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '200',
    PARLEY_VOICE_IDLE_PROCESSES: '1',
  }),
);

const traceIdOf = (n: number): string => `4bf92f3577b34da6a3ce929d0e0e47${n.toString(16).padStart(2, '0')}`;
const traceparentOf = (n: number): string => `00-${traceIdOf(n)}-00f067aa0ba902b7-01`;
const operationOf = ({ attributes }: ReceivedSpan): unknown => attributes['gen_ai.operation.name'];

/** Returns the spans of the trace, once its call has ended. */
async function spansOf(n: number): Promise<readonly ReceivedSpan[]> {
  return eventually(() => {
    const spans = collector.spans.filter(({ traceId }) => traceId === traceIdOf(n));
    expect(spans.map(({ name }) => name)).toContain('call');
    return spans;
  });
}

const sum = (spans: readonly ReceivedSpan[], key: string): number =>
  spans.reduce((total, { attributes }) => total + Number(attributes[key] ?? 0), 0);

it('shows each turn with its model requests, tools, searches and speech, as the conventions have them', async () => {
  await aKnowledgeBase(stage, 'faq', 'Breakfast is served from seven to ten.');
  const call = await stage.call({ traceparent: traceparentOf(1), knowledgeBase: 'faq', spec: { welcomeMessage: 'Good day!' } });
  const { provider, caller } = call;
  provider.chat(({ lastUser, toolResults }) => {
    if (toolResults.length > 0) return STORY;
    return lastUser.includes('breakfast')
      ? { toolCalls: [{ name: 'search_knowledge_base', arguments: { query: 'When is breakfast?' } }] }
      : 'I listen.';
  });
  // The story takes half a minute: long enough to be interrupted.
  provider.speech(({ input }) => (input === STORY ? { msPerCharacter: 400 } : {}));
  await call.join();
  await call.becomes({ status: 'ongoing' });
  await caller.hears('Good day!');
  await call.says('When is breakfast?');
  // The first word has been heard: of less there would be no message.
  await eventually(() => expect(caller.heardFor(STORY)).toBeGreaterThan(5_000));
  await call.says('wait a moment', 1_500);
  await caller.hears('I listen.');
  // It is written down once it has been heard to its end.
  await eventually(async () => expect((await call.messages()).map(({ content }) => content)).toContain('I listen.'));
  await caller.leave();
  await call.becomes({ status: 'ended' });

  const spans = await spansOf(1);
  const genAi = spans.filter(isGenAi);
  expect(genAi.flatMap((span) => violationsOf(span, { content: false }))).toEqual([]);
  expect(new Set(genAi.map(operationOf))).toEqual(
    new Set(['invoke_agent', 'chat', 'execute_tool', 'retrieval', 'speech_to_text', 'text_to_speech']),
  );
  const turns = genAi.filter((span) => operationOf(span) === 'invoke_agent').toSorted((a, b) => a.startedAt - b.startedAt);
  // A job that was dispatched twice has a span of its own.
  const root = spans.find(({ name, spanId }) => name === 'call' && spanId === turns[0]?.parentSpanId);
  expect(root).toBeDefined();
  // The turns are the welcome, the answer that was interrupted, and the one after it.
  expect(turns.map(({ attributes }) => attributes['parley.turn.interrupted'])).toEqual([undefined, true, false]);
  for (const turn of turns) {
    expect(turn).toMatchObject({
      name: 'invoke_agent receptionist',
      parentSpanId: root?.spanId,
      attributes: { 'gen_ai.agent.name': 'receptionist', 'gen_ai.conversation.id': call.id, 'gen_ai.data_source.id': 'faq' },
    });
    const inside = genAi.filter(({ parentSpanId }) => parentSpanId === turn.spanId);
    for (const span of inside) expect(span.startedAt).toBeGreaterThanOrEqual(turn.startedAt);
    const chats = inside.filter((span) => operationOf(span) === 'chat');
    for (const tokens of ['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens'])
      expect(turn.attributes[tokens] ?? 0).toBe(sum(chats, tokens));
  }
  const of = (turn: ReceivedSpan | undefined): readonly unknown[] =>
    genAi
      .filter(({ parentSpanId }) => parentSpanId === turn?.spanId)
      .toSorted((a, b) => a.startedAt - b.startedAt)
      .map(operationOf)
      // Speech may be heard in more pieces.
      .filter((operation, i, all) => operation !== 'speech_to_text' || !all.slice(0, i).includes(operation));
  expect(of(turns[0])).toEqual(['text_to_speech']);
  expect(of(turns[1])).toEqual(['speech_to_text', 'chat', 'execute_tool', 'chat', 'text_to_speech']);
  expect(of(turns[2])).toEqual(['speech_to_text', 'chat', 'text_to_speech']);
  const tool = genAi.find((span) => operationOf(span) === 'execute_tool');
  expect(tool?.attributes).toMatchObject({ 'gen_ai.tool.name': 'search_knowledge_base', 'gen_ai.tool.type': 'datastore' });
  expect(genAi.find((span) => operationOf(span) === 'retrieval')).toMatchObject({
    parentSpanId: tool?.spanId,
    attributes: { 'gen_ai.data_source.id': 'faq', 'gen_ai.request.top_k': 5 },
  });
  const requests = genAi.filter((span) => operationOf(span) === 'chat');
  expect(requests.find(({ parentSpanId }) => parentSpanId === turns[1]?.spanId)?.attributes).toMatchObject({
    'gen_ai.provider.name': 'openai_compatible',
    'gen_ai.request.model': 'test-model',
    'gen_ai.response.model': 'test-model',
    'gen_ai.response.finish_reasons': ['tool_calls'],
    'gen_ai.request.stream': true,
    'gen_ai.response.time_to_first_chunk': expect.any(Number),
    'server.address': '127.0.0.1',
    'server.port': provider.port,
  });
  // There is a span for each request that the provider answered, with the tokens that it counted.
  expect(requests).toHaveLength(provider.requests('chat').length);
  expect(sum(genAi, 'parley.tts.characters')).toBe(provider.requests('speech').reduce((total, { input }) => total + input.length, 0));
  // Whoever reads traces must not read what was said.
  for (const said of ['Breakfast', 'breakfast', 'I listen', 'Good day', 'wait a moment']) expect(JSON.stringify(spans)).not.toContain(said);
});

it('shows which request failed, and why', async () => {
  const call = await stage.joined({ traceparent: traceparentOf(2) });
  call.provider.chat(() => ({ status: 500 }));
  await call.becomes({ status: 'ongoing' });
  await call.caller.speak(700);
  await call.becomes({ status: 'error' });
  const spans = (await spansOf(2)).filter(isGenAi);
  expect(spans.flatMap((span) => violationsOf(span, { content: false }))).toEqual([]);
  const failed = spans.filter(({ statusCode }) => statusCode === 2);
  expect(new Set(failed.map(operationOf))).toEqual(new Set(['chat', 'invoke_agent']));
  for (const { attributes } of failed) expect(attributes['error.type']).toBe('500');
});

it('counts the same requests in the metrics of the role, under the names that Prometheus has for them', async () => {
  await eventually(async () => {
    const text = await (await fetch(`http://127.0.0.1:${stage.role.port}/metrics`)).text();
    for (const line of [
      /^gen_ai_client_operation_duration_seconds_count\{.*gen_ai_operation_name="chat".*gen_ai_request_model="test-model".*error_type="500".*\} [1-9]/m,
      /^gen_ai_client_operation_duration_seconds_count\{.*gen_ai_operation_name="speech_to_text".*gen_ai_request_model="test-ears".*\} [1-9]/m,
      /^gen_ai_client_operation_time_to_first_chunk_seconds_count\{.*gen_ai_operation_name="text_to_speech".*gen_ai_request_model="test-voice".*\} [1-9]/m,
      /^gen_ai_client_token_usage_bucket\{le="16384".*gen_ai_token_type="input".*\} [1-9]/m,
    ])
      expect(text).toMatch(line);
  });
});
