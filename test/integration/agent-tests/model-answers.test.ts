/** Odd answers of models are said, called and recorded in whole conversations, and come again from the recording. */
import { describe, expect, it } from 'vitest';

import { aTool } from '../../support/builders.ts';
import { called, calls, chunk, events, finish, says } from '../../support/model-answers.ts';
import type { ChatHandler } from '../../support/provider-server.ts';
import { aTestFolder, anAgentTest, receptionist, reportIn, type TestFolder } from './test-folder.ts';

const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const PARAMETERS: Readonly<Record<string, object>> = {
  a: object({}),
  b: object({}),
  c: object({}),
  book: object({ slot: { type: 'integer' }, name: { type: 'string' } }),
  refund: object({ amount: { type: 'integer' } }, ['amount']),
};

const tool = (name: string) =>
  aTool(name, undefined, {
    agentRefs: [{ name: 'receptionist' }],
    custom: { function: { name, parameters: PARAMETERS[name] }, http: { url: `https://tools.example.com/${name}`, method: 'POST' } },
  });

/** Returns the streams for the first requests of a turn; a request with the results of all tools gets "done". */
const answers =
  (...streams: readonly string[]): ChatHandler =>
  ({ toolResults }) =>
    toolResults.length === 0 ? { raw: streams[0]! } : streams[1] === undefined ? 'All done.' : { raw: streams[1] };

async function aShop(name: string, chat: ChatHandler): Promise<TestFolder> {
  const folder = await aTestFolder();
  folder.provider.chat(chat);
  await folder.write('tools/all.yaml', ...Object.keys(PARAMETERS).map(tool));
  await folder.write('agents/receptionist.yaml', receptionist({ welcomeMessage: undefined, postCallAnalysis: undefined }));
  await folder.write(
    'tests/odd.yaml',
    anAgentTest(name, {
      tools: Object.keys(PARAMETERS).map((one) => ({ name: one, type: 'Returns', returns: one })),
      type: 'Conversation',
      conversation: [{ type: 'User', user: 'Go.' }],
      atEnd: [{ type: 'Ends', ends: 'user_ended_call' }],
    }),
  );
  return folder;
}

/** Returns what a run says: the calls with their results, then the words. */
async function ran(folder: TestFolder, mode: string): Promise<readonly string[]> {
  const [result] = reportIn(await folder.parley(['test', '.', mode, '-o', 'json'])).results;
  const [attempt] = result!.attempts;
  if (attempt!.error !== undefined) return [attempt!.error.message];
  return attempt!.transcript.filter(({ role }) => role !== 'user').map((line) => shown(line as Line));
}

interface Line {
  readonly text: string;
  readonly tool?: { readonly name: string; readonly arguments: object; readonly result?: unknown; readonly error?: string };
}

const shown = ({ text, tool: call }: Line): string =>
  call === undefined
    ? text
    : `${call.name}(${JSON.stringify(call.arguments)}) ${call.error === undefined ? JSON.stringify(call.result) : `failed: ${call.error}`}`;

const [a, b, c] = [called(0, 't0', 'a', '{}'), called(1, 't1', 'b', '{}'), called(2, 't2', 'c', '{}')];
const all = ['a({}) "a"', 'b({}) "b"', 'c({}) "c"', 'All done.'];

describe('a conversation whose model answers', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['three calls in one delta', [events(calls(a, b, c), finish('tool_calls'))], all],
    ['three calls in a chunk each', [events(calls(a), calls(b), calls(c), finish('tool_calls'))], all],
    [
      'two calls and the finish in one chunk',
      [events(chunk({ tool_calls: [a, b] }, 'tool_calls'))],
      ['a({}) "a"', 'b({}) "b"', 'All done.'],
    ],
    [
      'words before parallel calls',
      [events(says('One moment.'), calls(a, b), finish('tool_calls'))],
      ['a({}) "a"', 'b({}) "b"', 'One moment.', 'All done.'],
    ],
    [
      'one call under two indexes',
      [events(calls(called(0, 't0', 'book', '{"slot":9}')), calls(called(1, 't0', 'book', '{"slot":9}')), finish('tool_calls'))],
      ['book({"slot":9}) "book"', 'All done.'],
    ],
    [
      'the name in each fragment',
      [events(calls(called(0, 't0', 'book', '{"slot":')), calls(called(0, 't0', 'book', '9}')), finish('tool_calls'))],
      ['book({"slot":9}) "book"', 'All done.'],
    ],
    [
      'no id',
      [events(calls(called(0, undefined, 'a', '{}'), called(1, undefined, 'b', '{}')), finish('tool_calls'))],
      ['a({}) "a"', 'b({}) "b"', 'All done.'],
    ],
    [
      'null for what is optional, and a number as a text',
      [events(calls(called(0, 't0', 'book', '{"slot":"9","name":null}')), finish('tool_calls'))],
      ['book({"slot":9}) "book"', 'All done.'],
    ],
    [
      'half of the arguments',
      [events(calls(called(0, 't0', 'refund', '{"amount": 12')), finish('tool_calls'))],
      [
        'refund({"unreadable_arguments":"{\\"amount\\": 12"}) failed: The arguments end before they are complete, so nothing was done. Call again with complete arguments.',
        'All done.',
      ],
    ],
    [
      'a call of a tool that there is not',
      [events(calls(called(0, 't0', 'cancel_all', '{"sure":tru')), finish('tool_calls'))],
      [
        'cancel_all({"unreadable_arguments":"{\\"sure\\":tru"}) failed: There is no tool cancel_all, so nothing was done. There are: a, b, book, c, look_up_order, refund, collect_digits, send_digits, end_call.',
        'All done.',
      ],
    ],
    [
      'its usage without choices',
      [events(says('One two.'), finish('stop'), { choices: null, usage: { prompt_tokens: 1, completion_tokens: 2 } })],
      ['One two.'],
    ],
    ['its reasoning', [events(says('<thinking>A refund?</thinking>Sorry, no.'), finish('stop'))], ['Sorry, no.']],
  ])('%s', async (name, streams, expected) => {
    await using folder = await aShop(name.replaceAll(/\W+/g, '-'), answers(...streams));
    expect(await ran(folder, '--live')).toEqual(expected);
    const { messages } = folder.provider.requests('chat').at(-1)!;
    // Each call has one result, in the order of the calls.
    const made = messages.flatMap(({ tool_calls: toolCalls = [] }) => toolCalls.map(({ id }) => id));
    expect(messages.flatMap(({ tool_call_id: id }) => id ?? [])).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
    expect(await ran(folder, '--record')).toEqual(expected);
    expect(await ran(folder, '--replay')).toEqual(expected);
  });

  it('nothing, is asked once more', async () => {
    await using folder = await aShop('nothing', () =>
      folder.provider.requests('chat').length === 1 ? { raw: events(finish('stop')) } : 'Here I am.',
    );
    expect(await ran(folder, '--live')).toEqual(['Here I am.']);
  });

  it('nothing to the result of a tool, is asked once more', async () => {
    await using folder = await aShop('nothing', ({ toolResults }) =>
      toolResults.length === 0
        ? { toolCalls: [{ name: 'a' }] }
        : folder.provider.requests('chat').length === 2
          ? { raw: events(finish('stop')) }
          : 'Here I am.',
    );
    expect(await ran(folder, '--live')).toEqual(['a({}) "a"', 'Here I am.']);
  });

  it('nothing, may do so where the tool has said what there is to say', async () => {
    await using folder = await aShop('nothing', answers(events(calls(a), finish('tool_calls')), events(finish('stop'))));
    const { spec, ...manifest } = tool('a');
    await folder.write(
      'tools/all.yaml',
      { ...manifest, spec: { ...spec, messages: { complete: 'It is done.' } } },
      ...['b', 'c', 'book', 'refund'].map(tool),
    );
    expect(await ran(folder, '--live')).toEqual(['a({}) "a"', 'It is done.']);
    expect(folder.provider.requests('chat')).toHaveLength(2);
  });

  it('nothing again and again, fails by name', async () => {
    await using folder = await aShop('nothing', answers(events(finish('stop'))));
    expect(await ran(folder, '--live')).toEqual([expect.stringContaining('gave an answer without words and calls (empty)')]);
    expect(folder.provider.requests('chat')).toHaveLength(2);
  });

  it('for the ninth time with a call, has to answer in words', async () => {
    await using folder = await aShop('endless', ({ body }) =>
      body['tool_choice'] === 'none' ? 'That is all.' : { toolCalls: [{ name: 'a' }] },
    );
    expect(await ran(folder, '--live')).toEqual([...Array.from({ length: 8 }, () => 'a({}) "a"'), 'That is all.']);
  });

  it('where it refuses a parameter, is recorded and replayed', async () => {
    const error = { message: "'temperature' is not supported with this model", param: 'temperature' };
    await using folder = await aShop('refuses', ({ body }) =>
      'temperature' in body ? { status: 400, raw: JSON.stringify({ error }) } : 'Here I am.',
    );
    expect(await ran(folder, '--record')).toEqual(['Here I am.']);
    expect(await ran(folder, '--replay')).toEqual(['Here I am.']);
  });
});
