/** Our client against the servers of the SDKs: the reference server in TypeScript, an example of the SDK, and both versions of the one in Python. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { toolsOf, type McpTools } from '../../../crds/mcp-tools.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createEgress, type Egress } from '../../../platform/egress/egress.ts';
import { createLogger } from '../../../platform/logging.ts';
import { connectMcp } from '../../../voice/calls/mcp/connect.ts';
import { OAuthTokens } from '../../../voice/calls/mcp/oauth-tokens.ts';
import { createMcpTools } from '../../../voice/tools/mcp/create-mcp-tools.ts';
import type { ToolResult } from '../../../voice/tools/tool-result.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { findPython, pythonWith, withoutPython } from '../../support/python.ts';

const { resolve } = createRequire(import.meta.url);
const never = new AbortController().signal;
const python = await findPython();
let egress: Egress;
let over: AbortController;
let port: number;
let child: ChildProcess | undefined;

beforeEach(async () => {
  egress = createEgress({ allowCidrs: ['127.0.0.0/8'] });
  over = new AbortController();
  port = await freePort();
});
afterEach(async () => {
  over.abort(new Error('the call is over'));
  egress.close();
  await kill();
});

async function kill(): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface Served {
  readonly version: string;
  readonly pinned: McpTools;
  readonly call: (name: string, args?: Record<string, unknown>, signal?: AbortSignal) => Promise<ToolResult>;
}

function start({ command, args, env = {} }: Program): void {
  child = spawn(command, args, { env: { PATH: process.env['PATH'], ...env }, stdio: 'ignore' });
}

async function serve(program: Program): Promise<Served> {
  start(program);
  const url = `http://127.0.0.1:${port}/mcp`;
  const { version, tools } = await eventually(async () => {
    const connection = await connectMcp({ url, egress, headers: async () => ({}), timeoutMs: 10_000, signal: never });
    const listed = { version: connection.protocolVersion, tools: await connection.listTools({ timeoutMs: 10_000, signal: never }) };
    await connection.close();
    return listed;
  });
  const pinned = toolsOf({}, tools);
  const made = createMcpTools({
    org: 'acme',
    mcp: { url, timeout: '8s' },
    pinned,
    messages: {},
    data: {},
    egress,
    tokens: new OAuthTokens({ clock: systemClock }),
    readSecret: () => Promise.reject(new Error('no secret')),
    logger: createLogger({ role: 'voice', level: 'silent' }),
    over: over.signal,
    stop: over.signal,
    warm: true,
  });
  return {
    version,
    pinned,
    call: (name, args = {}, signal = never) =>
      made.find((tool) => tool.name === name)?.run(args, signal) ?? Promise.reject(new Error(`no ${name}`)),
  };
}

const node = (file: string, ...args: readonly string[]): Pick<Program, 'command' | 'args'> => ({
  command: process.execPath,
  args: [file, ...args],
});

describe('the reference server in TypeScript', () => {
  const program = (): Program => ({
    ...node(resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'streamableHttp'),
    env: { PORT: String(port) },
  });

  it('lists, calls, reports progress, answers with every kind of content, and is cancelled', async () => {
    const { version, pinned, call } = await serve(program());
    expect(version).toBe('2025-11-25');
    expect(pinned.tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image', 'trigger-long-running-operation']),
    );
    expect(await call('echo', { message: 'hello' })).toMatchObject({ succeeded: true, forModel: 'Echo: hello' });
    expect(await call('get-sum', { a: 2, b: 3 })).toMatchObject({ forModel: 'The sum of 2 and 3 is 5.' });
    expect(await call('get-structured-content', { location: 'Chicago' })).toMatchObject({
      forModel: { temperature: expect.any(Number) as number },
    });
    const image = JSON.stringify((await call('get-tiny-image')).forModel);
    expect(image).toContain('an image (image/png)');
    expect(image.length).toBeLessThan(1_000);
    expect(await call('trigger-long-running-operation', { duration: 1, steps: 5 })).toMatchObject({ succeeded: true });
    const stop = new AbortController();
    const stopped = call('trigger-long-running-operation', { duration: 60, steps: 60 }, stop.signal);
    stop.abort(new Error('interrupted'));
    expect(await stopped).toMatchObject({ detail: 'cancelled' });
    expect(await call('get-sum', { a: 'two', b: 3 })).toMatchObject({
      succeeded: false,
      forModel: { error: 'The service has refused the request.' },
    });
  });

  it('is used again after a restart, in the same call', async () => {
    const { call } = await serve(program());
    expect(await call('echo', { message: 'before' })).toMatchObject({ succeeded: true });
    await kill();
    expect(await call('echo', { message: 'away' })).toMatchObject({ succeeded: false });
    start(program());
    await eventually(async () => expect(await call('echo', { message: 'after' })).toMatchObject({ forModel: 'Echo: after' }));
  });
});

it("an example of the SDK's first version is called", async () => {
  const { version, call } = await serve({
    ...node(resolve('@modelcontextprotocol/sdk/examples/server/simpleStreamableHttp.js')),
    env: { MCP_PORT: String(port) },
  });
  expect(version).toBe('2025-11-25');
  expect(await call('greet', { name: 'Ada' })).toMatchObject({ succeeded: true, forModel: 'Hello, Ada!' });
});

describe.skipIf(python === undefined)(`a server in Python (${python === undefined ? withoutPython : 'the official SDK'})`, () => {
  it.each([
    ['1.30.0', '2025-11-25'],
    ['2.3.0', '2026-07-28'],
  ])('of version %s speaks %s', async (release, spoken) => {
    const interpreter = await pythonWith(python ?? '', { name: 'mcp', version: release, requirements: [`mcp==${release}`] });
    const program = { command: interpreter, args: [fileURLToPath(new URL('python-server.py', import.meta.url)), String(port)] };
    const { version, call } = await serve(program);
    expect(version).toBe(spoken);
    expect(JSON.stringify((await call('echo', { text: 'hello' })).forModel)).toContain('hello');
    expect(await call('refuse')).toMatchObject({
      succeeded: false,
      forModel: { answer: expect.stringContaining('no such order') as string },
    });
    expect(JSON.stringify((await call('progress', { steps: 5 })).forModel)).toContain('after 5 steps');
    expect(await call('big')).toMatchObject({ succeeded: false, detail: 'too_large' });
    const stop = new AbortController();
    const stopped = call('hang', {}, stop.signal);
    setTimeout(() => stop.abort(new Error('interrupted')), 200);
    expect(await stopped).toMatchObject({ detail: 'cancelled' });
    await kill();
    start(program);
    await eventually(async () => expect(JSON.stringify((await call('echo', { text: 'after' })).forModel)).toContain('after'));
  });
});
