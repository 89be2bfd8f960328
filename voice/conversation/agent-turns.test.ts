import { afterEach, beforeEach, expect, it } from 'vitest';

import type { CallMessage, CallTurn } from '../../store/index.ts';
import * as genAi from '../../platform/telemetry/gen-ai/conventions.ts';
import { setTracer, type Attributes, type Span, type SpanStart } from '../../platform/telemetry/tracing.ts';
import { AgentTurns } from './agent-turns.ts';

interface Kept {
  readonly name: string;
  readonly parent: string | undefined;
  readonly startedAt: number;
  attributes: Attributes;
  endedAt?: number | undefined;
}

let spans: Kept[];
let now: number;
let turns: AgentTurns;

/** Keeps what is traced; the id of a span is its place. */
function startSpan({ name, parent, startedAt = now, attributes = {} }: SpanStart): Span {
  const kept: Kept = { name, parent: typeof parent === 'object' ? parent.traceparent : parent, startedAt, attributes };
  const traceparent = String(spans.push(kept) - 1);
  return {
    context: { traceparent },
    reference: undefined,
    set: (more) => void (kept.attributes = { ...kept.attributes, ...more }),
    fail: () => undefined,
    end: (at) => void (kept.endedAt = at ?? now),
    run: (work) => work(),
  };
}

beforeEach(() => {
  spans = [];
  now = 1_000;
  setTracer({
    capturesContent: false,
    startSpan,
    current: () => undefined,
    continue: (_, work) => work(),
    outside: (work) => work(),
    close: async () => undefined,
  });
  turns = new AgentTurns({
    agent: { name: 'desk', knowledgeBase: null },
    llm: { provider: 'openai', model: 'gpt' },
    conversationId: 'call_1',
    now: () => now,
  });
});
afterEach(() => setTracer(undefined));

const message = (role: 'agent' | 'user', interrupted = false): { readonly message: CallMessage } => ({
  message: { seq: now, role, content: 'words', spokenAt: new Date(now), interrupted, sources: null },
});
const turn: { readonly turn: CallTurn } = { turn: { seq: 1, eou: 1, stt: 2, llmTtft: 3, ttsTtfb: 4, v2v: 5 } };

function ask(operation: 'chat' | 'speech_to_text' | 'text_to_speech', tokens?: number): void {
  now += 10;
  const usage = tokens === undefined ? undefined : { inputTokens: tokens, outputTokens: 1, cachedTokens: tokens / 2 };
  turns.requests.begin({ operation, provider: 'openai', streams: true }).end('completed', { usage });
}

/** Returns the operations of each turn. */
const perTurn = (): readonly (readonly string[])[] =>
  spans.flatMap(({ name }, id) =>
    name.startsWith('invoke_agent') ? [spans.filter(({ parent }) => parent === String(id)).map((span) => span.name)] : [],
  );

it.each(['chat', 'speech_to_text'] as const)('begins a turn no later than its first request: %s', (operation) => {
  turns = new AgentTurns({ agent: { name: 'desk', knowledgeBase: null }, llm: { provider: 'openai', model: 'gpt' }, now: () => now++ });
  turns.requests.begin({ operation, provider: 'openai', streams: true }).end('completed');
  const [begun, request] = spans.map(({ startedAt }) => startedAt);
  expect(begun).toBe(request);
});

it('gives each turn what belongs to it, and ends it with the last of that', () => {
  ask('text_to_speech');
  turns.written([message('agent')]);
  ask('speech_to_text');
  turns.written([message('user')]);
  ask('chat', 100);
  turns.startSpan({ name: 'execute_tool look_up' }).end();
  ask('chat', 120);
  ask('text_to_speech');
  turns.written([{ ...message('agent'), ...turn }]);
  const answeredAt = now;
  now += 5_000;
  ask('speech_to_text');
  turns.close();
  expect(perTurn()).toEqual([
    ['text_to_speech'],
    ['speech_to_text', 'chat', 'execute_tool look_up', 'chat', 'text_to_speech'],
    ['speech_to_text'],
  ]);
  const answer = spans.filter(({ name }) => name === 'invoke_agent desk')[1];
  expect(answer).toMatchObject({
    endedAt: answeredAt,
    attributes: {
      'gen_ai.conversation.id': 'call_1',
      'gen_ai.usage.input_tokens': 220,
      'gen_ai.usage.output_tokens': 2,
      [genAi.CACHED_TOKENS]: 110,
      [genAi.REASONING_TOKENS]: undefined,
      'parley.turn.v2v_ms': 5,
      'parley.turn.interrupted': false,
    },
  });
});

it('gives what is said over an answer to the turn after it, and the latencies to the one that was interrupted', () => {
  ask('speech_to_text');
  turns.written([message('user')]);
  ask('chat');
  ask('speech_to_text');
  // The turn goes on until it is known that the words count.
  ask('text_to_speech');
  turns.written([{ ...message('agent', true), ...turn }]);
  turns.written([message('user')]);
  ask('chat');
  turns.close();
  expect(perTurn()).toEqual([
    ['speech_to_text', 'chat', 'text_to_speech'],
    ['speech_to_text', 'chat'],
  ]);
  const [first, second] = spans.filter(({ name }) => name === 'invoke_agent desk');
  expect(first?.attributes['parley.turn.interrupted']).toBe(true);
  expect(second?.attributes).not.toHaveProperty('parley.turn');
});

it('keeps words that come before an answer in its turn, and begins another where the user speaks again', () => {
  ask('speech_to_text');
  ask('speech_to_text');
  turns.written([message('user')]);
  ask('chat');
  ask('speech_to_text');
  turns.written([message('user')]);
  ask('chat');
  turns.close();
  expect(perTurn()).toEqual([
    ['speech_to_text', 'speech_to_text', 'chat'],
    ['speech_to_text', 'chat'],
  ]);
});

it('puts no content on spans where it is withheld, also where it is switched on', () => {
  const content = {
    [genAi.INPUT_MESSAGES]: '[]',
    [genAi.OUTPUT_MESSAGES]: '[]',
    [genAi.SYSTEM_INSTRUCTIONS]: '[]',
    [genAi.TOOL_CALL_ARGUMENTS]: '{}',
    [genAi.TOOL_CALL_RESULT]: '{}',
    [genAi.TOOL_DESCRIPTION]: 'x',
  };
  const observedBy = (withholdsContent: boolean): readonly string[] => {
    spans = [];
    const observed = new AgentTurns({
      agent: { name: 'desk', knowledgeBase: null },
      llm: { provider: 'openai', model: 'gpt' },
      withholdsContent,
      now: () => now,
    });
    observed.requests
      .begin({ operation: genAi.CHAT, provider: 'openai', streams: true, attributes: { ...content, kept: 'a' } })
      .end('completed', { attributes: { ...content, kept: 'b' } });
    const span = observed.startSpan({ name: 'tool', attributes: { ...content, kept: 'c' } });
    span.set({ ...content, kept: 'd' });
    return spans.flatMap(({ attributes }) => Object.keys(attributes).filter((name) => name in content || name === 'kept'));
  };
  expect(new Set(observedBy(false))).toEqual(new Set(['kept', ...Object.keys(content)]));
  expect(new Set(observedBy(true))).toEqual(new Set(['kept']));
});
