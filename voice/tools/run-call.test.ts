import { beforeEach, describe, expect, it } from 'vitest';

import { argumentsToPass } from '../../calls/model-stream/index.ts';
import { ProviderKeyError } from '../../calls/provider-access/index.ts';
import { createLogger } from '../../platform/logging.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { createArgumentCheck } from './arguments.ts';
import { runCall, runTool } from './run-call.ts';
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

/** Calls a tool as a model would. */
const call = (definition: ToolDefinition, args: Arguments = {}) =>
  runCall(definition, { callId: 'call-1', args, interrupted: new AbortController().signal }, options());

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
    const calls = [
      await call(aTool(async () => ({ succeeded: true, forModel: { free: 2 } }))),
      await call(aTool(async () => ({ succeeded: true }), { refuse: () => 'day is missing' })),
      await call(aTool(() => Promise.reject(new Error('db.internal is away')))),
    ];
    const common = { name: 'look_up', arguments: {}, beganAt: expect.any(Date), durationMs: expect.any(Number) };
    expect(calls.map(({ record }) => record)).toEqual([
      { ...common, failed: false, result: '{"free":2}' },
      { ...common, failed: true, result: '{"error":"day is missing"}' },
      { ...common, failed: true, result: '{"error":"The tool does not work at the moment."}' },
    ]);
  });

  it('of a sensitive tool is recorded without what the model gave and got', async () => {
    const charge = aTool(async () => ({ succeeded: true, forModel: { card: '4242424242424242' } }), { sensitive: true });
    const { result, record } = await call(charge, { card: '4242424242424242' });
    expect(result.forModel).toEqual({ card: '4242424242424242' });
    expect(record).toMatchObject({ name: 'look_up', arguments: null, result: '[sensitive]', failed: false });
  });

  it('whose arguments do not fit runs nothing and says nothing', async () => {
    const tool = aTool(() => Promise.reject(new Error('must not run')), { refuse: () => "The arguments don't fit." });
    expect((await call(tool)).result.forModel).toEqual({ error: "The arguments don't fit." });
    expect(host.said).toEqual([]);
  });
});

describe('arguments', () => {
  const parameters = { type: 'object', properties: { amount: { type: 'integer' }, note: { type: 'string' } }, required: ['amount'] };

  it('that fit but for their form run as they are meant', async () => {
    const ran: Arguments[] = [];
    const run: ToolDefinition['run'] = async (args) => ({ succeeded: ran.push(args) > 0, forModel: 1 });
    const { record } = await call(aTool(run, { parameters, refuse: createArgumentCheck(parameters) }), { amount: '12', note: null });
    expect([ran, record.arguments]).toEqual([[{ amount: 12 }], { amount: 12 }]);
  });

  it('that end too early do not run, and are recorded as they came', async () => {
    const never = async (): Promise<ToolResult> => expect.unreachable();
    const args = JSON.parse(argumentsToPass('{"amount": 12')) as Arguments;
    const { result, record } = await call(aTool(never, { parameters }), args);
    expect(result.forModel).toEqual({ error: expect.stringContaining('end before they are complete, so nothing was done') });
    expect(record).toMatchObject({ failed: true, arguments: { unreadable_arguments: '{"amount": 12' } });
  });
});

describe('the messages of a tool', () => {
  it('are spoken when it starts and when it is done', async () => {
    const { tool, resolve } = pending();
    const done = runTool(tool, {}, options());
    expect(host.said).toEqual(['One moment, Ada.']);
    resolve({ succeeded: true, forModel: 1 });
    await done;
    expect([host.said, clock.timers]).toEqual([['One moment, Ada.', 'Found it.'], 0]);
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
    await clock.advance(5_000);
    two.resolve({ succeeded: false, forModel: 2 });
    await both[1];
    expect(host.said).toEqual(['a1', 'b1', 'a3', 'b2', 'b4']);
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
    expect([host.said.at(-1), clock.timers]).toEqual(['That went wrong.', 0]);
  });
});
