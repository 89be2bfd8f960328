/** A connection to an MCP server by the official SDK. Every failure is a {@link McpError}, or the signal's own reason. */
import type * as SdkModule from '@modelcontextprotocol/client';
import type { CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { serverTool, type ServerTool } from '../../crds/mcp-tools.ts';
import { systemClock, withTimeout } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { createMcpFetch, requestBounds } from './mcp-fetch.ts';
import { McpError, egressErrorIn } from './mcp-error.ts';
import { tidyMessage } from './tidy-message.ts';

export interface McpCredentials {
  /** Headers of the Tool, without access tokens. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  /** Gives the access tokens for a server that wants OAuth. */
  readonly token?: { readonly get: () => Promise<string>; readonly forget: (refused: string) => void } | undefined;
}

export interface ConnectMcpOptions extends McpCredentials {
  readonly url: string;
  readonly egress: Pick<Egress, 'dispatcher'>;
  /** Longest time for the handshake, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface McpRequestOptions {
  /** Longest time for the whole request, in milliseconds. */
  readonly timeoutMs: number;
  /** Cancels the request at the server, too. */
  readonly signal: AbortSignal;
}

export interface McpConnection {
  /** The negotiated version, e.g. `2025-11-25`. */
  readonly protocolVersion: string;
  callTool(tool: ServerTool, args: Readonly<Record<string, unknown>>, options: McpRequestOptions): Promise<CallToolResult>;
  /** Lists all tools of the server, also those that no model can be given. */
  listTools(options: McpRequestOptions): Promise<readonly ServerTool[]>;
  /** Ends the session at the server. Never rejects. */
  close(): Promise<void>;
}

/** Most bytes of the answer to a call: it is parsed as a whole, and the model gets less of it. */
const MAX_RESULT_BYTES = 1024 * 1024;
/** Most bytes of a page of the list of tools. */
const MAX_LIST_BYTES = 4 * 1024 * 1024;
/** Most tools of a server, and most characters of their JSON. */
const MAX_LISTED = 1_000;
const MAX_LISTED_LENGTH = 1024 * 1024;
/** A server that doesn't answer to the end of a session must not hold up that of the call. */
const CLOSE_TIMEOUT_MS = 2_000;

export async function connectMcp({ url, egress, headers, token, timeoutMs, signal }: ConnectMcpOptions): Promise<McpConnection> {
  // Loaded when used: most calls have no such tool.
  const sdk = await import('@modelcontextprotocol/client');
  const transport = new sdk.StreamableHTTPClientTransport(new URL(url), {
    fetch: createMcpFetch({
      egress,
      headers,
      onUnauthorized: (authorization) => token?.forget(authorization.replace(/^Bearer /, '')),
      tidy: (message) => tidyMessage(message, { knownVersions: sdk.SUPPORTED_PROTOCOL_VERSIONS }),
    }),
    // The SDK asks again, for a new token, once a token is refused.
    ...(token !== undefined && { authProvider: { token: token.get, onUnauthorized: async () => undefined } }),
    onInsufficientScope: 'throw',
    // A stream that breaks off is taken up again once; a server that is gone is not waited for.
    reconnectionOptions: { initialReconnectionDelay: 200, maxReconnectionDelay: 1_000, reconnectionDelayGrowFactor: 2, maxRetries: 1 },
  });
  failWhenCut(transport, new URL(url).host);
  const client = new sdk.Client(
    { name: 'parley', version: '1' },
    { capabilities: {}, versionNegotiation: { mode: 'auto', probe: { timeoutMs } }, inputRequired: { autoFulfill: false } },
  );
  const requests = new Requests(sdk, transport, new URL(url).host);
  const close = async (): Promise<void> => {
    await withTimeout(
      systemClock,
      CLOSE_TIMEOUT_MS,
      transport.terminateSession().catch(() => undefined),
    );
    await client.close().catch(() => undefined);
  };
  try {
    await requests.run({ timeoutMs, signal }, MAX_RESULT_BYTES, (options) => client.connect(transport, options));
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
  return {
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',

    callTool: ({ name, parameters }, args, bounds) =>
      requests.run(bounds, MAX_RESULT_BYTES, (options) =>
        client.callTool(
          { name, arguments: { ...args } },
          {
            ...options,
            // It makes the server report progress, which keeps proxies from closing a silent connection.
            onprogress: () => undefined,
            toolDefinition: { name, inputSchema: parameters as { type: 'object' } },
          },
        ),
      ),

    listTools: (bounds) => requests.run(bounds, MAX_LIST_BYTES, (options) => listAll(client, options, new URL(url).host)),
    close,
  };
}

/** Fails what waits for an answer whose stream ends without it: the SDK tells nobody, and the call would wait for its timeout. */
function failWhenCut(transport: StreamableHTTPClientTransport, host: string): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!('method' in message) || message.method !== 'tools/call') return send(message, options);
    const bounds = requestBounds.getStore();
    const onRequestStreamEnd = (): void => bounds?.fail(new McpError('network', `the connection to ${host} broke off before the answer`));
    return send(message, { ...options, onRequestStreamEnd });
  };
}

async function listAll(client: Client, options: { readonly timeout: number; readonly signal: AbortSignal }, host: string) {
  const { tools: listed } = await client.listTools(undefined, { ...options, cacheMode: 'bypass' });
  const tools = listed.map(serverTool);
  if (tools.length > MAX_LISTED || JSON.stringify(tools).length > MAX_LISTED_LENGTH) {
    throw new McpError(
      'too_large',
      `${host} lists ${tools.length} tools; at most ${MAX_LISTED} with ${MAX_LISTED_LENGTH} characters of JSON together are read: let the server offer fewer`,
    );
  }
  return tools;
}

type Sdk = typeof SdkModule;

/** Runs requests of one connection with their bounds, and names their failures. */
class Requests {
  readonly #sdk: Sdk;
  readonly #transport: StreamableHTTPClientTransport;
  readonly #host: string;

  constructor(sdk: Sdk, transport: StreamableHTTPClientTransport, host: string) {
    this.#sdk = sdk;
    this.#transport = transport;
    this.#host = host;
  }

  async run<T>(
    { timeoutMs, signal }: McpRequestOptions,
    maxBytes: number,
    work: (options: { readonly timeout: number; readonly maxTotalTimeout: number; readonly signal: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const failed = new AbortController();
    const over = new AbortController();
    const hadSession = this.#transport.sessionId !== undefined;
    const options = { timeout: timeoutMs, maxTotalTimeout: timeoutMs, signal: AbortSignal.any([signal, failed.signal]) };
    try {
      return await requestBounds.run({ signal: over.signal, maxBytes, fail: (error) => failed.abort(error) }, () => work(options));
    } catch (error) {
      signal.throwIfAborted();
      throw failed.signal.reason instanceof McpError ? failed.signal.reason : this.#named(error, { timeoutMs, hadSession });
    } finally {
      over.abort();
    }
  }

  #named(error: unknown, { timeoutMs, hadSession }: { readonly timeoutMs: number; readonly hadSession: boolean }): unknown {
    const { SdkError, SdkErrorCode, SdkHttpError, ProtocolError, UnauthorizedError, InsufficientScopeError } = this.#sdk;
    const host = this.#host;
    if (error instanceof McpError) return error;
    const egress = egressErrorIn(error);
    if (egress !== undefined) return new McpError('network', egress.message, { cause: egress });
    const checkCredentials = `${host} does not accept the credentials: check headers and oauth`;
    if (error instanceof UnauthorizedError || error instanceof InsufficientScopeError)
      return new McpError('unauthorized', checkCredentials, { cause: error });
    if (error instanceof SdkHttpError) {
      const { status } = error;
      if (status === 401 || status === 403) return new McpError('unauthorized', checkCredentials, { status, cause: error });
      // Servers of the SDK answer 400 to a session that they don't know.
      if (hadSession && (status === 404 || status === 400))
        return new McpError('session', `${host} does not know the session any more`, { status, cause: error });
      if (status >= 300 && status < 400)
        return new McpError('redirect', `${host} redirects to another server, which is not followed: use the final address`, {
          status,
          cause: error,
        });
      return new McpError('status', `${host} answered ${status}: check the address and the server`, { status, cause: error });
    }
    if (error instanceof SdkError) {
      if (error.code === SdkErrorCode.RequestTimeout)
        return new McpError('timeout', `${host} took longer than ${timeoutMs} ms: make it answer sooner, or allow more time`, {
          cause: error,
        });
      if (error.code === SdkErrorCode.ConnectionClosed)
        return new McpError('network', `the connection to ${host} was closed`, { cause: error });
      return new McpError('protocol', `${host} does not speak MCP as expected: check the address, and that the server is up to date`, {
        cause: error,
      });
    }
    if (error instanceof ProtocolError) return new McpError('refused', error.message, { cause: error });
    if (error instanceof TypeError) return new McpError('network', `the connection to ${host} broke off`, { cause: error });
    if (error instanceof SyntaxError || (error instanceof Error && error.name === 'ZodError'))
      return new McpError('protocol', `${host} does not answer with MCP: check the address`, { cause: error });
    return error;
  }
}
