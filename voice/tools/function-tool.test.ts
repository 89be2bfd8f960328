import { llm } from '@livekit/agents';
import { beforeEach, describe, expect, it } from 'vitest';

import { argumentsToPass } from '../calls/model-stream/index.ts';
import { ProviderKeyError } from '../calls/provider-access/index.ts';
import { createLogger } from '../../platform/logging.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { createArgumentCheck } from './arguments.ts';
import { runTool, toFunctionTool } from './function-tool.ts';
import { RecordingHost } from '../../test/support/recording-tool-host.ts';
import type { Arguments, ToolDefinition, ToolResult } from './tool-result.ts';

const logger = createLogger({ role: 'voice', level: 'silent' });
let host: RecordingHost;
let clock: FakeClock;

beforeEach(() => {
  host = new RecordingHost();
  clock = new FakeClock();
});

const messages = { start: 'One moment, {{name}}.', delayed: 'Still looking.', complete: 'Found it.', failed: 'That went wrong.' };

function aTool(run: ToolDefinition['run'], more: Partial<ToolDefinition> = {}): ToolDefinition {
  return { name: 'look_up', description: '', parameters: { type: 'object' }, messages, refuse: () => undefined, run, ...more };
}

const options = () => ({ host, data: { name: 'Ada' }, clock, logger, signal: new AbortController().signal });

function pending() {
  const { promise, resolve, reject } = Promise.withResolvers<ToolResult>();
  return { tool: aTool(() => promise), resolve, reject };
}

/** As the session would call it. */
function execute(
  definition: ToolDefinition,
  { aborted = false, args = {} }: { readonly aborted?: boolean; readonly args?: Arguments } = {},
) {
  const chatCtx = new llm.ChatContext();
  const history = new llm.ChatContext();
  const functionCall = llm.FunctionCall.create({ callId: 'call-1', name: definition.name, args: '{}', createdAt: Date.now() - 1_000 });
  chatCtx.insert(functionCall);
  chatCtx.addMessage({ role: 'user', content: 'wait, another thing' });
  const agent = { chatCtx, updateChatCtx: async (next: llm.ChatContext) => void (agent.chatCtx = next) };
  const controller = new AbortController();
  if (aborted) controller.abort();
  const tool = toFunctionTool(definition, options());
  const ctx = { functionCall, session: { currentAgent: agent, history } } as unknown as llm.ToolOptions['ctx'];
  return { result: tool.execute(args as never, { ctx, toolCallId: 'call-1', abortSignal: controller.signal }), agent, history };
}

it('that is stopped, for the call is over, is no fault of the tool', async () => {
  const over = new AbortController();
  const endless = aTool(
    (_args, signal) => new Promise((_done, fail) => signal.addEventListener('abort', () => fail(signal.reason as Error))),
  );
  const running = runTool(endless, {}, { ...options(), signal: over.signal });
  over.abort(new Error('the call is over'));
  expect(await running).toMatchObject({ succeeded: false, detail: 'cancelled' });
});

describe('the call of a tool', () => {
  it('is recorded with what the model gave and got', async () => {
    await execute(aTool(async () => ({ succeeded: true, forModel: { free: 2 } }))).result;
    await execute(aTool(async () => ({ succeeded: true }), { refuse: () => 'day is missing' })).result;
    await execute(aTool(() => Promise.reject(new Error('db.internal is away')))).result;
    const call = { name: 'look_up', arguments: {}, beganAt: expect.any(Date), durationMs: expect.any(Number) };
    expect(host.toolCalls).toEqual([
      { ...call, failed: false, result: '{"free":2}' },
      { ...call, failed: true, result: '{"error":"day is missing"}' },
      { ...call, failed: true, result: '{"error":"The tool does not work at the moment."}' },
    ]);
  });
});

describe('arguments', () => {
  const parameters = { type: 'object', properties: { amount: { type: 'integer' }, note: { type: 'string' } }, required: ['amount'] };

  it('that fit but for their form run as they are meant', async () => {
    const ran: Arguments[] = [];
    const run: ToolDefinition['run'] = async (args) => ({ succeeded: ran.push(args) > 0, forModel: 1 });
    await execute(aTool(run, { parameters, refuse: createArgumentCheck(parameters) }), { args: { amount: '12', note: null } }).result;
    expect([ran, host.toolCalls[0]?.arguments]).toEqual([[{ amount: 12 }], { amount: 12 }]);
  });

  it('that end too early do not run, and are recorded as they came', async () => {
    const never = async (): Promise<ToolResult> => expect.unreachable();
    const args = JSON.parse(argumentsToPass('{"amount": 12')) as Arguments;
    const result = await execute(aTool(never, { parameters }), { args }).result;
    expect(result).toEqual({ error: expect.stringContaining('end before they are complete, so nothing was done') });
    expect(host.toolCalls).toMatchObject([{ failed: true, arguments: { unreadable_arguments: '{"amount": 12' } }]);
  });
});

describe('the messages of a tool', () => {
  it('are spoken when it starts and when it is done', async () => {
    const { tool, resolve } = pending();
    const done = runTool(tool, {}, options());
    expect([host.said, host.pausing]).toEqual([['One moment, Ada.'], 1]);
    resolve({ succeeded: true, forModel: 1 });
    await done;
    expect([host.said, host.pausing, clock.timers]).toEqual([['One moment, Ada.', 'Found it.'], 0, 0]);
  });

  it('say once after five seconds that it takes a while', async () => {
    const { tool, resolve } = pending();
    const done = runTool(tool, {}, options());
    await clock.advance(4_999);
    expect(host.said).toHaveLength(1);
    await clock.advance(1);
    await clock.advance(60_000);
    expect(host.said).toEqual(['One moment, Ada.', 'Still looking.']);
    resolve({ succeeded: false, forModel: { error: 'x' } });
    await done;
    expect(host.said).toEqual(['One moment, Ada.', 'Still looking.', 'That went wrong.']);
  });

  it('are left out where there are none', async () => {
    const tool = aTool(async () => ({ succeeded: true, forModel: 1 }), { messages: { start: ' {{nobody}} ' } });
    await runTool(tool, {}, options());
    expect(host.said).toEqual([]);
  });

  it('of two at a time do not disturb each other', async () => {
    const [one, two] = [pending(), pending()];
    const both = [
      runTool({ ...one.tool, messages: { start: 'a1', delayed: 'a2', complete: 'a3' } }, {}, options()),
      runTool({ ...two.tool, messages: { start: 'b1', delayed: 'b2', failed: 'b4' } }, {}, options()),
    ];
    one.resolve({ succeeded: true, forModel: 1 });
    await both[0];
    expect(host.pausing).toBe(1);
    await clock.advance(5_000);
    two.resolve({ succeeded: false, forModel: 2 });
    await both[1];
    expect([host.said, host.pausing]).toEqual([['a1', 'b1', 'a3', 'b2', 'b4'], 0]);
  });
});

describe('a tool that breaks', () => {
  it.each([
    [new Error('ECONNREFUSED 10.0.0.7 key=abc'), 'internal'],
    [new ProviderKeyError('missing', 'Secret acme/tool-x has no key "k"'), 'credentials'],
  ])('has failed without a reason for the model: %s', async (error, detail) => {
    const { tool, reject } = pending();
    const done = runTool(tool, {}, options());
    reject(error);
    expect(await done).toEqual({ succeeded: false, forModel: { error: expect.stringContaining('does not work at the moment') }, detail });
    expect([host.said.at(-1), host.pausing, clock.timers]).toEqual(['That went wrong.', 0, 0]);
  });
});

describe('the session', () => {
  it('gets the result', async () => {
    const { result, agent } = execute(aTool(async () => ({ succeeded: true, forModel: { a: 1 } })));
    expect(await result).toEqual({ a: 1 });
    expect(agent.chatCtx.items).toHaveLength(2);
  });

  it('gets what does not fit, and nothing is run or said', async () => {
    const tool = aTool(() => Promise.reject(new Error('must not run')), { refuse: () => "The arguments don't fit." });
    expect(await execute(tool).result).toEqual({ error: "The arguments don't fit." });
    expect(host.said).toEqual([]);
  });

  it('that no longer listens finds the result in the conversation, behind the call that it answers', async () => {
    const { result, agent, history } = execute(
      aTool(async () => ({ succeeded: true, forModel: { booked: true } })),
      { aborted: true },
    );
    await result;
    expect(agent.chatCtx.items.map(({ type }) => type)).toEqual(['function_call', 'function_call_output', 'message']);
    expect(history.items).toMatchObject([{ type: 'function_call_output', callId: 'call-1', output: '{"booked":true}' }]);
  });

  it('takes the schema as it stands', () => {
    const parameters = { type: 'object', properties: { a: { $ref: '#/$defs/x' } }, $defs: { x: { type: 'string' } }, 'x-odd': [1] };
    const tool = toFunctionTool(
      aTool(async () => ({ succeeded: true }), { parameters }),
      options(),
    );
    expect(llm.toJsonSchema(tool.parameters as never)).toEqual(parameters);
  });
});
