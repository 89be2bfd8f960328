/** A collector that may get content gets conversations in text, the models that judge them, and the analysis after a call. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

import { systemClock } from '../../../platform/clock.ts';
import { openTracing, type Tracing } from '../../../platform/telemetry/open-tracing.ts';
import { CallLifecycle } from '../../../calls/lifecycle.ts';
import { eventually } from '../../support/eventually.ts';
import { isGenAi, messagesIn, violationsOf } from '../../support/gen-ai-conventions.ts';
import { startOtlpReceiver, type ReceivedSpan } from '../../support/otlp-receiver.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { registerCall } from '../store/calls-support.ts';
import { freshStore } from '../store/support.ts';
import { keptLines } from '../tracing/roles.ts';
import { customTool, org, over, requestRun, scriptedProvider, startWorker, storeRevision, workerEnv } from './runs-support.ts';

const collector = suiteFixture(startOtlpReceiver);
let tracing: Tracing;

beforeAll(async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '100');
  vi.stubEnv('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT', 'true');
  tracing = await openTracing({ env: process.env, role: 'worker', version: '1.2.3', logger: keptLines().loggerOf('worker') });
});
afterAll(async () => {
  await tracing.close();
  vi.unstubAllEnvs();
});

const purposeOf = ({ attributes }: ReceivedSpan): unknown => attributes['parley.purpose'];
const operationOf = ({ attributes }: ReceivedSpan): unknown => attributes['gen_ai.operation.name'];

it('has their spans, valid and with what was said, without secrets', async () => {
  const { url, store } = await freshStore();
  await store.organizations.create({ name: org });
  const provider = await scriptedProvider();
  provider.chat(({ system, lastUser, toolResults }) => {
    if (system.startsWith('You check')) return JSON.stringify({ reason: 'it says so', met: true });
    if (system.startsWith('You play')) return JSON.stringify({ goal_reached: lastUser.includes('shipped'), says: 'Where is my order?' });
    if (system.includes('topic') || lastUser.includes('topic')) return JSON.stringify({ topic: 'order' });
    if (toolResults.length > 0) return 'It has shipped.';
    return lastUser.includes('order')
      ? { toolCalls: [{ name: 'look_up', arguments: { order_id: '42', password: 'swordfish' } }] }
      : 'Good day!';
  });
  const { registry } = await startWorker(workerEnv(url, await temporalAddress()));
  const agent = await storeRevision(store, provider, {
    tools: [customTool('look_up')],
    spec: { postCallAnalysis: [{ name: 'topic', type: 'String', description: 'the topic' }] },
  });
  const tools = [{ name: 'look_up', type: 'Returns', returns: { state: 'shipped' } }];
  const run = await requestRun(store, agent, {
    asks: {
      tools,
      type: 'Conversation',
      conversation: [{ type: 'User', user: 'Where is my order?', expect: [{ type: 'Judge', judge: 'says that it has shipped' }] }],
    },
    simulated: {
      tools,
      type: 'SimulatedUser',
      simulatedUser: { goal: 'to know where the order is', maxTurns: 3 },
      atEnd: [{ type: 'Analysis', analysis: { name: 'topic', equals: 'order' } }],
    },
  });
  const { verdict, results } = await over(store, run);
  expect(verdict, JSON.stringify(results)).toBe('passed');
  // The same worker analyses a call that has ended.
  const lifecycle = new CallLifecycle({ calls: store.calls.calls, clock: systemClock });
  const call = await registerCall(store, org, { agentName: 'receptionist', revision: agent.revision });
  await lifecycle.start({ ...call, jobId: 'job' });
  const said = { seq: 1, role: 'user', content: 'It is about my order.', spokenAt: new Date(), interrupted: false, sources: null } as const;
  await store.calls.log.add(call, { messages: [said] });
  await lifecycle.end({ ...call, reason: 'user_ended_call' });
  const ofCall = (span: ReceivedSpan): boolean => span.attributes['gen_ai.conversation.id'] === call.id;
  // A span is sent when it has ended: the activity's after that of its request.
  const analysis = await collector.until((spans) => {
    const [chat, ...others] = spans.filter(ofCall);
    expect(others).toEqual([]);
    expect(spans.find(({ spanId }) => spanId === chat?.parentSpanId)?.name).toBe('RunActivity:analyse');
    return chat;
  });

  const spans = collector.spans.filter(isGenAi);
  expect(spans.flatMap((span) => violationsOf(span, { content: true }))).toEqual([]);
  expect(new Set(spans.map(operationOf))).toEqual(new Set(['invoke_agent', 'chat', 'execute_tool']));
  expect(new Set(spans.map(purposeOf))).toEqual(new Set([undefined, 'judge', 'simulated_user', 'analysis']));
  expect(analysis).toMatchObject({
    name: 'chat test-model',
    attributes: { 'parley.purpose': 'analysis', 'gen_ai.output.type': 'json', 'gen_ai.usage.output_tokens': expect.any(Number) },
  });
  expect(messagesIn(analysis?.attributes['gen_ai.output.messages'])).toEqual([
    { role: 'assistant', parts: [{ type: 'text', content: '{"topic":"order"}' }], finish_reason: 'stop' },
  ]);

  const asked = spans.flatMap(({ attributes }) =>
    messagesIn(attributes['gen_ai.output.messages'] ?? '[]').flatMap(({ parts }) => parts ?? []),
  );
  expect(asked).toContainEqual(expect.objectContaining({ type: 'tool_call', arguments: expect.objectContaining({ order_id: '42' }) }));
  const called = spans.find((span) => operationOf(span) === 'execute_tool');
  expect(JSON.parse(String(called?.attributes['gen_ai.tool.call.arguments']))).toEqual({ order_id: '42', password: '********' });
  expect(JSON.parse(String(called?.attributes['gen_ai.tool.call.result']))).toMatchObject({ state: 'shipped' });
  const last = spans.find(({ attributes }) => String(attributes['gen_ai.output.messages']).includes('It has shipped.'));
  expect(messagesIn(last?.attributes['gen_ai.input.messages']).map(({ parts }) => parts?.map(({ type }) => type))).toContainEqual([
    'tool_call_response',
  ]);
  expect(spans.filter((span) => JSON.stringify(span).includes('swordfish'))).toEqual([]);

  const metrics = await registry.metrics();
  const chats = spans.filter((span) => operationOf(span) === 'chat');
  expect(metrics).toContain(
    `gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name="chat",gen_ai_provider_name="openai_compatible",gen_ai_request_model="test-model"} ${chats.length}`,
  );
  const tokens = chats.reduce((sum, { attributes }) => sum + Number(attributes['gen_ai.usage.input_tokens']), 0);
  expect(metrics).toMatch(new RegExp(`^gen_ai_client_token_usage_sum\\{.*gen_ai_token_type="input".*\\} ${tokens}$`, 'm'));
  await eventually(() => expect(provider.requests('chat')).toHaveLength(chats.length));
});
