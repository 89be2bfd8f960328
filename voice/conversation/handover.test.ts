import { describe, expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { aTool } from '../../test/support/scripted-tool.ts';
import type { AnswerEvent } from '../providers/index.ts';
import type { HistoryItem } from '../providers/llm/history.ts';
import { createHandOver } from '../tools/builtin/hand-over.ts';
import type { ToolHost } from '../tools/tool-host.ts';
import type { ToolDefinition } from '../tools/tool-result.ts';
import { AgentTurns } from './agent-turns.ts';
import { Conversation, type PreparedHandOver, type TalkingAgent } from './conversation.ts';
import type { Entry } from './entry.ts';
import { MAX_HANDOVERS } from './handover.ts';
import { textVoice } from './text-voice.ts';

const shown = (history: readonly HistoryItem[]): readonly string[] =>
  history.map((item) => {
    if (item.type === 'message') return `${item.isNote === true ? 'note' : item.role}: ${item.text}`;
    return item.type === 'call' ? `call: ${item.name}` : `result: ${item.name} ${item.output}`;
  });

type Answer = string | readonly (string | AnswerEvent)[];
type Context = 'All' | 'Summary' | 'None';

const call = (name: string, id = name): AnswerEvent => ({ type: 'call', call: { id, name, arguments: '{}' }, complete: true });
let calls = 0;
/** A model's call of the function that hands over. */
const to = (agent: string): AnswerEvent => call(`hand_over_to_${agent}`, `call-${(calls += 1)}`);

interface Scene {
  /** Answers of each agent's model, by what it was asked with. */
  readonly agents: Readonly<Record<string, (asked: readonly string[]) => Answer>>;
  readonly context?: Context;
  readonly say?: string;
  readonly summary?: string;
  /** Prepares an agent before it takes over. */
  readonly prepare?: (agent: string) => Promise<string | undefined>;
  readonly tools?: Readonly<Record<string, (host: ToolHost) => ToolDefinition>>;
}

/** Holds a conversation of agents each of which may hand over to all others; the first one begins. */
function aConversation({ agents, context = 'All', say = '', summary, prepare = async () => undefined, tools = {} }: Scene) {
  const names = Object.keys(agents);
  const written: Entry[] = [];
  const requests: (readonly string[])[] = [];
  const clock = new FakeClock();
  const talking = (name: string): TalkingAgent => ({
    agent: name,
    model: {
      async *answer({ history }) {
        const asked = shown(history);
        requests.push([name, ...asked]);
        const answer = agents[name]!(asked);
        for (const each of typeof answer === 'string' ? [answer] : answer)
          yield typeof each === 'string' ? { type: 'text', text: each } : each;
      },
    },
    language: 'en-US',
    instructions: '',
    interruptions: { enabled: true, minSpeechMs: 500, minWords: 0 },
    data: {},
    tools: (host: ToolHost) => [
      ...[tools[name]?.(host) ?? []].flat(),
      ...names
        .filter((other) => other !== name)
        .map((other) =>
          createHandOver({ handoff: { agentRef: { name: other }, when: 'it suits', say, context }, displayName: other, data: {}, host }),
        ),
    ],
  });
  const conversation = new Conversation({
    ...talking(names[0]!),
    voice: textVoice,
    welcome: undefined,
    maxDurationMs: 600_000,
    handOver: async ({ to: name, from }): Promise<PreparedHandOver> => {
      const message = await prepare(name);
      return message === undefined
        ? { outcome: 'ready', agent: talking(name), note: `${from} hands over`, summary }
        : { outcome: 'refused', message };
    },
    transfer: async () => ({ outcome: 'done' }),
    log: { add: (entries) => void written.push(...entries) },
    turns: new AgentTurns({ agent: { name: 'desk', knowledgeBase: null }, llm: { provider: 'openai', model: 'm' } }),
    clock,
    logger: createLogger({ role: 'test', level: 'silent' }),
    onEnd: () => undefined,
  });
  conversation.begin();
  return {
    conversation,
    clock,
    requests,
    async says(...turns: readonly string[]): Promise<void> {
      for (const words of turns) {
        conversation.written(words);
        await conversation.quiet();
      }
    },
    /** Returns the messages in the form `desk: Hello`. */
    get transcript(): readonly string[] {
      const messages = written.flatMap(({ message }) => message ?? []).toSorted((one, other) => one.seq - other.seq);
      return messages.map(({ agent, content }) => `${agent ?? 'user'}: ${content}`);
    },
    get toolCalls() {
      return written.flatMap(({ toolCall }) => toolCall ?? []).map(({ agent, name, result }) => `${agent}: ${name} ${result}`);
    },
    get turns() {
      return written.flatMap(({ turn }) => turn ?? []).map(({ agent }) => agent);
    },
  };
}

const billing = () => 'This is billing.';

describe('a hand-over', () => {
  it('makes the other agent answer what was said, after the words of the former one', async () => {
    const scene = aConversation({ agents: { desk: () => ['Sure. ', to('billing')], billing }, say: 'One moment.' });
    await scene.says('an invoice is wrong', 'thanks');
    expect(scene.transcript).toEqual([
      'user: an invoice is wrong',
      'desk: Sure.',
      'desk: One moment.',
      'billing: This is billing.',
      'user: thanks',
      'billing: This is billing.',
    ]);
    expect(scene.requests[1]).toEqual([
      'billing',
      'user: an invoice is wrong',
      'agent: Sure.',
      'agent: One moment.',
      'note: desk hands over',
    ]);
    expect(scene.toolCalls).toEqual(['desk: hand_over_to_billing {"handed_over_to":"billing"}']);
    expect(scene.turns).toEqual(['desk', 'billing']);
  });

  it.each<[Context, string | undefined, readonly string[]]>([
    ['All', undefined, ['user: hello', 'agent: What is it?', 'user: an invoice', 'note: desk hands over']],
    ['Summary', 'It is Ada.', ['note: (A summary of what was said before: It is Ada.)', 'user: an invoice', 'note: desk hands over']],
    ['Summary', undefined, ['user: hello', 'agent: What is it?', 'user: an invoice', 'note: desk hands over']],
    ['None', undefined, ['user: an invoice', 'note: desk hands over']],
  ])('passes on what its context says: %s (summary: %s)', async (context, summary, known) => {
    const desk = (asked: readonly string[]): Answer => (asked.length === 1 ? 'What is it?' : [to('billing')]);
    const scene = aConversation({ agents: { desk, billing }, context, ...(summary !== undefined && { summary }) });
    await scene.says('hello', 'an invoice');
    expect(scene.requests.at(-1)).toEqual(['billing', ...known]);
  });

  it('shows an agent that the call comes back to its own past, and what was said since', async () => {
    const find = aTool('find', { run: async () => ({ succeeded: true, forModel: 'it' }) });
    const desk = (asked: readonly string[]): Answer =>
      asked.length === 1 ? [call('find')] : asked.length === 3 ? [to('billing')] : 'Welcome back.';
    const scene = aConversation({
      agents: { desk, billing: (asked) => (asked.at(-1) === 'user: a person' ? [to('desk')] : 'Paid.') },
      tools: { desk: () => find.definition },
    });
    await scene.says('an invoice', 'a person');
    expect(scene.requests.filter(([name]) => name === 'billing')).toEqual([
      ['billing', 'user: an invoice', 'note: desk hands over'],
      ['billing', 'user: an invoice', 'note: desk hands over', 'agent: Paid.', 'user: a person'],
    ]);
    expect(scene.requests.at(-1)).toEqual([
      'desk',
      'user: an invoice',
      'call: find',
      'result: find "it"',
      'call: hand_over_to_billing',
      'result: hand_over_to_billing {"handed_over_to":"billing"}',
      'agent: Paid.',
      'user: a person',
      'note: billing hands over',
    ]);
  });

  it('has the new agent answer what the user says until it is ready', async () => {
    const ready = Promise.withResolvers<undefined>();
    const scene = aConversation({ agents: { desk: () => [to('billing')], billing }, context: 'None', prepare: () => ready.promise });
    scene.conversation.written('an invoice');
    await scene.clock.advance(0);
    scene.conversation.written('and quickly');
    await scene.clock.advance(0);
    expect(scene.requests).toHaveLength(1);
    ready.resolve(undefined);
    await scene.conversation.quiet();
    expect(scene.requests.slice(1)).toEqual([['billing', 'user: an invoice', 'note: desk hands over', 'user: and quickly']]);
  });

  it('that is refused is told to the model, and the call goes on', async () => {
    const scene = aConversation({
      agents: { desk: (asked) => (asked.length === 1 ? [to('billing')] : 'Then I do it.'), billing },
      prepare: async () => 'billing is closed',
    });
    await scene.says('an invoice', 'thanks');
    expect(scene.toolCalls).toEqual(['desk: hand_over_to_billing {"error":"billing is closed"}']);
    expect(scene.requests.map(([name]) => name)).toEqual(['desk', 'desk', 'desk']);
  });

  it('is one at a time, and the other call is told so', async () => {
    const scene = aConversation({ agents: { desk: () => [to('billing'), to('dentist')], billing, dentist: () => 'This is the dentist.' } });
    await scene.says('help');
    expect(scene.toolCalls.toSorted()).toEqual([
      'desk: hand_over_to_billing {"handed_over_to":"billing"}',
      expect.stringMatching(/^desk: hand_over_to_dentist .*being handed over already/),
    ]);
    expect(scene.transcript).toEqual(['user: help', 'billing: This is billing.']);
  });

  it('comes never twice without words of the user in between', async () => {
    const scene = aConversation({
      agents: {
        desk: () => [to('billing')],
        billing: (asked) => (asked.at(-1)?.startsWith('result') === true ? 'I help.' : [to('desk')]),
      },
    });
    await scene.says('ping');
    expect(scene.toolCalls).toEqual([
      'desk: hand_over_to_billing {"handed_over_to":"billing"}',
      expect.stringMatching(/^billing: hand_over_to_desk .*said nothing since/),
    ]);
    expect(scene.transcript).toEqual(['user: ping', 'billing: I help.']);
  });

  it(`comes ${MAX_HANDOVERS} times at most`, async () => {
    const pass = (other: string) => (asked: readonly string[]) => (asked.at(-1)?.startsWith('user') === true ? [to(other)] : 'I do it.');
    const scene = aConversation({ agents: { desk: pass('billing'), billing: pass('desk') } });
    await scene.says(...Array.from({ length: MAX_HANDOVERS + 2 }, (_, index) => `turn ${index}`));
    expect(scene.toolCalls.filter((each) => each.includes('handed_over_to"'))).toHaveLength(MAX_HANDOVERS);
    expect(scene.toolCalls.slice(MAX_HANDOVERS)).toEqual(
      [1, 2].map(() => expect.stringMatching(/^desk: hand_over_to_billing .*can't be any more/)),
    );
    expect(scene.transcript.at(-1)).toBe('desk: I do it.');
  });

  it('leaves tools of the former agent to run on in silence, and their results to that agent', async () => {
    const booked = Promise.withResolvers<void>();
    const book = (host: ToolHost): ToolDefinition =>
      aTool('book', {
        run: async () => {
          await booked.promise;
          host.say('Booked!');
          return { succeeded: true, forModel: 'booked' };
        },
      }).definition;
    const scene = aConversation({
      agents: {
        desk: (asked) => (asked.length === 1 ? [call('book'), to('billing')] : 'Back.'),
        billing: (asked) => (asked.at(-1) === 'user: back' ? [to('desk')] : 'Paid.'),
      },
      tools: { desk: book },
    });
    scene.conversation.written('book, and an invoice');
    await scene.clock.advance(0);
    booked.resolve();
    await scene.conversation.quiet();
    expect(scene.requests.filter(([name]) => name === 'billing')).toHaveLength(1);
    expect(scene.transcript).toEqual(['user: book, and an invoice', 'billing: Paid.']);
    await scene.says('back');
    expect(scene.requests.at(-1)).toContain('result: book "booked"');
    expect(scene.toolCalls).toContain('desk: book booked');
  });
});
