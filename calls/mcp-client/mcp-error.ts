/** Failures of requests to an MCP server. */
import { EgressError } from '../../platform/egress/egress-error.ts';

export type McpErrorKind =
  /** There was no connection, or it broke off; `egress` says in which phase. */
  | 'network'
  | 'timeout'
  /** The server answered 401 or 403, or there was no access token. */
  | 'unauthorized'
  /** The server doesn't know the session any more: nothing was done. */
  | 'session'
  /** The server redirects to another origin, which is not followed. */
  | 'redirect'
  /** The server answered with another status than 2xx. */
  | 'status'
  /** The answer exceeds the limit. */
  | 'too_large'
  /** The server answers with an error of the protocol. */
  | 'refused'
  /** The answer isn't MCP, or wants what Parley doesn't offer. */
  | 'protocol';

export class McpError extends Error {
  override readonly name = 'McpError';
  readonly kind: McpErrorKind;
  readonly status: number | undefined;
  readonly egress: EgressError | undefined;

  /** @param message names the host and what to do; may hold what the server said, but no secret unless the server repeats it */
  constructor(kind: McpErrorKind, message: string, more: { readonly status?: number; readonly cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.kind = kind;
    this.status = more.status;
    this.egress = egressErrorIn(more.cause);
  }
}

/** Clients wrap what their fetch throws, some of them more than once. */
function egressErrorIn(error: unknown): EgressError | undefined {
  for (let [cause, depth] = [error, 0]; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1)
    if (cause instanceof EgressError) return cause;
  return undefined;
}

export { egressErrorIn };
