/** Runs a server of an SDK as a process of its own, and gives its tools to a call. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { afterEach, beforeEach } from 'vitest';

import { selectTools, type McpTools } from '../../../crds/mcp-tools.ts';
import { systemClock } from '../../../platform/clock.ts';
import { openEgress, type TestEgress } from '../../support/open-egress.ts';
import { createLogger } from '../../../platform/logging.ts';
import { connectMcp } from '../../../calls/mcp-client/connect.ts';
import { OAuthTokens } from '../../../calls/mcp-client/oauth-tokens.ts';
import { createMcpTools } from '../../../voice/tools/mcp/create-mcp-tools.ts';
import type { ToolResult } from '../../../voice/tools/tool-result.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';

const never = new AbortController().signal;

export interface ServerProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface Served {
  readonly version: string;
  readonly pinned: McpTools;
  readonly call: (name: string, args?: Record<string, unknown>, signal?: AbortSignal) => Promise<ToolResult>;
}

/** Runs one server at a time, ended with its test. */
export function servedProgram() {
  let egress: TestEgress;
  let over: AbortController;
  let port: number;
  let child: ChildProcess | undefined;

  beforeEach(async () => {
    egress = openEgress({ allowCidrs: ['127.0.0.0/8'] });
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

  function start({ command, args, env = {} }: ServerProgram): void {
    child = spawn(command, args, { env: { PATH: process.env['PATH'], ...env }, stdio: 'ignore' });
  }

  async function serve(program: ServerProgram): Promise<Served> {
    start(program);
    const url = `http://127.0.0.1:${port}/mcp`;
    const { version, tools } = await eventually(async () => {
      const connection = await connectMcp({ url, egress, headers: async () => ({}), timeoutMs: 60_000, signal: never });
      const listed = { version: connection.protocolVersion, tools: await connection.listTools({ timeoutMs: 60_000, signal: never }) };
      await connection.close();
      return listed;
    });
    const pinned = selectTools({}, tools);
    const made = createMcpTools({
      org: 'acme',
      mcp: { url, timeout: '60s' },
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

  return { start, kill, serve, port: () => port };
}
