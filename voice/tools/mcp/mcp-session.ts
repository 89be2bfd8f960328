/** The session of a call with one MCP server: opened when the call begins, opened again when the server has lost it, closed at the end. */
import type { CallToolResult } from '@modelcontextprotocol/client';

import type { ServerTool } from '../../../crds/mcp-tools.ts';
import { connectMcp, type ConnectMcpOptions, type McpConnection, type McpRequestOptions } from '../../calls/mcp/connect.ts';
import { McpError } from '../../calls/mcp/mcp-error.ts';

export interface McpSessionOptions extends Omit<ConnectMcpOptions, 'signal'> {
  /** Aborts when the call is over: the session is closed as soon as no tool runs. */
  readonly over: AbortSignal;
  /** Aborts some seconds later: tools that still run are stopped. */
  readonly stop: AbortSignal;
  /** A connection that no request waits for has failed; the next request opens another. */
  readonly onFailure: (error: unknown) => void;
}

export class McpSession {
  readonly #options: McpSessionOptions;
  #connection: Promise<McpConnection> | undefined;
  #running = 0;

  constructor(options: McpSessionOptions) {
    this.#options = options;
    options.over.addEventListener('abort', () => this.#closeAtRest(), { once: true });
  }

  /** Connects in the background, so that the first request need not wait for it. */
  warmUp(): void {
    this.#open().catch((error: unknown) => {
      if (!this.#options.over.aborted) this.#options.onFailure(error);
    });
  }

  /** @throws McpError; the reason of the signal */
  async callTool(tool: ServerTool, args: Readonly<Record<string, unknown>>, options: McpRequestOptions): Promise<CallToolResult> {
    this.#running += 1;
    try {
      return await this.#call(tool, args, options);
    } finally {
      this.#running -= 1;
      this.#closeAtRest();
    }
  }

  #closeAtRest(): void {
    if (this.#options.over.aborted && this.#running === 0) void this.#drop();
  }

  async #call(tool: ServerTool, args: Readonly<Record<string, unknown>>, options: McpRequestOptions): Promise<CallToolResult> {
    const deadline = performance.now() + options.timeoutMs;
    const bounds = (): McpRequestOptions => ({ ...options, timeoutMs: Math.max(1, Math.ceil(deadline - performance.now())) });
    const opened = await within(this.#open(), options.signal);
    try {
      return await opened.callTool(tool, args, bounds());
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      // The next request begins with a connection of its own.
      if (error.kind !== 'refused' && error.kind !== 'too_large') await this.#drop(opened);
      // Only what the server has certainly not begun is repeated.
      if (error.kind !== 'session') throw error;
      return (await within(this.#open(), options.signal)).callTool(tool, args, bounds());
    }
  }

  #open(): Promise<McpConnection> {
    const { over: _over, stop, ...options } = this.#options;
    if (this.#connection !== undefined) return this.#connection;
    const connection = connectMcp({ ...options, signal: stop });
    this.#connection = connection;
    connection.catch(() => {
      if (this.#connection === connection) this.#connection = undefined;
    });
    return connection;
  }

  /** @param of only where this is still the connection */
  async #drop(of?: McpConnection): Promise<void> {
    const dropped = this.#connection;
    const connection = await dropped?.catch(() => undefined);
    if (of !== undefined && connection !== of) return;
    if (this.#connection === dropped) this.#connection = undefined;
    // Not waited for: the server may be gone.
    void connection?.close();
  }
}

/** Others may wait for the same connection: who gives up doesn't end it. */
async function within<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  aborted.catch(() => undefined);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
