/**
 * Holds the session of a call with one MCP server: opened when the call begins, opened again when the server has lost it, closed at the
 * end.
 */
import type { CallToolResult } from '@modelcontextprotocol/client';

import { untilAborted } from '../../../platform/aborted.ts';
import type { ServerTool } from '../../../crds/mcp-tools.ts';
import { connectMcp, type ConnectMcpOptions, type McpConnection, type McpRequestOptions } from '../../../calls/mcp-client/connect.ts';
import { McpError } from '../../../calls/mcp-client/mcp-error.ts';

export interface McpSessionOptions extends Omit<ConnectMcpOptions, 'signal'> {
  /** Aborts when the call is over: the session is closed as soon as no tool runs. */
  readonly over: AbortSignal;
  /** Aborts some seconds later: tools that still run are stopped. */
  readonly stop: AbortSignal;
  /** Called when a connection that no request waits for has failed; the next request opens another. */
  readonly onFailure: (error: unknown) => void;
}

/** A connection and how many calls use it: tools of one turn run in parallel. */
interface SharedConnection {
  readonly opening: Promise<McpConnection>;
  running: number;
}

export class McpSession {
  readonly #options: McpSessionOptions;
  /** Connection for the next request. One that failed is in use for as long as other calls run on it. */
  #current: SharedConnection | undefined;

  constructor(options: McpSessionOptions) {
    this.#options = options;
    options.over.addEventListener('abort', () => this.#current !== undefined && this.#closeAtRest(this.#current), { once: true });
  }

  /** Connects in the background, so that the first request need not wait for it. */
  warmUp(): void {
    this.#open().opening.catch((error: unknown) => {
      if (!this.#options.over.aborted) this.#options.onFailure(error);
    });
  }

  /** Calls a tool. @throws McpError; the reason of the signal */
  async callTool(tool: ServerTool, args: Readonly<Record<string, unknown>>, options: McpRequestOptions): Promise<CallToolResult> {
    const deadline = performance.now() + options.timeoutMs;
    const call = (): Promise<CallToolResult> =>
      this.#run(options.signal, (connection) =>
        connection.callTool(tool, args, { ...options, timeoutMs: Math.max(1, Math.ceil(deadline - performance.now())) }),
      );
    try {
      return await call();
    } catch (error) {
      // A request is repeated only if the server has certainly not begun it.
      if (!(error instanceof McpError) || error.kind !== 'session') throw error;
      return call();
    }
  }

  async #run<T>(signal: AbortSignal, request: (connection: McpConnection) => Promise<T>): Promise<T> {
    const shared = this.#open();
    shared.running += 1;
    try {
      // Other requests may wait for the same connection: one that gives up doesn't end it.
      return await request(await untilAborted(shared.opening, signal));
    } catch (error) {
      if (error instanceof McpError && error.kind !== 'refused' && error.kind !== 'too_large') this.#leave(shared);
      throw error;
    } finally {
      shared.running -= 1;
      this.#closeAtRest(shared);
    }
  }

  #open(): SharedConnection {
    if (this.#current !== undefined) return this.#current;
    const { over: _over, stop, ...options } = this.#options;
    const shared: SharedConnection = { opening: connectMcp({ ...options, signal: stop }), running: 0 };
    this.#current = shared;
    shared.opening.catch(() => this.#leave(shared));
    return shared;
  }

  /** Leaves a connection: the next request opens another. */
  #leave(shared: SharedConnection): void {
    if (this.#current === shared) this.#current = undefined;
  }

  /** Closes a connection that no call uses, and none will. */
  #closeAtRest(shared: SharedConnection): void {
    if (this.#options.over.aborted && shared.running === 0) this.#leave(shared);
    if (shared.running > 0 || this.#current === shared) return;
    // Nothing waits for this: the server may be gone.
    void shared.opening.then(
      (connection) => connection.close(),
      () => undefined,
    );
  }
}
