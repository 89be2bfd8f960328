/** Asks MCP servers for their tools when that is due, and stores what they say. Several replicas may run it: one of them asks for each list. */
import { backoffDelay } from '../../platform/backoff.ts';
import type { Clock } from '../../platform/clock.ts';
import type { EgressGuard } from '../../platform/egress/egress.ts';
import { every } from '../../platform/every.ts';
import type { Logger } from '../../platform/logging.ts';
import type { DueToolList, ToolLists } from '../../store/index.ts';
import { ProviderKeyError, type ProviderKeyReader } from '../provider-access/index.ts';
import { listMcpTools, type ListMcpToolsOptions } from './list-mcp-tools.ts';
import { McpError } from './mcp-error.ts';
import { OAuthTokens } from './oauth-tokens.ts';

type DueList = DueToolList<ListMcpToolsOptions['server']>;

export interface ToolListRefresherOptions {
  readonly lists: Pick<ToolLists, 'claim' | 'listed' | 'failed'>;
  readonly egress: Pick<EgressGuard, 'for'>;
  readonly keys: Pick<ProviderKeyReader, 'read'>;
  /** Time after which a server is asked again, in milliseconds. */
  readonly refreshMs: number;
  readonly clock: Clock;
  /** Returns x with 0 ≤ x < 1. */
  readonly random: () => number;
  readonly logger: Logger;
}

/** Time between two looks at which lists are due, in milliseconds. */
const POLL_MS = 1_000;
const AT_ONCE = 8;
/** A claim lasts longer than a server may take for handshake, credentials and several pages. */
const CLAIM_MS = 180_000;
const FIRST_RETRY_MS = 2_000;
/** Longest waits for a retry: while agents can't use the tool, and once a list is known. */
const LONGEST_RETRY_MS = 30_000;
const LONGEST_RETRY_KNOWN_MS = 300_000;

export class ToolListRefresher {
  readonly #options: ToolListRefresherOptions;
  readonly #tokens: OAuthTokens;

  constructor(options: ToolListRefresherOptions) {
    this.#options = options;
    this.#tokens = new OAuthTokens({ clock: options.clock });
  }

  run(signal: AbortSignal): Promise<void> {
    const { clock, random, logger } = this.#options;
    const failure = 'failed to look for lists of tools that are due; retrying';
    return every({ intervalMs: POLL_MS, longestIntervalMs: 30_000, random, clock, logger, failure, signal }, async () => {
      const due = await this.#options.lists.claim<DueList['request']>({ limit: AT_ONCE, forMs: CLAIM_MS });
      await Promise.all(due.map((list) => this.#refresh(list, signal)));
      return due.length === AT_ONCE ? 'again' : undefined;
    });
  }

  /** Rejects only where Postgres can't be used. */
  async #refresh(list: DueList, signal: AbortSignal): Promise<void> {
    const { lists, egress, keys, refreshMs, random, logger } = this.#options;
    const { org, toolName, request, failures, known } = list;
    try {
      const tools = await listMcpTools({ org, server: request, egress: egress.for(org), keys, tokens: this.#tokens, signal });
      await lists.listed(list, tools, { againInMs: refreshMs * (0.9 + random() / 5) });
      logger.debug({ org, tool: toolName, tools: tools.length }, 'listed the tools of an MCP server');
    } catch (error) {
      if (signal.aborted) return;
      const expected = error instanceof McpError || error instanceof ProviderKeyError;
      // The words of a server may repeat what was sent to it, and the status is no place for that.
      const message = !expected
        ? 'Parley could not read its answer'
        : error instanceof McpError && error.kind === 'refused'
          ? `${new URL(request.url).host} answers with an error when asked for its tools: see its log`
          : error.message;
      if (!expected) logger.error({ err: error, org, tool: toolName }, 'failed to list the tools of an MCP server');
      else if (failures === 0)
        logger.warn({ org, tool: toolName, reason: errorReason(error) }, 'failed to list the tools of an MCP server; retrying');
      const maxMs = known ? LONGEST_RETRY_KNOWN_MS : LONGEST_RETRY_MS;
      await lists.failed(list, message, { againInMs: backoffDelay(failures + 1, { baseMs: FIRST_RETRY_MS, maxMs, jitter: 0 }) });
    }
  }
}

/** Gives the reason without what the server says, which is for the owner of the Tool alone. */
const errorReason = (error: McpError | ProviderKeyError): string => (error instanceof McpError ? error.kind : error.reason);
