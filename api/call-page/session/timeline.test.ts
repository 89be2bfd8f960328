import { describe, expect, it } from 'vitest';

import type { SpokenLine } from '../../../calls/live-transcript.ts';
import type { ShownCall, Message, ToolCall } from './record.ts';
import { liveTimeline, recordedTimeline, type TimelineEntry } from './timeline.ts';

const at = (second: number): string => new Date(Date.parse('2026-11-21T09:00:00Z') + second * 1_000).toISOString();
const message = (second: number, role: Message['role'], content: string, more: Partial<Message> = {}): Message => ({
  role,
  content,
  timestamp: at(second),
  interrupted: false,
  ...more,
});
const tool = (second: number, name: string): ToolCall => ({
  name,
  arguments: {},
  result: '',
  is_error: false,
  timestamp: at(second),
  duration_ms: 5,
});
const record = (messages: readonly Message[], tools: readonly ToolCall[] = [], turns: ShownCall['turns'] = []): ShownCall => ({
  _id: 'call_1',
  call_type: 'web_call',
  call_status: 'ongoing',
  ai_agent_id: 'a',
  ai_agent_name: 'A',
  created_at: at(-5),
  call_start_time: at(0),
  messages,
  turns,
  tool_calls: tools,
});
const line = (id: string, role: SpokenLine['role'], text: string, final = true): SpokenLine => ({ id, role, text, final });
const texts = (entries: readonly TimelineEntry[]): readonly string[] =>
  entries.map((entry) => (entry.kind === 'tool' ? `tool: ${entry.call.name}` : `${entry.role}: ${entry.text}`));

describe('the timeline of a record', () => {
  it('has messages and tools in the order of time, answers with what they took', () => {
    const turn = { timestamp: at(4), eou: 1, stt: 1, llm_ttft: 1, tts_ttfb: 1, v2v: 4 };
    const entries = recordedTimeline(
      record(
        [message(1, 'user', 'Hours?'), message(4, 'agent', 'Nine to six.')],
        [tool(2, 'look_up')],
        [{ ...turn, timestamp: null }, turn],
      ),
    );
    expect(texts(entries)).toEqual(['user: Hours?', 'tool: look_up', 'agent: Nine to six.']);
    expect(entries.map(({ second }) => second)).toEqual([1, 2, 4]);
    expect(entries.map((entry) => (entry.kind === 'spoken' ? entry.turn : undefined))).toEqual([undefined, undefined, turn]);
  });
});

describe('the timeline of a call that goes on', () => {
  it('is the live transcript while nothing is recorded', () => {
    expect(texts(liveTimeline(undefined, [line('1', 'agent', 'Hello.'), line('2', 'user', 'I', false)]))).toEqual([
      'agent: Hello.',
      'user: I',
    ]);
  });

  it('has each line once, recorded or not yet, and tools before the answer that they are for', () => {
    const lines = [line('1', 'agent', 'Hello!'), line('2', 'user', 'What are your hours?'), line('3', 'agent', 'Nine', false)];
    const recorded = record([message(0, 'agent', 'Hello!'), message(2, 'user', 'what are your hours')], [tool(3, 'look_up')]);
    expect(texts(liveTimeline(recorded, lines))).toEqual(['agent: Hello!', 'user: what are your hours', 'tool: look_up', 'agent: Nine']);
  });

  it('shows of an interrupted answer what was heard, before the words that cut it off', () => {
    const lines = [line('1', 'agent', 'We are open Monday to Friday'), line('2', 'user', 'Thanks')];
    const recorded = record([message(0, 'agent', 'We are open', { interrupted: true })]);
    expect(texts(liveTimeline(recorded, lines))).toEqual(['agent: We are open', 'user: Thanks']);
  });

  it('keeps what is said twice', () => {
    const lines = [line('1', 'user', 'Yes.'), line('2', 'agent', 'Sure?'), line('3', 'user', 'Yes.')];
    expect(texts(liveTimeline(record([message(0, 'user', 'Yes.'), message(1, 'agent', 'Sure?')]), lines))).toEqual([
      'user: Yes.',
      'agent: Sure?',
      'user: Yes.',
    ]);
  });

  it('takes several lines for one message', () => {
    const lines = [line('1', 'user', 'What are'), line('2', 'user', 'your hours?')];
    expect(texts(liveTimeline(record([message(0, 'user', 'What are your hours?')]), lines))).toEqual(['user: What are your hours?']);
  });

  it('leaves a line that is never recorded where it was said', () => {
    const lines = [line('1', 'agent', 'Hello.'), line('2', 'agent', 'Never heard'), line('3', 'user', 'Bye.')];
    expect(texts(liveTimeline(record([message(0, 'agent', 'Hello.'), message(3, 'user', 'Bye.')]), lines))).toEqual([
      'agent: Hello.',
      'agent: Never heard',
      'user: Bye.',
    ]);
  });

  it('puts the lines of somebody who comes late behind what was recorded before', () => {
    const recorded = record([message(0, 'agent', 'Hello.'), message(1, 'user', 'Yes.'), message(2, 'agent', 'Nine.')]);
    const lines = [line('1', 'agent', 'Nine.'), line('2', 'user', 'Yes.'), line('3', 'agent', 'Well', false)];
    expect(texts(liveTimeline(recorded, lines, { before: 2 }))).toEqual([
      'agent: Hello.',
      'user: Yes.',
      'agent: Nine.',
      'user: Yes.',
      'agent: Well',
    ]);
  });
});
