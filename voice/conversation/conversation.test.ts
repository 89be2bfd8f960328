import { expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { aTool } from '../../test/support/scripted-tool.ts';
import { ProviderError } from '../../calls/provider-access/index.ts';
import type { AnswerEvent } from '../providers/index.ts';
import type { AnswerRequest, HistoryItem } from '../providers/llm/history.ts';
import type { ToolHost } from '../tools/tool-host.ts';
import type { ToolDefinition } from '../tools/tool-result.ts';
import { AgentTurns } from './agent-turns.ts';
import { Conversation, type ConversationOptions } from './conversation.ts';
import type { CreateEars, CreateVoice, EarEvent, Voice, VoiceEvent } from './ports.ts';
import type { Entry } from './entry.ts';
import { textVoice } from './text-voice.ts';

const ALLOWED = { enabled: true, minSpeechMs: 500, minWords: 0 };

/** The model's words, calls and failures. */
type Script = string | Error | readonly (string | Error | AnswerEvent)[];

const call = (name: string, id: string = name): AnswerEvent => ({ type: 'call', call: { id, name, arguments: '{}' }, complete: true });

/** The tool runs until it is stopped. */
const { definition: waits } = aTool('wait', {
  stopsOnInterruption: true,
  run: (_args, signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve({ succeeded: false, forModel: 'no keys' }))),
});

/** Shows the history in the form `agent: Hello`, `call: find`, `result: find "it"`. */
const shown = (history: readonly HistoryItem[]): readonly string[] =>
  history.map((item) => {
    if (item.type === 'message') return `${item.role}: ${item.text}`;
    return item.type === 'call' ? `call: ${item.name}` : `result: ${item.name} ${item.output}`;
  });

function aConversation(
  answers: (asked: readonly string[], request: AnswerRequest) => Script,
  {
    tools = [],
    toolsOf = () => tools,
    ...more
  }: Partial<Omit<ConversationOptions, 'tools'>> & {
    readonly tools?: readonly ToolDefinition[];
    readonly toolsOf?: (host: ToolHost) => readonly ToolDefinition[];
  } = {},
) {
  const clock = new FakeClock();
  const written: Entry[] = [];
  const ends: { readonly reason: string; readonly farewell: (() => Promise<void>) | undefined }[] = [];
  const requests: (readonly string[])[] = [];
  const conversation = new Conversation({
    model: {
      async *answer(request) {
        const asked = shown(request.history);
        requests.push(asked);
        const script = answers(asked, request);
        for (const each of typeof script === 'string' || script instanceof Error ? [script] : script) {
          if (each instanceof Error) throw each;
          yield typeof each === 'string' ? { type: 'text', text: each } : each;
        }
      },
    },
    voice: textVoice,
    agent: 'desk',
    language: 'en-US',
    instructions: '',
    welcome: undefined,
    interruptions: ALLOWED,
    maxDurationMs: 60_000,
    tools: (host) => [...toolsOf(host), { ...aTool('end_call').definition, run: async () => (host.end(), { succeeded: true }) }],
    data: {},
    transfer: async () => ({ outcome: 'done' }),
    log: { add: (entries) => void written.push(...entries) },
    turns: new AgentTurns({ agent: { name: 'desk', knowledgeBase: null }, llm: { provider: 'openai', model: 'm' } }),
    clock,
    logger: createLogger({ role: 'test', level: 'silent' }),
    onEnd: (reason, farewell) => void ends.push({ reason, farewell }),
    ...more,
  });
  conversation.begin();
  return {
    conversation,
    clock,
    ends,
    requests,
    written,
    /** Returns the records in the order of the transcript. */
    transcript: () =>
      written
        .flatMap(({ message }) => message ?? [])
        .toSorted((one, other) => one.seq - other.seq)
        .map(({ role, content, interrupted }) => `${role}: ${content}${interrupted ? ' …' : ''}`),
  };
}

/** Builds a voice that is heard as far as the test says. */
function aSlowVoice() {
  let report: (event: VoiceEvent) => void = () => undefined;
  const cancelled: number[] = [];
  /** Number of the last speech. */
  let said = 0;
  const create: CreateVoice = (reports): Voice => {
    ({ report } = reports);
    return {
      say: (speech) => void (said = speech),
      sayNoMore: () => undefined,
      cancel: (speech) => void cancelled.push(speech),
      pause: () => undefined,
      resume: () => undefined,
    };
  };
  return {
    create,
    cancelled,
    heard: (characters: number) => report({ type: 'heard', speech: said, characters }),
    silent: () => report({ type: 'silent', speech: said }),
  };
}

it('ends once all is said', async () => {
  const { conversation, ends, transcript } = aConversation(() => [{ type: 'text', text: 'Goodbye!' }, call('end_call')]);
  conversation.written('bye');
  await conversation.quiet();
  await ends[0]?.farewell?.();
  await conversation.close();
  expect([ends.map(({ reason }) => reason), transcript()]).toEqual([['agent_ended_call'], ['user: bye', 'agent: Goodbye!']]);
});

it('answers the result of a tool with what was said meanwhile', async () => {
  const find = aTool('find');
  const { conversation, requests } = aConversation(
    (asked) =>
      asked.at(-1) === 'user: find it' ? [call('find')] : asked.at(-1) === 'user: my name is Ada' ? 'Thank you, Ada.' : 'Here it is.',
    { tools: [find.definition] },
  );
  conversation.written('find it');
  await conversation.said();
  conversation.written('my name is Ada');
  await conversation.said();
  expect(requests.at(-1)).toEqual(['user: find it', 'call: find', expect.stringContaining('still running'), 'user: my name is Ada']);
  find.gives('found');
  await conversation.quiet();
  expect(requests.slice(2)).toEqual([
    [
      'user: find it',
      'call: find',
      'result: find "found"',
      'user: my name is Ada',
      'agent: Thank you, Ada.',
      expect.stringContaining('user: (A tool that was still running is done'),
    ],
  ]);
});

it('keeps calls of one answer and their results in the order of the model', async () => {
  const [slow, fast] = [aTool('slow'), aTool('fast')];
  const { conversation, requests } = aConversation((asked) => (asked.length === 1 ? [call('slow'), call('fast')] : 'Done.'), {
    tools: [slow.definition, fast.definition],
  });
  conversation.written('go');
  fast.gives('2');
  await conversation.said();
  expect(requests).toHaveLength(1);
  slow.gives('1');
  await conversation.quiet();
  expect(requests[1]).toEqual(['user: go', 'call: slow', 'result: slow "1"', 'call: fast', 'result: fast "2"']);
});

it('says what tools say while they work before their calls, so that a request ends with the user or a result', async () => {
  const find = aTool('find', { messages: { start: 'One moment.', complete: 'Found it.' } });
  const { conversation, requests, transcript } = aConversation(
    (asked) => (asked.length === 1 ? [{ type: 'text', text: 'Let me see.' }, call('find')] : 'It is blue.'),
    { tools: [find.definition] },
  );
  conversation.written('find it');
  find.gives('blue');
  await conversation.quiet();
  expect(requests[1]).toEqual([
    'user: find it',
    'agent: Let me see.',
    'agent: One moment.',
    'agent: Found it.',
    'call: find',
    'result: find "blue"',
  ]);
  expect(transcript()).toEqual(['user: find it', 'agent: Let me see.', 'agent: One moment.', 'agent: Found it.', 'agent: It is blue.']);
});

it('has in its history what was heard of an interrupted answer, and asks when that is known', async () => {
  const voice = aSlowVoice();
  const { conversation, requests, transcript } = aConversation((asked) => (asked.length === 1 ? 'One two three four.' : 'Yes?'), {
    voice: voice.create,
  });
  conversation.written('count');
  await new Promise(setImmediate);
  voice.heard(7);
  conversation.written('stop');
  await new Promise(setImmediate);
  expect([voice.cancelled.length, requests.length]).toEqual([1, 1]);
  voice.heard(8);
  voice.silent();
  await new Promise(setImmediate);
  expect(requests[1]).toEqual(['user: count', 'agent: One two', 'user: stop']);
  expect(transcript()).toEqual(['user: count', 'agent: One two …', 'user: stop']);
});

it('waits for the agent where it can not be interrupted', async () => {
  const voice = aSlowVoice();
  const { conversation, requests } = aConversation(() => 'One two three four.', {
    voice: voice.create,
    interruptions: { ...ALLOWED, enabled: false },
  });
  conversation.written('count');
  await new Promise(setImmediate);
  voice.heard(19);
  conversation.written('stop');
  await new Promise(setImmediate);
  expect([voice.cancelled, requests.length]).toEqual([[], 1]);
  voice.silent();
  await new Promise(setImmediate);
  expect(requests[1]).toEqual(['user: count', 'agent: One two three four.', 'user: stop']);
});

it.each([true, false])(
  'stops a tool that only waits when the user speaks, and one answer takes both (interruptions: %j)',
  async (enabled) => {
    const { conversation, requests } = aConversation((asked) => (asked.length === 1 ? [call('wait')] : 'Well.'), {
      tools: [waits],
      interruptions: { ...ALLOWED, enabled },
    });
    conversation.written('hello');
    await conversation.said();
    conversation.written('I have no keypad');
    await conversation.quiet();
    expect(requests.slice(1)).toEqual([['user: hello', 'call: wait', 'result: wait "no keys"', 'user: I have no keypad']]);
  },
);

it('keeps the words of an answer with its calls, unless something was said between them', async () => {
  const quiet = aTool('find', { run: async () => ({ succeeded: true, forModel: 'it' }) }).definition;
  const loud = { ...quiet, name: 'search', messages: { start: 'One moment.' } };
  const requests: AnswerRequest[] = [];
  const { conversation } = aConversation(
    (asked, request) => (
      requests.push(request),
      asked.at(-1)?.startsWith('user: ') ? [{ type: 'text', text: 'Let me see.' }, call(asked.at(-1)!.slice(6))] : 'Here.'
    ),
    { tools: [quiet, loud] },
  );
  for (const tool of ['find', 'search']) {
    conversation.written(tool);
    await conversation.quiet();
  }
  const said = requests
    .at(-1)!
    .history.flatMap((item) => (item.type === 'message' && item.text === 'Let me see.' ? [item.answer !== undefined] : []));
  expect(said).toEqual([true, false]);
});

it('lets an answer be empty only where a tool has said what came of it since the user’s last words', async () => {
  const find = aTool('find', { messages: { complete: 'Found it.' }, run: async () => ({ succeeded: true, forModel: 'it' }) });
  const empty: boolean[] = [];
  const { conversation } = aConversation(
    (asked, { mayBeEmpty }) => (empty.push(mayBeEmpty()), asked.at(-1) === 'user: find it' ? [call('find')] : 'Well.'),
    { tools: [find.definition] },
  );
  for (const words of ['find it', 'thanks']) {
    conversation.written(words);
    await conversation.quiet();
  }
  expect(empty).toEqual([false, true, false]);
});

it('measures an answer from its request to its first word, once for each turn', async () => {
  const clock = new FakeClock();
  const find = aTool('find', { messages: { start: 'One moment.' } });
  const { conversation, written } = aConversation(() => '', {
    clock,
    tools: [find.definition],
    model: {
      async *answer({ history }) {
        clock.tick(100);
        yield history.length === 1 ? call('find') : { type: 'text', text: 'Here' };
        clock.tick(100);
        if (history.length > 1) yield { type: 'text', text: ' it is.' };
      },
    },
  });
  const turns = () => written.flatMap(({ turn }) => (turn ? [[turn.seq, turn.llmTtft]] : []));
  conversation.written('find it');
  await conversation.said();
  expect(turns()).toEqual([]);
  find.gives('it');
  await conversation.quiet();
  const first = written.find(({ message }) => message?.role === 'agent')?.message?.seq;
  expect(turns()).toEqual([[first, 100]]);
});

it('says of the latencies of a turn whether its answer was interrupted', async () => {
  for (const interrupted of [true, false]) {
    const voice = aSlowVoice();
    const { conversation, clock, written } = aConversation(() => 'Once upon a time.', { voice: voice.create });
    conversation.written('tell me a story');
    await clock.advance(0);
    voice.heard(5);
    if (!interrupted) voice.silent();
    conversation.written('wait');
    voice.silent();
    const turns = written.filter(({ turn }) => turn !== undefined);
    expect(turns.map((entry) => entry.interrupted ?? entry.message?.interrupted)).toEqual([interrupted]);
  }
});

it('keeps with an answer what it rests on', async () => {
  const source = { knowledge_base: 'shop', document_id: 'd', chunk_id: 'c', filename: 'hours.md', score: 0.9 };
  let host!: ToolHost;
  const find = aTool('find', { run: async () => (host.recordSources([source]), { succeeded: true, forModel: 'it' }) });
  const { conversation, written } = aConversation(
    (asked) => (asked.length === 1 ? [call('find')] : asked.at(-1) === 'user: thanks' ? 'Welcome.' : 'Here.'),
    { toolsOf: (of) => ((host = of), [find.definition]) },
  );
  for (const words of ['find it', 'thanks']) {
    conversation.written(words);
    await conversation.quiet();
  }
  const said = written.flatMap(({ message }) => (message?.role === 'agent' ? [[message.content, message.sources]] : []));
  expect(said).toEqual([
    ['Here.', [source]],
    ['Welcome.', null],
  ]);
});

it('lets the model call tools eight times in a row', async () => {
  const allowed: boolean[] = [];
  const again = aTool('again', { run: async () => ({ succeeded: true, forModel: 'once more' }) });
  const { conversation, transcript } = aConversation(
    (_asked, { mayCall }) => (allowed.push(mayCall) > 0 && mayCall ? [call('again', `call-${allowed.length}`)] : 'That is all.'),
    { tools: [again.definition] },
  );
  conversation.written('go');
  await conversation.quiet();
  expect(allowed).toEqual([...Array.from({ length: 8 }, () => true), false]);
  expect(transcript().at(-1)).toBe('agent: That is all.');
});

it('tells the model which tools there are when it makes one up, and runs nothing that was cut off', async () => {
  const book = aTool('book', { run: () => Promise.reject(new Error('must not run')) });
  const cut: AnswerEvent = { type: 'call', call: { id: 'cut', name: 'book', arguments: '{"amount": 12' }, complete: false };
  const { conversation, requests, written } = aConversation((asked) => (asked.length === 1 ? [call('fly'), cut] : 'Sorry.'), {
    tools: [book.definition],
  });
  conversation.written('go');
  await conversation.quiet();
  expect(requests[1]).toEqual([
    'user: go',
    'call: fly',
    expect.stringContaining('There is no tool fly, so nothing was done. There are: book, end_call.'),
    'call: book',
    expect.stringContaining('The arguments end before they are complete, so nothing was done'),
  ]);
  expect(written.flatMap(({ toolCall }) => toolCall ?? []).map(({ name, failed }) => [name, failed])).toEqual([
    ['fly', true],
    ['book', true],
  ]);
});

it('apologises where the model has failed, after what it has said', async () => {
  const failure = new ProviderError({ part: 'llm', kind: 'unreachable', provider: 'openai', message: 'the language model is away' });
  const failures: ProviderError[] = [];
  const { conversation, ends, transcript } = aConversation(() => failure, {
    welcome: 'Hello.',
    onFailure: (each) => void failures.push(each),
  });
  conversation.written('hi');
  await conversation.quiet();
  expect([failures, ends.map(({ reason }) => reason)]).toEqual([[failure], ['llm_websocket_initialization_error']]);
  await ends[0]?.farewell?.();
  expect(transcript()).toEqual(['agent: Hello.', 'user: hi', expect.stringMatching(/^agent: I am sorry/)]);
});

it('apologises after the words in whose middle the model has failed, which had answered before', async () => {
  const failure = new ProviderError({ part: 'llm', kind: 'unreachable', provider: 'openai', message: 'the language model is away' });
  const { conversation, ends, transcript } = aConversation((asked) => (asked.length === 1 ? 'Yes?' : ['One mo', failure]));
  for (const words of ['hi', 'help']) {
    conversation.written(words);
    await conversation.quiet();
  }
  expect(ends.map(({ reason }) => reason)).toEqual(['llm_websocket_connection_lost']);
  await ends[0]?.farewell?.();
  expect(transcript()).toEqual(['user: hi', 'agent: Yes?', 'user: help', 'agent: One mo', expect.stringMatching(/^agent: I am sorry/)]);
});

it('shows the model again what its server wants to see with words and calls', async () => {
  const find = aTool('find', { run: async () => ({ succeeded: true, forModel: 'it' }) });
  const [ofWords, ofCall] = [{ google: { thought: 'w' } }, { google: { thought: 'c' } }];
  const signed = { id: '1', name: 'find', arguments: '{}', extra: { extra_content: ofCall } };
  const requests: AnswerRequest[] = [];
  const { conversation } = aConversation(
    (_asked, request) =>
      requests.push(request) > 1
        ? 'Here.'
        : [
            { type: 'extra', extra: { xai: 1 } },
            'Let me see.',
            { type: 'extra', extra: ofWords },
            { type: 'call', call: signed, complete: true },
          ],
    { tools: [find.definition], welcome: 'Hello.' },
  );
  conversation.written('go');
  await conversation.quiet();
  expect(requests[1]?.history.map((item) => ('extra' in item ? item.extra : undefined))).toEqual([
    undefined,
    undefined,
    { xai: 1, ...ofWords },
    ofCall,
    undefined,
  ]);
});

it('says and hears nothing once it is closed', async () => {
  const find = aTool('find', { messages: { complete: 'Found it.' } });
  const { conversation, requests, transcript, clock } = aConversation(() => [call('find')], { tools: [find.definition] });
  conversation.written('find it');
  await conversation.said();
  await conversation.close();
  find.gives('it');
  conversation.written('hello?');
  conversation.begin();
  await new Promise(setImmediate);
  expect([requests.length, transcript(), clock.timers]).toEqual([1, ['user: find it'], 0]);
});

it('stops tools that only wait when it is closed', async () => {
  const { conversation, written, clock } = aConversation(() => [call('wait')], { tools: [waits] });
  conversation.written('hello');
  await conversation.said();
  await conversation.close();
  await conversation.quiet();
  expect([written.flatMap(({ toolCall }) => toolCall?.result ?? []), clock.timers]).toEqual([['no keys'], 0]);
});

it('asks for no answer to what the user goes on from at the same moment', async () => {
  const { conversation, requests } = aConversation(() => 'Yes?');
  conversation.pressed('12');
  conversation.pressed('34');
  await conversation.quiet();
  expect(requests).toEqual([['user: [pressed 12]', 'user: [pressed 34]']]);
});

it('lets tools go on for five seconds without it', async () => {
  const stopped: unknown[] = [];
  const endless = aTool('endless', {
    run: (_args, signal) => new Promise((_done, fail) => signal.addEventListener('abort', () => fail(stopped.push(signal.reason)))),
  });
  const { conversation, clock } = aConversation(() => [call('endless')], { tools: [endless.definition] });
  conversation.written('go');
  await conversation.said();
  await conversation.close();
  await clock.advance(4_000);
  await conversation.close();
  await clock.advance(999);
  expect(stopped).toEqual([]);
  await clock.advance(1);
  expect([stopped, clock.timers]).toEqual([[new Error('the call is over')], 0]);
});

it('ends at its longest duration', () => {
  const { clock, ends } = aConversation(() => '');
  clock.tick(60_000);
  expect(ends.map(({ reason }) => reason)).toEqual(['maximum_duration_exceeded']);
});

/** Builds ears that hear what the test says. */
function someEars() {
  let report: (event: EarEvent) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const finished = Promise.withResolvers<void>();
  const caughtUp = Promise.withResolvers<void>();
  let closed = false;
  const create: CreateEars = (reports) => {
    ({ report, fail } = reports);
    return { caughtUp: () => caughtUp.promise, finish: () => finished.promise, close: () => void (closed = true) };
  };
  const says = (clock: FakeClock, text: string): void => {
    report({ type: 'speaks', since: clock.now() });
    report({ type: 'pauses', spokenMs: 0 });
    report({ type: 'understood', text, more: false });
  };
  return { create, says, finished, caughtUp, fail: (error: unknown) => fail(error), closed: () => closed };
}

it('looks at all sound that has come before a timer counts', async () => {
  const ears = someEars();
  const { conversation, clock, requests } = aConversation(() => 'Yes.', { ears: ears.create, turnEndMs: 500 });
  conversation.listen();
  ears.says(clock, 'are you');
  await clock.advance(600);
  const early = requests.length;
  // The words lay there.
  ears.says(clock, 'open today');
  ears.caughtUp.resolve();
  await clock.advance(0);
  expect(requests.slice(early)).toEqual([['user: are you open today']]);
  await clock.advance(500);
  expect(requests.at(-1)).toEqual(['user: are you open today']);
});

it('waits for the last words, and no longer than three seconds', async () => {
  for (const known of [true, false]) {
    const ears = someEars();
    const { conversation, clock, transcript } = aConversation(() => 'Yes.', { ears: ears.create, turnEndMs: 500 });
    conversation.listen();
    let closed = false;
    void conversation.close().then(() => (closed = true));
    await clock.advance(2_900);
    expect([closed, ears.closed()]).toEqual([false, false]);
    ears.says(clock, 'good bye');
    if (known) ears.finished.resolve();
    await clock.advance(known ? 0 : 200);
    expect([closed, ears.closed(), transcript()]).toEqual([true, true, ['user: good bye']]);
  }
});

it('ends where nothing is understood any more, with an apology', async () => {
  const ears = someEars();
  const { conversation, ends, transcript } = aConversation(() => 'Yes.', { ears: ears.create });
  conversation.listen();
  ears.fail(new ProviderError({ part: 'stt', kind: 'refused', provider: 'deepgram', message: 'refused' }));
  expect(ends.map(({ reason }) => reason)).toEqual(['speech_recognition_error']);
  await ends[0]!.farewell?.();
  expect(transcript()).toEqual([expect.stringContaining('agent: ')]);
});
