/** Creates the tools of an MCP server from the revision: no list is asked for during a call. */
import { millisecondsOf } from '../../../crds/duration.ts';
import type { McpServer } from '../../../crds/agent-revision.ts';
import type { McpFunction, McpTools } from '../../../crds/mcp-tools.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { errorMessageOf } from '../../../platform/caught.ts';
import type { Logger } from '../../../platform/logging.ts';
import { McpError } from '../../../calls/mcp-client/mcp-error.ts';
import type { OAuthTokens } from '../../../calls/mcp-client/oauth-tokens.ts';
import { ProviderKeyError } from '../../../calls/provider-access/index.ts';
import type { DynamicData } from '../../../crds/template.ts';
import { createArgumentCheck } from '../arguments.ts';
import { MISCONFIGURED, withoutInternals, wordsOfFailure } from '../http/failure-words.ts';
import { readHeaders, type ReadSecret } from '../http/headers.ts';
import { Redaction } from '../http/redaction.ts';
import { failure, type ToolDefinition, type ToolMessages, type ToolResult } from '../tool-result.ts';
import { cancelled, toToolResult } from './mcp-result.ts';
import { McpSession } from './mcp-session.ts';

export interface CreateMcpToolsOptions {
  readonly org: string;
  readonly mcp: McpServer;
  readonly pinned: McpTools;
  readonly messages: ToolMessages;
  readonly data: DynamicData;
  readonly egress: Pick<Egress, 'dispatcher' | 'request'>;
  readonly tokens: OAuthTokens;
  readonly readSecret: ReadSecret;
  readonly logger: Logger;
  readonly over: AbortSignal;
  /** Aborts when nothing of the call may run any more. */
  readonly stop: AbortSignal;
  /** True connects now; otherwise the first request does. */
  readonly warm: boolean;
}

export function createMcpTools(options: CreateMcpToolsOptions): readonly ToolDefinition[] {
  const { mcp, pinned, messages, logger, over, stop, warm } = options;
  if (pinned.tools.length === 0) return [];
  const timeoutMs = millisecondsOf(mcp.timeout);
  const host = new URL(mcp.url).host;
  const credentials = new Credentials(options);
  const session = new McpSession({
    url: mcp.url,
    egress: options.egress,
    headers: () => credentials.headers(),
    token: credentials.token,
    timeoutMs,
    over,
    stop,
    onFailure: (error) =>
      logger.warn(
        { host, reason: credentials.redaction.text(errorMessageOf(error)) },
        'failed to connect to an MCP server; retrying with the next call of a tool',
      ),
  });
  if (warm) session.warmUp();
  const run = async (tool: McpFunction, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolResult> => {
    try {
      const result = await session.callTool(tool, args, { timeoutMs, signal });
      return toToolResult(result, { redaction: credentials.redaction, host });
    } catch (error) {
      if (signal.aborted) return cancelled(tool);
      if (error instanceof ProviderKeyError) throw error;
      return failed(error, host, credentials.redaction);
    }
  };
  return pinned.tools.map((tool) => ({
    name: tool.functionName,
    description: tool.description,
    parameters: tool.parameters,
    messages: { ...messages, ...mcp.tools?.find(({ name }) => name === tool.name)?.messages },
    stopsOnInterruption: tool.readOnly,
    refuse: createArgumentCheck(tool.parameters),
    run: (args, signal) => run(tool, args, signal),
  }));
}

/** Words a failure for a caller, as custom tools do. */
function failed(error: unknown, host: string, redaction: Redaction): ToolResult {
  if (!(error instanceof McpError)) throw error;
  const { kind, status, egress } = error;
  const reason = redaction.text(error.message);
  const as = (words: string): ToolResult => failure(words, {}, status === undefined ? (egress?.kind ?? kind) : `http_${status}`, reason);
  switch (kind) {
    case 'network':
      return as(wordsOfFailure(egress ?? { kind: 'reset', phase: 'head' }));
    case 'timeout':
      return as(wordsOfFailure({ kind: 'timeout', phase: 'head' }));
    case 'unauthorized':
    case 'redirect':
      return as(MISCONFIGURED);
    case 'too_large':
      return as('The service has answered with more than can be used: ask for less.');
    case 'refused': {
      const said = withoutInternals(redaction.text(error.message).slice(0, MAX_REFUSAL).toWellFormed(), host);
      return failure('The service has refused the request.', { answer: said }, 'refused', reason);
    }
    default:
      return as('The service has a problem at the moment.');
  }
}

/** Most characters of an error that the server words. */
const MAX_REFUSAL = 2_000;

/** Holds the headers of the Tool and its access token; remembers their secrets, which an answer must not reveal. */
class Credentials {
  readonly #options: CreateMcpToolsOptions;
  readonly #secrets = new Set<string>();
  redaction = new Redaction([]);

  constructor(options: CreateMcpToolsOptions) {
    this.#options = options;
  }

  async headers(): Promise<Readonly<Record<string, string>>> {
    const { mcp, data, readSecret } = this.#options;
    const remembering: ReadSecret = async (ref) => this.#remember(await readSecret(ref));
    return (await readHeaders(mcp.headers ?? [], data, remembering)).headers;
  }

  get token() {
    const { org, mcp, egress, tokens, readSecret } = this.#options;
    const { oauth } = mcp;
    if (oauth === undefined) return undefined;
    const { tokenURL, clientID, scope, clientSecretRef } = oauth;
    const request = { org, tokenURL, clientID, scope, resource: mcp.url };
    const source = tokens.of(request, egress, async () => this.#remember(await readSecret(clientSecretRef)));
    return { ...source, get: async () => this.#remember(await source.get()) };
  }

  #remember(secret: string): string {
    if (!this.#secrets.has(secret)) {
      this.#secrets.add(secret);
      this.redaction = new Redaction(this.#secrets);
    }
    return secret;
  }
}
