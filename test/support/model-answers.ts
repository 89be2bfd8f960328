/** Lists answers of language models as servers stream them, odd ones above all, each with what has to be read from it. */
import type { ModelEvent } from '../../calls/model-stream/index.ts';

export interface ModelAnswerCase {
  readonly name: string;
  /** Body of the response. */
  readonly body: string;
  readonly text?: string;
  readonly reasoning?: string;
  /** Name and arguments of each call; with what is wrong with the arguments where a call must not run. */
  readonly calls?: readonly (readonly [name: string, args: string, problem?: string])[];
  /** Names of calls that must not run, for the answer was cut off. */
  readonly unfinished?: readonly string[];
  /** Numbers of input and output tokens. */
  readonly usage?: readonly [number, number];
  /** Reason of the end, or of the failure. */
  readonly reason: string;
}

const choice = (delta: unknown, finish: string | null = null) => ({ index: 0, delta, finish_reason: finish });
export const chunk = (delta: unknown, finish: string | null = null, more: object = {}): object => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 0,
  model: 'm',
  choices: [choice(delta, finish)],
  ...more,
});
export const finish = (reason: string): object => chunk({}, reason);
export const says = (content: unknown): object => chunk({ content });
export const called = (index: number | undefined, id: string | null | undefined, name: string | undefined, args: unknown) => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id }),
  type: 'function',
  function: { ...(name !== undefined && { name }), arguments: args },
});
export const calls = (...toolCalls: readonly object[]): object => chunk({ tool_calls: toolCalls });
/** Returns a stream of events that ends as OpenAI's does. */
export const events = (...chunks: readonly unknown[]): string =>
  [...chunks.map((one) => JSON.stringify(one)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');

const [a, b, c] = [called(0, 't0', 'a', '{}'), called(1, 't1', 'b', '{}'), called(2, 't2', 'c', '{}')];
const ran = [
  ['a', '{}'],
  ['b', '{}'],
] as const;
const counted = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const hello = { text: 'One two.', reason: 'stop' } as const;
const sorry = { text: 'Sorry, no.', reason: 'stop' } as const;
const booked = [['book', '{"slot":"9","name":"Ada"}']] as const;

export const modelAnswers: readonly ModelAnswerCase[] = [
  {
    name: 'an answer in words',
    body: events(chunk({ role: 'assistant', content: '' }), says('One '), says('two.'), finish('stop')),
    ...hello,
  },
  {
    name: 'a call in fragments',
    body: events(
      calls(called(0, 't0', 'book', '')),
      calls({ index: 0, function: { arguments: '{"slot":"9",' } }),
      calls({ index: 0, function: { arguments: '"name":"Ada"}' } }),
      finish('tool_calls'),
    ),
    calls: booked,
    reason: 'tool_calls',
  },
  {
    name: 'three calls in one delta',
    body: events(calls(a, b, c), finish('tool_calls')),
    calls: [...ran, ['c', '{}']],
    reason: 'tool_calls',
  },
  {
    name: 'three calls in a chunk each',
    body: events(calls(a), calls(b), calls(c), finish('tool_calls')),
    calls: [...ran, ['c', '{}']],
    reason: 'tool_calls',
  },
  {
    name: 'calls and the finish in one chunk',
    body: events(chunk({ tool_calls: [a, b] }, 'tool_calls')),
    calls: ran,
    reason: 'tool_calls',
  },
  { name: 'calls with another finish', body: events(calls(a, b), finish('stop')), calls: ran, reason: 'tool_calls' },
  { name: 'calls without a finish', body: events(calls(a, b)), calls: ran, reason: 'tool_calls' },
  {
    name: 'all calls at index 0',
    body: events(calls(a), calls(called(0, 't1', 'b', '{}')), finish('tool_calls')),
    calls: ran,
    reason: 'tool_calls',
  },
  {
    name: 'calls without an index',
    body: events(calls(called(undefined, 't0', 'a', '{}')), calls(called(undefined, 't1', 'b', '{}')), finish('tool_calls')),
    calls: ran,
    reason: 'tool_calls',
  },
  {
    name: 'one call under two indexes',
    body: events(calls(called(0, 't0', 'book', '{"slot":9}')), calls(called(1, 't0', 'book', '{"slot":9}')), finish('tool_calls')),
    calls: [['book', '{"slot":9}']],
    reason: 'tool_calls',
  },
  {
    name: 'one call whose index grows with each fragment',
    body: events(calls(called(0, 't0', 'book', '{"slot":"9",')), calls(called(1, 't0', 'book', '"name":"Ada"}')), finish('tool_calls')),
    calls: booked,
    reason: 'tool_calls',
  },
  {
    name: 'two calls with one id',
    body: events(calls(called(0, 't0', 'book', '{"slot":9}')), calls(called(1, 't0', 'book', '{"slot":10}')), finish('tool_calls')),
    calls: [
      ['book', '{"slot":9}'],
      ['book', '{"slot":10}'],
    ],
    reason: 'tool_calls',
  },
  {
    name: 'name and id in each fragment',
    body: events(
      calls(called(0, 't0', 'book', '{"slot":')),
      calls(called(0, 't0', 'book', '"9","name":"Ada"')),
      calls(called(0, 't0', 'book', '}')),
      finish('tool_calls'),
    ),
    calls: booked,
    reason: 'tool_calls',
  },
  {
    name: 'the name in each fragment, the id in the first',
    body: events(
      calls(called(0, 't0', 'book', '{"slot":')),
      calls(called(0, undefined, 'book', '"9","name":"Ada"')),
      calls(called(0, undefined, 'book', '}')),
      finish('tool_calls'),
    ),
    calls: booked,
    reason: 'tool_calls',
  },
  {
    name: 'an empty last fragment with the name',
    body: events(calls(called(0, 't0', 'book', '{"slot":"9","name":"Ada"}')), calls(called(0, 't0', 'book', '')), finish('tool_calls')),
    calls: booked,
    reason: 'tool_calls',
  },
  {
    name: 'another id in each fragment',
    body: events(calls(called(0, 'x1', 'book', '{"slot":"9",')), calls(called(0, 'x2', undefined, '"name":"Ada"}')), finish('tool_calls')),
    calls: booked,
    reason: 'tool_calls',
  },
  ...[undefined, null, ''].map((id): ModelAnswerCase => ({
    name: `a call with the id ${JSON.stringify(id) ?? 'absent'}`,
    body: events(calls(called(0, id, 'a', '{}')), finish('tool_calls')),
    calls: [['a', '{}']],
    reason: 'tool_calls',
  })),
  {
    name: 'calls without ids and indexes',
    body: events(
      calls(called(undefined, undefined, 'book', '{"slot":9}')),
      calls(called(undefined, undefined, 'book', '{"slot":10}')),
      calls(called(undefined, undefined, 'a', '')),
      finish('tool_calls'),
    ),
    calls: [
      ['book', '{"slot":9}'],
      ['book', '{"slot":10}'],
      ['a', '{}'],
    ],
    reason: 'tool_calls',
  },
  {
    name: 'indexes as texts',
    body: events(
      calls({ ...called(undefined, 't0', 'a', ''), index: '0' }, { ...called(undefined, 't1', 'b', ''), index: '1' }),
      calls({ index: '0', function: { arguments: '{}' } }, { index: '1', function: { arguments: '{}' } }),
      finish('tool_calls'),
    ),
    calls: ran,
    reason: 'tool_calls',
  },
  {
    name: 'an id before its name, at the index of another call',
    body: events(
      calls(a),
      calls(called(0, 't1', undefined, '')),
      calls(called(0, 't1', 'a', '')),
      calls(called(0, 't1', undefined, '{"n":1}')),
    ),
    calls: [
      ['a', '{}'],
      ['a', '{"n":1}'],
    ],
    reason: 'tool_calls',
  },
  {
    name: 'a call whose rest has another index',
    body: events(
      calls(a),
      calls(called(0, 't1', 'book', '')),
      calls({ index: 1, function: { arguments: '{"slot":' } }),
      calls({ index: 1, function: { arguments: '9}' } }),
      finish('tool_calls'),
    ),
    calls: [
      ['a', '{}'],
      ['book', '{"slot":9}'],
    ],
    reason: 'tool_calls',
  },
  {
    name: 'one call that is sent twice with other spaces',
    body: events(calls(called(0, 't0', 'book', '{"slot": 9}')), calls(called(1, 't0', 'book', '{"slot":9}')), finish('tool_calls')),
    calls: [['book', '{"slot": 9}']],
    reason: 'tool_calls',
  },
  {
    name: 'a finish with each fragment of a call',
    body: events(
      chunk({ tool_calls: [called(0, 't0', 'book', '{"slot":')] }, 'stop'),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '9}' } }] }, 'stop'),
    ),
    calls: [['book', '{"slot":9}']],
    reason: 'tool_calls',
  },
  {
    name: 'a call in the former form',
    body: events(
      chunk({ function_call: { name: 'book', arguments: '' } }),
      chunk({ function_call: { arguments: '{"slot":9}' } }),
      finish('function_call'),
    ),
    calls: [['book', '{"slot":9}']],
    reason: 'tool_calls',
  },
  {
    name: 'a call in both forms',
    body: events(chunk({ tool_calls: [a], function_call: a.function }), finish('tool_calls')),
    calls: [['a', '{}']],
    reason: 'tool_calls',
  },
  ...[[9], 12, true].map((args): ModelAnswerCase => ({
    name: `arguments as ${JSON.stringify(args)}`,
    body: events(calls(called(0, 't0', 'book', args)), finish('tool_calls')),
    calls: [['book', JSON.stringify(args), 'no_object']],
    reason: 'tool_calls',
  })),
  ...['{"slot":9}', { slot: 9 }].map((args): ModelAnswerCase => ({
    name: `an empty object, then the arguments as ${JSON.stringify(args)}`,
    body: events(calls(called(0, 't0', 'book', {})), calls(called(0, 't0', 'book', args)), finish('tool_calls')),
    calls: [['book', '{"slot":9}']],
    reason: 'tool_calls',
  })),
  {
    name: 'arguments as an object',
    body: events(calls(called(0, 't0', 'book', { slot: 9 })), finish('tool_calls')),
    calls: [['book', '{"slot":9}']],
    reason: 'tool_calls',
  },
  ...(
    [
      ['length', 'length'],
      ['MAX_TOKENS', 'length'],
      ['content_filter', 'content_filter'],
      ['content_filter: PROHIBITED_CONTENT', 'content_filter'],
      ['function_call_filter: MALFORMED_FUNCTION_CALL', 'content_filter'],
    ] as const
  ).map(([sent, reason]): ModelAnswerCase => ({
    name: `${sent} inside a call`,
    body: events(says('One moment.'), calls(called(0, 't0', 'book', '{"slot":9}')), finish(sent)),
    text: 'One moment.',
    unfinished: ['book'],
    reason,
  })),
  {
    name: 'length, and the finish of a gateway',
    body: events(calls(a), finish('length'), finish('stop')),
    unfinished: ['a'],
    reason: 'length',
  },
  { name: 'length in words', body: events(says('One two'), finish('length')), text: 'One two', reason: 'length' },
  {
    name: 'arguments that end in a number',
    body: events(calls(called(0, 't0', 'refund', '{"amount": 12')), finish('tool_calls')),
    calls: [['refund', '{"amount": 12', 'incomplete']],
    reason: 'tool_calls',
  },
  {
    name: 'arguments that end in a text',
    body: events(calls(called(0, 't0', 'cancel', '{"note":"cancel all but the f')), finish('tool_calls')),
    calls: [['cancel', '{"note":"cancel all but the f', 'incomplete']],
    reason: 'tool_calls',
  },
  {
    name: 'arguments that are no JSON',
    body: events(calls(called(0, 't0', 'book', '{"slot": @@}')), finish('tool_calls')),
    calls: [['book', '{"slot": @@}', 'no_json']],
    reason: 'tool_calls',
  },
  {
    name: 'arguments that are no object',
    body: events(calls(called(0, 't0', 'book', '[9]')), finish('tool_calls')),
    calls: [['book', '[9]', 'no_object']],
    reason: 'tool_calls',
  },
  {
    name: 'words and calls in one delta',
    body: events(chunk({ content: 'One moment.', tool_calls: [a, b] }), finish('tool_calls')),
    text: 'One moment.',
    calls: ran,
    reason: 'tool_calls',
  },
  {
    name: 'words in the finish chunk of a call',
    body: events(calls(a), chunk({ content: 'One moment.' }, 'tool_calls')),
    text: 'One moment.',
    calls: [['a', '{}']],
    reason: 'tool_calls',
  },
  { name: 'words in the finish chunk', body: events(says('One '), chunk({ content: 'two.' }, 'stop')), ...hello },
  { name: 'a finish in each chunk', body: events(chunk({ content: 'One ' }, 'stop'), chunk({ content: 'two.' }, 'stop')), ...hello },
  ...[
    { id: 'c1', choices: null, usage: counted },
    { id: 'c1', usage: counted },
    { id: 'c1', choices: [], usage: counted },
  ].flatMap((odd): readonly ModelAnswerCase[] => [
    {
      name: `${JSON.stringify(odd)} in the answer`,
      body: events(says('One '), odd, says('two.'), finish('stop')),
      ...hello,
      usage: [10, 5],
    },
    { name: `${JSON.stringify(odd)} after the answer`, body: events(says('One two.'), finish('stop'), odd), ...hello, usage: [10, 5] },
  ]),
  ...[
    null,
    { choices: [null] },
    { choices: [{ index: 0, delta: null, finish_reason: null }] },
    { choices: [{ index: 0 }] },
    7,
    'ping',
    [],
  ].map((odd): ModelAnswerCase => ({
    name: `data: ${JSON.stringify(odd)}`,
    body: events(says('One '), odd, says('two.'), finish('stop'), odd),
    text: 'One two.',
    reason: 'stop',
  })),
  { name: 'an error as a second finish', body: events(says('One two.'), finish('stop'), finish('error')), ...hello },
  { name: 'an error after the answer', body: events(says('One two.'), finish('stop'), { error: { message: 'late' } }), ...hello },
  {
    name: 'a broken event after the answer',
    body: events(says('One two.'), finish('stop')).replace('data: [DONE]', 'data: {"ch'),
    ...hello,
  },
  { name: 'lines that end with CR LF', body: events(says('One '), says('two.'), finish('stop')).replaceAll('\n', '\r\n'), ...hello },
  { name: 'lines that end with CR', body: events(says('One '), says('two.'), finish('stop')).replaceAll('\n', '\r'), ...hello },
  {
    name: 'comments and names of events',
    body: `: hello\n\n${events(says('One '), says('two.'), finish('stop')).replaceAll('data:', ': keep-alive\nevent: chunk\nid: 5\ndata:')}`,
    ...hello,
  },
  { name: 'no space behind data', body: events(says('One two.'), finish('stop')).replaceAll('data: ', 'data:'), ...hello },
  {
    name: 'an event in a line for each value',
    body: `${JSON.stringify({ ...says('One two.'), bytes: [72, 101] }, null, 2).replaceAll(/^/gm, 'data: ')}\n\n${events(finish('stop'))}`,
    ...hello,
  },
  { name: 'no blank lines', body: events(says('One '), says('two.'), finish('stop')).replaceAll('\n\n', '\n'), ...hello },
  {
    name: 'an event in several lines',
    body: events(says('One two.'), finish('stop')).replaceAll(',"object"', '\ndata: ,"object"'),
    ...hello,
  },
  { name: 'no [DONE]', body: events(says('One two.'), finish('stop')).replace('data: [DONE]\n\n', ''), ...hello },
  { name: 'no end of the last line', body: events(says('One two.'), finish('stop')).replace('\n\ndata: [DONE]\n\n', ''), ...hello },
  { name: 'a finish in capitals', body: events(says('One two.'), finish('STOP')), ...hello },
  {
    name: 'null as a text before the finish',
    body: events(chunk({ content: 'One ' }, 'null'), chunk({ content: 'two.' }, 'stop')),
    ...hello,
  },
  {
    name: 'null as a text in place of the finish',
    body: `data: ${JSON.stringify(chunk({ content: 'One' }, 'null'))}\n\n`,
    text: 'One',
    reason: 'cut_off',
  },
  { name: 'no finish', body: events(says('One two.')), ...hello },
  {
    name: 'signs of several bytes',
    body: events(says('Grüße, '), says('你好 👋'), finish('stop')),
    text: 'Grüße, 你好 👋',
    reason: 'stop',
  },
  {
    name: 'content in parts',
    body: events(says([{ type: 'text', text: 'One ' }, 'two', { type: 'image' }]), says([{ type: 'text', text: '.' }]), finish('stop')),
    ...hello,
  },
  { name: 'content as one part', body: events(says({ type: 'text', text: 'One two.' }), finish('stop')), ...hello },
  {
    name: 'reasoning in parts',
    body: events(
      says([{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }]),
      says([{ type: 'text', text: 'One two.' }]),
      finish('stop'),
    ),
    reasoning: 'Hm.',
    ...hello,
  },
  ...['reasoning_content', 'reasoning'].map((field): ModelAnswerCase => ({
    name: `reasoning in ${field}`,
    body: events(chunk({ [field]: 'Hm.', content: null }), says('One two.'), finish('stop')),
    reasoning: 'Hm.',
    text: 'One two.',
    reason: 'stop',
  })),
  {
    name: 'reasoning under both names',
    body: events(chunk({ reasoning_content: 'Hm.', reasoning: 'Hm.' }), says('One two.'), finish('stop')),
    reasoning: 'Hm.',
    ...hello,
  },
  ...['think', 'thinking'].map((tag): ModelAnswerCase => ({
    name: `reasoning in <${tag}>`,
    body: events(
      says(`<${tag.slice(0, 3)}`),
      says(`${tag.slice(3)}>A refund`),
      says(`, no.</${tag}`),
      says('>\n\nSorry, no.'),
      finish('stop'),
    ),
    reasoning: 'A refund, no.',
    text: 'Sorry, no.',
    reason: 'stop',
  })),
  {
    name: 'reasoning that only ends',
    body: events(says('The user wants a refund.'), says(' </think>'), says('\n\nSorry, no.'), finish('stop')),
    // The part that was text is none any more.
    ...sorry,
  },
  {
    name: 'channels of harmony',
    body: events(
      says('<|channel|>analysis<|message|>A refund, no.<|end|><|start|>assistant'),
      says('<|channel|>final<|message|>Sorry, no.<|return|>'),
      finish('stop'),
    ),
    reasoning: 'A refund, no.',
    ...sorry,
  },
  {
    name: "Gemma's thought channel",
    body: events(says('<|channel>thought\nA refund, no.<chan'), says('nel|>Sorry, no.'), finish('stop')),
    reasoning: '\nA refund, no.',
    ...sorry,
  },
  {
    name: 'a call in a channel of harmony',
    body: events(says('<|channel|>commentary to=functions.book <|constrain|>json<|message|>{"slot":9}<|call|>Sorry, no.'), finish('stop')),
    reasoning: '{"slot":9}',
    ...sorry,
  },
  {
    name: 'less than in prose',
    body: events(says('1 <'), says(' 2, <b>'), says('so <th'), finish('stop')),
    text: '1 < 2, <b>so <th',
    reason: 'stop',
  },
  { name: 'nothing', body: events(finish('stop')), reason: 'empty' },
  { name: 'blanks', body: events(says(' \n'), says('\u200b'), finish('stop')), reason: 'empty' },
  { name: 'reasoning alone', body: events(says('<think>hm</think>'), finish('stop')), reasoning: 'hm', reason: 'empty' },
  { name: 'a reasoning without an end', body: events(says('<think>hm'), finish('stop')), reasoning: 'hm', reason: 'empty' },
  { name: 'a refusal', body: events(chunk({ refusal: "I can't." }), finish('stop')), reason: 'refusal' },
  { name: 'a filtered refusal', body: events(chunk({ refusal: "I can't." }), finish('content_filter')), reason: 'content_filter' },
  { name: 'reasoning up to the limit', body: events(chunk({ reasoning: 'Hm' }), finish('length')), reasoning: 'Hm', reason: 'length' },
  { name: 'a call without a name', body: events(calls(called(0, 't0', undefined, '{}')), finish('tool_calls')), reason: 'empty' },
  { name: 'usage first', body: events(chunk({ content: 'One two.' }, null, { usage: counted }), finish('stop')), ...hello, usage: [10, 5] },
  {
    name: 'usage in each chunk',
    body: events(
      chunk({ content: 'One ' }, null, { usage: { prompt_tokens: 10, completion_tokens: 1 } }),
      chunk({ content: 'two.' }, 'stop', { usage: { prompt_tokens: 10, completion_tokens: 2 } }),
    ),
    ...hello,
    usage: [10, 2],
  },
  {
    name: 'usage and a placeholder after it',
    body: events(says('One two.'), chunk({}, 'stop', { usage: counted }), {
      choices: [],
      usage: { prompt_tokens: 0, completion_tokens: 0 },
    }),
    ...hello,
    usage: [10, 5],
  },
  {
    name: 'reasoning in the total alone',
    body: events(says('One two.'), finish('stop'), {
      choices: [],
      usage: { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 3050, completion_tokens_details: { reasoning_tokens: 2000 } },
    }),
    ...hello,
    usage: [1000, 2050],
  },
  {
    name: 'reasoning outside, and no total',
    body: events(says('One two.'), finish('stop'), {
      choices: [],
      usage: { prompt_tokens: 1000, completion_tokens: 50, completion_tokens_details: { reasoning_tokens: 2000 } },
    }),
    ...hello,
    usage: [1000, 2050],
  },
  {
    name: 'usage without prompt_tokens',
    body: events(says('One two.'), finish('stop'), { choices: [], usage: { completion_tokens: 5, total_tokens: 15 } }),
    ...hello,
    usage: [10, 5],
  },
  {
    name: 'usage of a choice',
    body: events(says('One two.'), { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: counted }] }),
    ...hello,
    usage: [10, 5],
  },
  { name: 'usage of Groq', body: events(says('One two.'), chunk({}, 'stop', { x_groq: { usage: counted } })), ...hello, usage: [10, 5] },
  {
    name: 'several answers',
    body: events(
      { choices: [choice({ content: 'One ' }), { index: 1, delta: { content: 'Never.' }, finish_reason: 'stop' }] },
      { choices: [{ index: 1, delta: { content: 'Never.' }, finish_reason: 'stop' }] },
      says('two.'),
      finish('stop'),
    ),
    ...hello,
  },
  {
    name: 'an answer that is not streamed',
    body: JSON.stringify(
      {
        id: 'c1',
        choices: [{ message: { content: '<think>Hm.</think>One moment.', tool_calls: [a, b] }, finish_reason: 'tool_calls' }],
        usage: counted,
      },
      null,
      2,
    ),
    reasoning: 'Hm.',
    text: 'One moment.',
    calls: ran,
    usage: [10, 5],
    reason: 'tool_calls',
  },
  { name: 'an answer that is not streamed and has no finish', body: '{"choices":[{"message":{"content":"One two."}}]}', ...hello },
  ...[
    { choices: [], usage: counted },
    { choices: null, usage: counted },
    { choices: [{ message: null }], usage: counted },
  ].map((odd): ModelAnswerCase => ({
    name: `${JSON.stringify(odd)} that is not streamed`,
    body: JSON.stringify(odd),
    usage: [10, 5],
    reason: 'empty',
  })),
  {
    name: 'an empty error with each chunk',
    body: events({ ...says('One two.'), error: {} }, { ...finish('stop'), error: { message: '' } }),
    ...hello,
  },
  {
    name: 'an error in a choice',
    body: events(says('One'), { choices: [{ ...choice({}, 'stop'), error: { message: 'overloaded' } }] }),
    text: 'One',
    reason: 'error',
  },
  {
    name: 'an error of Groq',
    body: events(says('One'), chunk({}, null, { x_groq: { error: 'overloaded' } })),
    text: 'One',
    reason: 'error',
  },
  { name: 'an error in a field of its own', body: 'error: {"message":"overloaded"}\n\n', reason: 'error' },
  { name: 'an error as an event without JSON', body: 'event: error\ndata: overloaded\n\n', reason: 'error' },
  { name: 'an error in an event', body: events(says('One'), { error: { message: 'overloaded' } }), text: 'One', reason: 'error' },
  { name: 'an error as a text', body: events({ error: 'overloaded' }), reason: 'error' },
  { name: 'an error by the name of its event', body: 'event: error\ndata: {"message":"overloaded"}\n\n', reason: 'error' },
  { name: 'an error in place of an answer', body: '{"error":{"message":"overloaded"}}', reason: 'error' },
  ...['error', 'insufficient_system_resource'].map((sent): ModelAnswerCase => ({
    name: `${sent} as the finish`,
    body: events(says('One'), finish(sent)),
    text: 'One',
    reason: 'error',
  })),
  { name: 'half an event', body: 'data: {"choices":[{"del\n\n', reason: 'unreadable' },
  { name: 'half an event, then [DONE]', body: 'data: {"choices":[{"del\ndata: [DONE]\n\n', reason: 'unreadable' },
  { name: 'half of the JSON', body: '{"choices":[', reason: 'unreadable' },
  { name: 'a stream that ends early', body: `data: ${JSON.stringify(says('One'))}\n\n`, text: 'One', reason: 'cut_off' },
  { name: 'a stream that ends in an event', body: `data: ${JSON.stringify(says('One'))}\n\ndata: {"ch`, text: 'One', reason: 'cut_off' },
  { name: 'a call that ends early', body: `data: ${JSON.stringify(calls(a))}\n\n`, reason: 'cut_off' },
  { name: 'a page', body: '<html>It works!</html>', reason: 'not_a_completion' },
  { name: 'another object', body: '{"detail":"Not found"}', reason: 'not_a_completion' },
  { name: 'no body', body: '', reason: 'not_a_completion' },
];

/** Returns what was read from the events of one answer. */
export function readingOf(all: readonly ModelEvent[]): Omit<ModelAnswerCase, 'name' | 'body'> {
  let text = '';
  let reasoning = '';
  const made: (readonly [string, string, string?])[] = [];
  let usage: readonly [number, number] | undefined;
  let unfinished: readonly string[] = [];
  let reason = 'none';
  for (const event of all) {
    if (event.type === 'text') text += event.text;
    else if (event.type === 'reasoning') reasoning += event.text;
    else if (event.type === 'retract') text = '';
    else if (event.type === 'call') {
      const { name, arguments: args, problem } = event.call;
      made.push(problem === undefined ? [name, args] : [name, args, problem]);
    } else if (event.type === 'usage') usage = [event.usage.inputTokens, event.usage.outputTokens];
    else if (event.type === 'end') {
      unfinished = event.unfinished.map(({ name }) => name);
      ({ reason } = event);
    } else if (event.type === 'failure') ({ reason } = event);
  }
  return {
    ...(text !== '' && { text }),
    ...(reasoning !== '' && { reasoning }),
    ...(made.length > 0 && { calls: made }),
    ...(unfinished.length > 0 && { unfinished }),
    ...(usage !== undefined && { usage }),
    reason,
  };
}
